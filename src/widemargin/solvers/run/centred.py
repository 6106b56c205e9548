"""Features far from zero, where the intercept is free: solved for less their means, which moves the intercept alone.

    x . w + b = (x - c) . w + (b + c . w)        sum_i v_i = 0, hence X^T v = (X - 1 c^T)^T v

Objective, dual point and gap are the same, so the certificate of one problem is that of the other. Without it the
intercept follows every step in w, and what varies in a feature is lost in its size: steps become short or cannot be
told from rounding. Whether rows are worth centring is their own affair (data/centring.py).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...vectors import Vector
from .solution import Solution

if TYPE_CHECKING:
    from ...objective.problem import Problem

# The problems whose intercepts `moved_intercepts` knows.
KINDS = frozenset({"linear", "maximum_entropy", "crammer_singer"})


@dataclass(frozen=True)
class Centring:
    """A problem as it is solved, and the way there and back; without centres it is as it was."""

    problem: Problem
    centres: Vector | None = None

    @classmethod
    def of(cls, problem: Problem) -> Centring:
        """The problem with centred features, if its intercept is free and they are far from zero."""
        found = problem.X.centred if problem.intercept == "free" and problem.kind in KINDS else None
        if found is None:
            return cls(problem)
        other = copy.copy(problem)
        other.X, centres = found
        return cls(other, centres)

    def there(self, start: Solution | None) -> Solution | None:
        """A solution of the problem as it was, as one of this problem."""
        if not isinstance(start, Solution) or self.centres is None or len(start.coef) != self.problem.n_coefficients:
            return start
        return moved_intercepts(self.problem, start, self.centres)

    def back(self, solution: Solution) -> Solution:
        """A solution of this problem as one of the problem as it was."""
        return solution if self.centres is None else moved_intercepts(self.problem, solution, -self.centres)


def moved_intercepts(problem: Any, solution: Solution, shifts: Vector) -> Solution:
    """The same coefficients, and intercepts moved by shifts . coefficients."""
    if problem.kind == "linear":
        return replace(solution, intercept=solution.intercept + float(shifts @ solution.coef))
    table = solution.coef.reshape(-1, problem.n_classes).copy()
    table[-1] += shifts @ table[:-1]  # a multi-class problem has its intercepts behind the features
    return replace(solution, coef=table.reshape(-1))
