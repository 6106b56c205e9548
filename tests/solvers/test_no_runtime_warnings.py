"""No solver lets overflows, divisions by zero or invalid values reach the user, however hard the problem.

Warnings are errors here, so that a run that ends has made none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from widemargin import Problem, solve
from widemargin.data.rows import COLUMNS, GRAM, IN_ORDER, VERBS
from widemargin.objective.losses import LOSSES
from widemargin.solvers import Solver, table
from widemargin.solvers.cutting_plane.simplex_qp import solve_simplex_qp

IN_MEMORY = {VERBS, IN_ORDER, COLUMNS, GRAM}
SOLVERS = [cls for cls in table().values() if cls.can_take(Problem) and cls.needs <= IN_MEMORY]


def hard_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Heavy tails, near-duplicate columns, repeated rows, constants or curves, over fifteen decades of scale."""
    rows, columns = int(rng.choice([20, 80])), int(rng.choice([1, 5, 30]))
    X = rng.standard_normal((rows, columns)) + rng.choice([0.0, 0.0, 10.0], columns)
    half = columns // 2
    kind = rng.integers(0, 7)
    if kind == 1:
        X *= np.abs(rng.standard_cauchy((rows, 1)))
    elif kind == 2:
        X[:, half:] = X[:, : columns - half] * (1 + 1e-9 * rng.standard_normal((rows, columns - half)))
    elif kind == 3:
        X[rows // 2 :] = X[: rows - rows // 2]
    elif kind == 4:
        X[:, 0] = 1
    elif kind == 5:
        X = np.cumsum(X, axis=1)
    response = X @ rng.standard_normal(columns) + rng.standard_normal(rows) * rng.choice([0.0, 1.0, 10.0])
    return X * 10.0 ** rng.uniform(-6, 9, columns), response


def stored_as(rng: np.random.Generator, X: np.ndarray) -> Any:
    kept = X * (rng.random(X.shape) < 0.4)
    return [X, X.astype(np.float32), sp.csr_array(kept), sp.csr_array(kept.astype(np.float32))][rng.integers(0, 4)]


def hard_problem(seed: int, cls: type[Solver]) -> Problem:
    """One that the solver declares to solve: any loss, penalty and intercept, weights and C over twelve decades."""
    rng = np.random.default_rng(seed)
    X, response = hard_rows(rng)
    loss = str(rng.choice(sorted(set(cls.losses) & set(LOSSES))))
    y = np.where(response > np.quantile(response, rng.choice([0.5, 0.95])), 1.0, -1.0)
    y[0] = 1.0 if (y < 0).all() else y[0]
    return Problem(
        stored_as(rng, X),
        y if LOSSES[loss].classification else response,
        loss,
        str(rng.choice(sorted(cls.penalties))),
        C=10.0 ** rng.choice([-12.0, rng.uniform(-6, 6), 12.0], p=[0.1, 0.8, 0.1]),
        intercept=str(rng.choice(sorted(cls.intercepts))),
        sample_weight=10.0 ** rng.uniform(-6, 6, len(y)) if rng.random() < 0.4 else None,
    )


@pytest.mark.parametrize("cls", SOLVERS, ids=lambda cls: cls.name)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
@example(seed=34)
def test_a_run_makes_no_warning_and_ends_at_a_finite_point(cls: type[Solver], seed: int) -> None:
    solution = solve(hard_problem(seed, cls), cls(), max_iter=6, max_seconds=5.0)
    assert np.isfinite(solution.coef).all() and np.isfinite(solution.intercept)


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1.0, 1e12, 1e30])
def test_a_program_whose_numbers_range_far_keeps_its_mass(size: float) -> None:
    """Found by a drawn problem: rounding took the constraint from the system, and all variables left."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((4, 3)) * size ** rng.uniform(0, 1, (4, 1))
        beta = solve_simplex_qp(A @ A.T, rng.standard_normal(4) * size, np.zeros(4), 1e-9)
        assert np.isfinite(beta).all() and (beta >= 0).all() and beta.sum() <= 1 + 1e-9
