"""A start from another classifier's weights: formulas (8) and (9) of Keerthi and DeCoste (2005).

    min over gamma, c   1/2 (gamma^2 |w|^2 + reg c^2) + 1/2 sum_{i in I} k_i (gamma x_i . w + scale c - y_i)^2

k_i = 2 C_i; c is the weight of the constant feature `scale`. Only the direction of w is trusted: its length and the
intercept are fitted to the labels, by least squares in two unknowns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...vectors import Vector, inner
from ..base import Point

if TYPE_CHECKING:
    from ...objective.problem import Problem


def rescaled_start(problem: Problem, w: Any, rounds: int = 2) -> Point:
    """The best multiple of w and the best intercept for the labels, as a point to start from.

    The first round counts all rows; a further one only those that are active at what came out (note 4).

    Parameters
    ----------
    problem : Problem
    w : array of shape (features,)
        Weights of any linear classifier of the same features.
    rounds : int
    """
    w = np.ascontiguousarray(w, dtype=np.float64)
    if w.shape != (problem.X.shape[1],):
        raise ValueError(
            f"the guess has shape {w.shape}, expected one weight for each of {problem.X.shape[1]} features"
        )
    if not np.isfinite(w).all():
        raise ValueError("the guess holds values that are not finite")
    s = problem.X.matvec(w, n_jobs=problem.n_jobs)
    counts = problem.weights > 0
    gamma, b = 0.0, 0.0
    for _ in range(rounds):
        gamma, b = _fit_two(problem, w, s, counts)
        counts = (problem.weights > 0) & _active(problem, gamma * s + b)
    return Point(gamma * w, b)


def _active(problem: Problem, z: Vector) -> NDArray[np.bool_]:
    if not problem.loss.classification:
        return np.ones(len(z), dtype=np.bool_)
    return problem.y * z < 1


def _fit_two(problem: Problem, w: Vector, s: Vector, counts: NDArray[np.bool_]) -> tuple[float, float]:
    k = 2 * problem.weights * counts
    scale = problem.constant
    p11 = inner(w, w) + inner(k, s * s)
    p22 = (0.0 if problem.intercept == "free" else 1.0) + scale * scale * float(k.sum())
    p12 = scale * inner(k, s)
    q1, q2 = inner(k, problem.y * s), scale * inner(k, problem.y)
    d = p11 * p22 - p12 * p12
    if d <= 0 or not np.isfinite(d):  # w = 0, or no row counts: only the intercept is left to fit
        return 0.0, scale * q2 / p22 if p22 > 0 else 0.0
    return (p22 * q1 - p12 * q2) / d, scale * (p11 * q2 - p12 * q1) / d
