"""Which values of C a search tries when none are given.

Below the first value the model's direction no longer depends on C (l2), or there is no model at all (l1):

l2            w = C g + O(C^2) as C -> 0, where g = - X^T loss'(z) at w = 0; the first C is where the predictions C X g
              reach the size of the targets. (LIBLINEAR's -C starts from a bound on the same quantity.)
l1            w = 0 exactly while C |g_j| <= rho for all j; the first C is where that ends.

Each further value doubles the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..objective.problem import Problem

DOUBLINGS = 30


def doubling_Cs(problem: Problem) -> Iterator[float]:
    """Powers of two from `first_C` on, a billion times as far at most."""
    first = first_C(problem)
    for k in range(DOUBLINGS + 1):
        yield first * 2.0**k


def first_C(problem: Problem) -> float:
    """The power of two from which on C matters."""
    at_one = problem.with_C(1.0)
    b = at_one.best_intercept(np.zeros_like(problem.y)) if problem.intercept == "free" else 0.0
    z = np.full_like(problem.y, b)
    u, _ = at_one.loss_derivatives(z)
    g = -problem.X.rmatvec(u, n_jobs=problem.n_jobs)
    slope, reach = (_sparse_scale if problem.penalty.rho > 0 else _smooth_scale)(problem, g, b)
    if not (slope > 0 and reach > 0):
        return 1.0  # no feature says anything at w = 0
    return float(2.0 ** math.floor(math.log2(reach / slope)))


def _sparse_scale(problem: Problem, g: np.ndarray, b: float) -> tuple[float, float]:
    return float(np.abs(g).max()), 2 * problem.penalty.rho  # twice: the power of two below must not leave w = 0


def _smooth_scale(problem: Problem, g: np.ndarray, b: float) -> tuple[float, float]:
    counts = problem.weights > 0
    moved = np.abs(problem.X.matvec(g, n_jobs=problem.n_jobs)[counts]).max()
    return float(moved), 1.0 if problem.loss.classification else float(np.abs(problem.y[counts] - b).max())
