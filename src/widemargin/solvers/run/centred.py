"""Features far from zero, where the intercept is free: solved for less their means, which moves the intercept alone.

    x . w + b = (x - c) . w + (b + c . w)        sum_i v_i = 0, hence X^T v = (X - 1 c^T)^T v

Objective, dual point and gap are the same, so the certificate of one problem is that of the other. Without it the
intercept follows every step in w, and what varies in a feature is lost in its size: steps become short or cannot be
told from rounding. Whether rows are worth centring is their own affair (data/centring.py), and whether a shift of the
features moves intercepts alone is the problem's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...vectors import Vector
from .solution import Solution

if TYPE_CHECKING:
    from ...objective.any_problem import AnyProblem
    from ...objective.points import Point


@dataclass(frozen=True)
class Centring:
    """A problem as it is solved, and the way there and back; without centres it is as it was."""

    problem: AnyProblem
    centres: Vector | None = None

    @classmethod
    def of(cls, problem: AnyProblem) -> Centring:
        """The problem with centred features, if its intercept is free and they are far from zero."""
        found = problem.X.centred if problem.has_free_intercept else None
        return cls(problem) if found is None else cls(problem.over(found[0]).with_keeper(problem.keeper), found[1])

    def there(self, point: Point | None) -> Point | None:
        """A point of the problem as it was, as one of this problem; its predictions stay, X^T v is made anew."""
        if point is None or self.centres is None:
            return point
        return self.problem.after_shift(point, self.centres)

    def back(self, solution: Solution) -> Solution:
        """A solution of this problem as one of the problem as it was."""
        if self.centres is None:
            return solution
        moved = self.problem.after_shift(solution.point, -self.centres)
        return replace(solution, coef=moved.w, intercept=moved.intercept, point=moved)
