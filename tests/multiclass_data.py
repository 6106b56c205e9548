"""Random problems of several classes, and their optima by an independent method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from widemargin.objective.multiclass import MulticlassProblem

STORAGES: dict[str, Callable[[sp.csr_array], Any]] = {
    "sparse": lambda X: X,
    "sparse float32": lambda X: X.astype(np.float32),
    "dense": lambda X: X.toarray(),
    "dense float32": lambda X: X.toarray().astype(np.float32),
    "uniform": lambda X: sp.csr_array(X != 0, dtype=np.float64),
}


def class_data(
    seed: int, rows: int = 60, columns: int = 10, classes: int = 4, density: float = 0.5
) -> tuple[sp.csr_array, np.ndarray]:
    """Sparse rows and the classes of a noisy linear rule; every class occurs."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((rows, columns), density=density, format="csr", rng=rng, data_sampler=rng.standard_normal)
    scores = X @ rng.standard_normal((columns, classes)) + 0.5 * rng.standard_normal((rows, classes))
    y = scores.argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def reference_optimum(problem: MulticlassProblem, A: np.ndarray) -> float:
    """The optimum by a conic solver on the problem written down as it is."""
    rows, columns = A.shape
    k = problem.n_classes
    W, b = cp.Variable((columns, k)), cp.Variable(k)
    Z = A @ W + np.ones((rows, 1)) @ cp.reshape(b, (1, k), order="C")
    own = np.eye(k)[problem.codes]
    z_own = cp.sum(cp.multiply(own, Z), axis=1)
    losses = {
        "crammer_singer": lambda: cp.max(Z + (1 - own), axis=1) - z_own,
        "multinomial": lambda: cp.log_sum_exp(Z, axis=1) - z_own,
    }
    penalty = cp.sum_squares(W) / 2
    if problem.intercept == "regularized":
        penalty += cp.sum_squares(b) / (2 * problem.intercept_scaling**2)
    constraints = [b == 0] if problem.intercept == "none" else []
    program = cp.Problem(cp.Minimize(penalty + problem.weights @ losses[problem.loss.name]()), constraints)
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(program.value)
