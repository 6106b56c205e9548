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

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ..data.matrix import Matrix
from ..multiclass.solving import Solve
from ..objective.points import Point
from ..objective.problem import Problem
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution
from ..vectors import Vector

SolveFrom = Callable[[Problem, Solution | None], Solution]

# How far the losses outweigh the penalty of each feature at first, how much further each time, and how often.
OUTWEIGHED, FURTHER, TIMES = 1e4, 1e3, 5
# Predictions so near to the targets are the targets.
PERFECT = 1e-10
# Sparse features whose mean is so many times their spread are not to be relied on.
TOO_FAR = 1e6


def without_penalty(solve: Solve, tol: float, name: str) -> Solve:
    """Solves problems without their penalty; what it is given must solve to a gap of tol / 2."""

    def run(model: int, problem: Problem, effort: Effort, start: Solution | None) -> Solution:
        def at(problem: Problem, start: Solution | None) -> Solution:
            return solve(model, problem, effort, start)

        units = Units(problem)
        return units.back(_raise_C(units.problem, units.there(start), at, tol, name))

    return run


def _raise_C(problem: Problem, start: Solution | None, solve: SolveFrom, tol: float, name: str) -> Solution:
    """The solution at a C so large that a larger one changes nothing."""
    problem, before = problem.with_C(OUTWEIGHED * problem.C / float(problem.weights.sum())), np.inf
    solution = solve(problem, start)
    for _ in range(TIMES):
        penalty = problem.penalty_at(Point(solution.coef, solution.intercept))
        loss = (solution.certificate.primal - penalty) / problem.C
        settled = penalty <= tol / 2 * solution.certificate.primal and before - loss <= tol / 2 * before
        if settled or not solution.converged or _is_perfect(problem, loss):
            return solution
        if separates(problem, solution):
            _warn(name, "the classes can be separated without error", problem)
            return solution
        problem, before = problem.with_C(FURTHER * problem.C), loss
        solution = solve(problem, solution)
    _warn(name, "the coefficients grow without end", problem)
    return solution


class Units:
    """The problem in features divided by their spread; dense ones are centred too, where the intercept is free."""

    def __init__(self, problem: Any) -> None:
        X = problem.X.to_scipy()
        self.centres, self.scales = centres_and_spreads(X, problem)
        if problem.X.is_sparse:
            _warn_of_far_features(self.centres, self.scales)
            self.centres = np.zeros_like(self.scales)  # centred, it would not be sparse any more
            divided = X @ sp.diags_array(1 / self.scales)
        else:
            divided = (X - self.centres) / self.scales
        self.problem = problem.over(Matrix(divided.astype(problem.X.dtype, copy=False)))

    def there(self, start: Solution | None) -> Solution | None:
        """A solution of the problem as it was, in these units."""
        if start is None:
            return None
        return replace(self._moved(start, self.scales, self.centres), dual=None)

    def back(self, solution: Solution) -> Solution:
        """A solution in these units as one of the problem as it was."""
        return self._moved(solution, 1 / self.scales, -self.centres / self.scales)

    def _moved(self, solution: Solution, factors: Vector, shifts: Vector) -> Solution:
        """Coefficients times factors, the intercepts moved by shifts . coefficients."""
        point = Point(solution.coef, solution.intercept, solution.dual)
        if self.problem.has_free_intercept:
            point = self.problem.after_shift(point, shifts)
        point = self.problem.after_scale(point, factors)
        return replace(solution, coef=point.w, intercept=point.intercept, point=point)


def centres_and_spreads(X: Any, problem: Any) -> tuple[Vector, Vector]:
    """The mean of each feature, and its standard deviation; without a free intercept 0 and the root mean square.

    The spread is that of the deviations themselves: squares of values far from zero would swallow it. 1 for none.
    """
    weights = problem.weights / problem.weights.sum()
    means = np.asarray(weights @ X, dtype=np.float64).reshape(-1)
    centres = means if problem.intercept == "free" else np.zeros_like(means)
    if sp.issparse(X):
        rows = np.repeat(weights, np.diff(X.indptr))
        off = X.data.astype(np.float64) - centres[X.indices]
        full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]  # no zeros: nothing is left to rounding
        stored = np.where(full, 1.0, np.bincount(X.indices, rows, minlength=X.shape[1]))
        spread = np.bincount(X.indices, rows * off**2, minlength=X.shape[1]) + (1 - stored) * centres**2
    else:
        spread = weights @ (X - centres) ** 2
    constant = ~(spread > (1e-14 * means) ** 2)
    return centres, np.sqrt(np.where(constant, np.where(means != 0, means**2, 1.0), spread))


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
    return bool(problem.is_separated_by(Point(solution.coef, solution.intercept)))


def _warn_of_far_features(centres: Vector, scales: Vector) -> None:
    """Sparse features cannot be centred here, and rounding hides what varies in those that are too far from zero."""
    far = np.flatnonzero(np.abs(centres) > TOO_FAR * scales)
    if len(far):
        warnings.warn(
            f"feature {far[0]} of the sparse data lies {np.abs(centres[far[0]]) / scales[far[0]]:.1g} times its spread "
            "away from zero, and the model may be wrong without a penalty: subtract its mean, or pass dense data",
            ConvergenceWarning,
            stacklevel=2,
        )


def _warn(name: str, why: str, problem: Problem) -> None:
    warnings.warn(
        f"{name} has no best model without a penalty: {why}. Kept is the one at "
        f"C={problem.C:g}; for one that generalises, use penalty='l2' with a finite C.",
        ConvergenceWarning,
        stacklevel=2,
    )
