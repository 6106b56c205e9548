"""No penalty at all, as the limit of a vanishing one.

    min over w, b   L(w, b) = sum_i s_i loss(y_i, x_i . w + b)

has no dual bound at a point whose gradient is not exactly zero, and no minimum at all where classes can be separated:
the coefficients grow without end. Solved instead is

    min over w, b   P(w, b) = 1/2 |w|^2 + C L(w, b)

in features divided by their spread (which changes nothing where there is no penalty), to a gap of tol / 2, at a C where
the losses of every feature outweigh its penalty ten thousand times, and from there a thousand times larger, until that
changes nothing: the penalty's share of the objective and the decrease of the loss are at most tol / 2. The certificate
is that of P, and says of L: no coefficients up to the length of those found give a loss that is smaller by more than a
share tol. Among models of equal loss it is the shortest in those units.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .. import _core
from ..data.matrix import Matrix
from ..multiclass.strategy import Solve
from ..objective.problem import Problem
from ..solvers.solution import Solution

Vector = NDArray[np.float64]

# How far the losses outweigh the penalty of each feature at first, how much further each time, and how often.
OUTWEIGHED, FURTHER, TIMES = 1e4, 1e3, 5
# Predictions so near to the targets are the targets.
PERFECT = 1e-10


def without_penalty(solve: Solve, tol: float, name: str) -> Solve:
    """Solves problems without their penalty; what it is given must solve to a gap of tol / 2."""

    def run(problem: Problem, start: Solution | None, n_jobs: int) -> Solution:
        scales = spreads(problem)
        scaled = in_units(problem, scales)
        begin = None if start is None else replace(start, coef=_times(scaled, start.coef, scales), dual=None)
        solution = _raise_C(scaled, begin, solve, tol, n_jobs, name)
        return replace(solution, coef=_times(scaled, solution.coef, 1 / scales))

    return run


def _raise_C(problem: Problem, start: Solution | None, solve: Solve, tol: float, n_jobs: int, name: str) -> Solution:
    """The solution at a C so large that a larger one changes nothing."""
    problem, before = problem.with_C(OUTWEIGHED * problem.C / float(problem.weights.sum())), np.inf
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


def spreads(problem: Any) -> Vector:
    """The standard deviation of each feature, or the root of its mean square without a free intercept; 1 for none."""
    weights = problem.weights / problem.weights.sum()
    squares = np.zeros(problem.X.shape[1])
    _core.weighted_column_sqnorms(problem.X.rows, weights, squares)
    varied = squares
    if problem.intercept == "free":
        varied = squares - problem.X.rmatvec(weights, n_jobs=problem.n_jobs) ** 2
    constant = varied <= 1e-9 * squares
    return np.sqrt(np.where(constant, np.where(squares > 0, squares, 1.0), varied))


def in_units(problem: Any, scales: Vector) -> Any:
    """The same problem with every feature divided by its scale; the data are copied."""
    X = problem.X.to_scipy()
    divided = X @ sp.diags_array(1 / scales) if problem.X.is_sparse else X / scales
    other = copy.copy(problem)
    other.X = Matrix(divided.astype(problem.X.dtype, copy=False))
    return other


def _times(problem: Any, coef: Vector, factors: Vector) -> Vector:
    """The features' coefficients times those factors; a multi-class problem has its intercepts behind them."""
    scaled: Vector = coef.reshape(-1, 1 if problem.kind == "linear" else problem.n_classes).copy()
    scaled[: len(factors)] *= factors[:, None]
    return scaled.reshape(-1)


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
