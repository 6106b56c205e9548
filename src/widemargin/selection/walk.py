"""Solving one problem at ascending values of C, each from what the values before it tell.

The dual solution is a smooth or piecewise linear function of C, v(C), so two solutions predict the third:

    v(C_2) ~ v(C_1) + (C_2 - C_1) / (C_1 - C_0) (v(C_1) - v(C_0))          (v(0) = 0)

The formula is exact in both limits: v is proportional to C while the penalty rules, and constant once the margin is
hard. With one solution alone it scales v by C_2 / C_1. The primal point is the best combination of the last three
(span.py) where loss and penalty are smooth, else the one of C_1. The driver takes the better of v(C_2) and of the dual
point that belongs to the primal one. docs/selection.md holds the passes that this saves.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..objective.points import Point
from ..objective.problem import Problem
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution
from ..vectors import Vector
from .span import best_in_span

if TYPE_CHECKING:
    from ..objective.multiclass import MulticlassProblem


# Solutions whose span is searched for the next start.
SPANNING = 3


@dataclass(frozen=True)
class Visited:
    """A value of C and what was found there."""

    C: float
    solution: Solution


@dataclass
class Starts:
    """The last solutions of one problem along C, and what they tell of the next.

    With `spanning` zero nothing is kept, and every fit starts anew.
    """

    spanning: int = SPANNING
    _visited: deque[Visited] = field(init=False)  # the last one first
    _known: deque[Point] = field(init=False)

    def __post_init__(self) -> None:
        self._visited, self._known = deque(maxlen=min(2, self.spanning)), deque(maxlen=self.spanning)

    def add(self, problem: Problem | MulticlassProblem, solution: Solution) -> None:
        """Takes note of a solution; its C must not be below the last one."""
        self._visited.appendleft(Visited(problem.C, solution))
        if problem.tells_its_dual and solution.point.z is not None:
            self._known.appendleft(solution.point)

    def next(self, problem: Problem | MulticlassProblem) -> Point | None:
        """Where to start with the problem at its C; None if nothing is known."""
        if not self._visited:
            return None
        last = self._visited[0].solution.point
        start = replace(last, dual=predicted_dual(problem, *self._visited), pull=None, own_dual=False)
        if not (self._known and isinstance(problem, Problem)):
            return start
        w, b = best_in_span(problem, self._known)
        return Point(w, b, start.dual)

    def solve(self, problem: Problem | MulticlassProblem, effort: Effort) -> Solution:
        """The solution at the problem's C, from those before it."""
        solution = effort.solve(problem, self.next(problem))
        self.add(problem, solution)
        return solution


@dataclass
class Walk:
    """The fits of one problem at one C after another."""

    problem: Problem | MulticlassProblem
    effort: Effort
    _starts: Starts = field(default_factory=Starts, init=False)

    def to(self, C: float) -> Solution:
        """The solution at C, which must not be below the last one."""
        return self._starts.solve(self.problem.with_C(C), self.effort)


def predicted_dual(problem: Problem | MulticlassProblem, last: Visited, before: Visited | None = None) -> Vector | None:
    """The dual point at the problem's C, foreseen from one or two smaller values and clipped into its domain."""
    v = last.solution.dual
    if v is None:
        return None
    if before is None or before.solution.dual is None or not before.C < last.C:
        return problem.clipped_dual(v * (problem.C / last.C))
    ahead = v - before.solution.dual
    ahead *= (problem.C - last.C) / (last.C - before.C)
    ahead += v
    return problem.clipped_dual(ahead)
