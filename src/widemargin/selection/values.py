"""Which values of C a search tries when none are given.

Below the first value the model's direction no longer depends on C (l2), or there is no model at all (l1):

l2            w = C g + O(C^2) as C -> 0, where g = - X^T loss'(z) at w = 0; the first C is where the predictions C X g
              reach the size of the targets. (LIBLINEAR's -C starts from a bound on the same quantity.)
l1            w = 0 exactly while C |g_j| <= rho for all j; the first C is where that ends.
all classes   as l2, with v_i = C_i (e_y - p) at W = 0: p the classes' shares if intercepts are free, else equal.

Each further value doubles the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .several import leading_problem

if TYPE_CHECKING:
    from ..objective.problem import Problem
    from .several import Subject

DOUBLINGS = 30


def doubling_Cs(subject: Subject) -> Iterator[float]:
    """Powers of two from `first_C` on, a billion times as far at most."""
    first = first_C(subject)
    for k in range(DOUBLINGS + 1):
        yield first * 2.0**k


def first_C(subject: Subject) -> float:
    """The power of two from which on C matters; of several models, to the one whose classes have the most weight."""
    problem = leading_problem(subject)
    slope, reach = _SCALES.get(problem.kind, _joint_scale)(problem)
    if not (slope > 0 and reach > 0):
        return 1.0  # no feature says anything at w = 0
    return float(2.0 ** math.floor(math.log2(reach / slope)))


def _linear_scale(problem: Problem) -> tuple[float, float]:
    at_one = problem.with_C(1.0)
    b = at_one.best_intercept(np.zeros_like(problem.y)) if problem.intercept == "free" else 0.0
    z = np.full_like(problem.y, b)
    u, _ = at_one.loss_derivatives(z)
    g = -problem.X.rmatvec(u, n_jobs=problem.n_jobs)
    return (_sparse_scale if problem.penalty.rho > 0 else _smooth_scale)(problem, g, b)


def _joint_scale(problem: Any) -> tuple[float, float]:
    weights, k = problem.weights / problem.C, problem.n_classes
    shares = np.full(k, 1 / k)
    if problem.intercept == "free":
        shares = np.bincount(problem.codes, weights=weights, minlength=k) / weights.sum()
    g = problem.adjoint(weights[:, None] * (np.eye(k)[problem.codes] - shares))
    g[problem.n_penalised :] = 0.0
    return float(np.abs(problem.scores(g)[weights > 0]).max()), 1.0


def _sparse_scale(problem: Problem, g: np.ndarray, b: float) -> tuple[float, float]:
    return float(np.abs(g).max()), 2 * problem.penalty.rho  # twice: the power of two below must not leave w = 0


def _smooth_scale(problem: Problem, g: np.ndarray, b: float) -> tuple[float, float]:
    counts = problem.weights > 0
    moved = np.abs(problem.X.matvec(g, n_jobs=problem.n_jobs)[counts]).max()
    return float(moved), 1.0 if problem.loss.classification else float(np.abs(problem.y[counts] - b).max())


_SCALES: dict[str, Callable[[Any], tuple[float, float]]] = {"linear": _linear_scale}  # problems of all classes: joint
