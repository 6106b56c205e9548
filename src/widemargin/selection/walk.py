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
from ..solvers.base import Solver
from ..solvers.run.solution import Solution
from ..solvers.solve import solve
from ..vectors import Vector
from .span import best_in_span

if TYPE_CHECKING:
    from ..objective.problem import Problem


@dataclass(frozen=True)
class Effort:
    """How each fit of a path or a search is made; the words are those of `solve`."""

    solver: str | Solver = "auto"
    tol: float = 1e-3
    max_iter: int | None = None
    max_seconds: float | None = None
    seed: int = 0
    n_jobs: int = 1


# Solutions whose span is searched for the next start.
SPANNING = 3


@dataclass(frozen=True)
class Visited:
    """A value of C and what was found there."""

    C: float
    solution: Solution


@dataclass
class Walk:
    """The fits of one problem at one C after another."""

    problem: Problem
    effort: Effort
    _visited: deque[Visited] = field(default_factory=lambda: deque(maxlen=2), init=False)  # the last one first
    _known: deque[Point] = field(default_factory=lambda: deque(maxlen=SPANNING), init=False)

    def to(self, C: float, max_seconds: float | None = None) -> Solution:
        """The solution at C, which must not be below the last one; max_seconds instead of the effort's, if given."""
        effort = self.effort
        problem = self.problem.with_C(C)
        solution = solve(
            problem,
            effort.solver,
            tol=effort.tol,
            max_iter=effort.max_iter,
            max_seconds=effort.max_seconds if max_seconds is None else max_seconds,
            seed=effort.seed,
            n_jobs=effort.n_jobs,
            warm_start=self._start(problem),
        )
        self._visited.appendleft(Visited(C, solution))
        if problem.tells_its_dual and solution.point.z is not None:
            self._known.appendleft(solution.point)
        return solution

    def _start(self, problem: Problem) -> Point | None:
        if not self._visited:
            return None
        last = self._visited[0].solution.point
        start = replace(last, dual=predicted_dual(problem, *self._visited), pull=None)
        if not self._known:
            return start
        w, b = best_in_span(problem, self._known)
        return Point(w, b, start.dual)


def predicted_dual(problem: Problem, last: Visited, before: Visited | None = None) -> Vector | None:
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
