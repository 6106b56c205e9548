"""No penalty at all, as the limit of a vanishing one.

    min over w, b   L(w, b) = sum_i s_i loss(y_i, x_i . w + b)

has no dual bound at a point whose gradient is not exactly zero, and no minimum at all where classes can be separated:
the coefficients grow without end. Solved instead is

    min over w, b   P(w, b) = 1/2 |w|^2 + C L(w, b)

to a gap of tol / 2, at a C where the losses of every single feature outweigh its penalty ten thousand times, and from
there a thousand times larger, until that changes nothing: the penalty's share of the objective and the decrease of the
loss are at most tol / 2. The certificate is that of P, and says of L: no coefficients up to the length of those found
give a loss that is smaller by more than a share tol. Among models of equal loss it is the shortest.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _core
from ..multiclass.strategy import Solve
from ..objective.problem import Problem
from ..solvers.solution import Solution

# How far the losses outweigh the penalty of each feature at first, how much further each time, and how often.
OUTWEIGHED, FURTHER, TIMES = 1e4, 1e3, 5
# Predictions so near to the targets are the targets.
PERFECT = 1e-10


def without_penalty(solve: Solve, tol: float, name: str) -> Solve:
    """Solves problems without their penalty; what it is given must solve to a gap of tol / 2."""

    def run(problem: Problem, start: Solution | None, n_jobs: int) -> Solution:
        problem, before = problem.with_C(first_C(problem)), np.inf
        solution = solve(problem, start, n_jobs)
        for _ in range(TIMES):
            penalty = _penalty(problem, solution)
            loss = (solution.certificate.primal - penalty) / problem.C
            settled = penalty <= tol / 2 * solution.certificate.primal and before - loss <= tol / 2 * before
            if settled or not solution.converged or _is_perfect(problem, loss):
                return solution
            if separates(problem, solution):
                _warn(name, "the classes can be separated without error", problem)
                return solution
            problem, before = problem.with_C(FURTHER * problem.C), loss
            solution = solve(problem, solution, n_jobs)
        _warn(name, "the coefficients grow without end", problem)
        return solution

    return run


def first_C(problem: Any) -> float:
    """Where the losses outweigh the penalty of every feature that varies."""
    weights = problem.weights / problem.C
    squares = np.zeros(problem.X.shape[1])
    _core.weighted_column_sqnorms(problem.X.rows, weights, squares)
    spread = squares
    if problem.intercept == "free":
        spread = squares - problem.X.rmatvec(weights, n_jobs=problem.n_jobs) ** 2 / weights.sum()
    varies = spread > 1e-9 * squares
    return float(OUTWEIGHED / spread[varies].min()) if varies.any() else 1.0


def _penalty(problem: Any, solution: Solution) -> float:
    if problem.kind == "linear":
        return float(problem.penalty_value(solution.coef, solution.intercept))
    return float(problem.penalty_value(solution.coef))


def _is_perfect(problem: Any, loss: float) -> bool:
    """Whether numbers are met exactly, up to rounding: then the loss is as small as it can be, whatever its share."""
    if problem.loss.classification:
        return False
    at_mean = problem.loss_sum(np.full_like(problem.y, problem.y.mean())) / problem.C
    return bool(loss <= PERFECT * at_mean)


def separates(problem: Any, solution: Solution) -> bool:
    """Whether the model makes no mistake on any row that counts, and has none on the border."""
    if not problem.loss.classification:
        return False
    counts = problem.weights > 0
    if problem.kind == "linear":
        z = problem.X.matvec(solution.coef, solution.intercept, n_jobs=problem.n_jobs)
        return bool((problem.y[counts] * z[counts] > 0).all())
    z = problem.scores(solution.coef)[counts]
    own = np.arange(len(z)), problem.codes[counts]
    right = z[own].copy()
    z[own] = -np.inf
    return bool((right > z.max(axis=1)).all())


def _warn(name: str, why: str, problem: Problem) -> None:
    warnings.warn(
        f"{name} has no best model without a penalty: {why}. Kept is the one at "
        f"C={problem.C:g}; for one that generalises, use penalty='l2' with a finite C.",
        ConvergenceWarning,
        stacklevel=2,
    )
