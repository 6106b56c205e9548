"""What several test files need: random problems of every kind, and real data when it is at hand."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from widemargin import Problem
from widemargin.objective.losses import LOSSES
from widemargin.objective.penalties import PENALTIES
from widemargin.objective.problem import INTERCEPTS

COMBINATIONS = list(product(LOSSES, PENALTIES, INTERCEPTS))


def random_data(seed: int, rows: int = 60, columns: int = 12, density: float = 0.4) -> tuple[sp.csr_array, np.ndarray]:
    """Sparse rows and a noisy linear response that is never constant in sign."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((rows, columns), density=density, format="csr", rng=rng, data_sampler=rng.standard_normal)
    response = X @ rng.standard_normal(columns) + 0.3 * rng.standard_normal(rows) + 0.2
    response[:2] = [1.0, -1.0]
    return X, response


def random_problem(seed: int, loss: str, penalty: str = "l2", intercept: str = "none", **settings: Any) -> Problem:
    """A small random problem with that loss, penalty and intercept."""
    data = {k: settings.pop(k) for k in ("rows", "columns", "density") if k in settings}
    X, response = random_data(seed, **data)
    convert = settings.pop("convert", lambda matrix: matrix)
    y = np.sign(response) if LOSSES[loss].classification else response
    return Problem(convert(X), y, loss=loss, penalty=penalty, intercept=intercept, **settings)


# What the parameters of losses are drawn from.
PARAMETERS = {"epsilon": (0.1, 0.0, 0.7), "delta": (1.0, 0.1, 10.0), "q": (0.5, 0.9, 0.1)}


def drawn_parameters(loss: str, data: st.DataObject) -> dict[str, float]:
    """Values of the parameters that a loss has."""
    known = LOSSES[loss].parameters
    return {
        name: data.draw(st.sampled_from(PARAMETERS.get(name, (known[name].default,))), label=name) for name in known
    }


def real_data(name: str) -> tuple[sp.csr_array, np.ndarray]:
    """A real data set by the name of its file; the test is skipped where WIDEMARGIN_DATA does not hold it."""
    folder = os.environ.get("WIDEMARGIN_DATA")
    path = Path(folder or ".") / f"{name}.svm.xz"
    if folder is None or not path.exists():
        pytest.skip(f"needs {name}.svm.xz in the folder that WIDEMARGIN_DATA names")
    from widemargin import read_svmlight

    X, y = read_svmlight(path)
    return X, y
