"""Solving one problem at ascending values of C, each from what the values before it tell.

The dual solution is a smooth or piecewise linear function of C, v(C), so two solutions predict the third:

    v(C_2) ~ v(C_1) + (C_2 - C_1) / (C_1 - C_0) (v(C_1) - v(C_0))          (v(0) = 0)

The formula is exact in both limits: v is proportional to C while the penalty rules, and constant once the margin is
hard. With one solution alone it scales v by C_2 / C_1. The primal point is the one of C_1: a solver that keeps
w = X^T v makes its own from v. docs/selection.md holds the passes that this saves.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..solvers.base import Solver
from ..solvers.solution import Solution
from ..solvers.solve import solve

if TYPE_CHECKING:
    from ..objective.problem import Problem

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """How each fit of a path or a search is made; the words are those of `solve`."""

    solver: str | Solver = "auto"
    tol: float = 1e-3
    max_iter: int | None = None
    max_seconds: float | None = None
    seed: int = 0
    n_jobs: int = 1


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
    _last: Visited | None = field(default=None, init=False)
    _before: Visited | None = field(default=None, init=False)

    def to(self, C: float, max_seconds: float | None = None) -> Solution:
        """The solution at C, which must not be below the last one; max_seconds instead of the effort's, if given."""
        effort = self.effort
        solution = solve(
            self.problem.with_C(C),
            effort.solver,
            tol=effort.tol,
            max_iter=effort.max_iter,
            max_seconds=effort.max_seconds if max_seconds is None else max_seconds,
            seed=effort.seed,
            n_jobs=effort.n_jobs,
            warm_start=self._start(C),
        )
        self._last, self._before = Visited(C, solution), self._last
        return solution

    def _start(self, C: float) -> Solution | None:
        if self._last is None:
            return None
        last = self._last.solution
        return replace(last, dual=predicted_dual(self.problem.with_C(C), self._last, self._before))


def predicted_dual(problem: Problem, last: Visited, before: Visited | None) -> Vector | None:
    """The dual point at the problem's C, foreseen from one or two smaller values and clipped into its domain."""
    v = last.solution.dual
    if v is None:
        return None
    C_0, v_0 = 0.0, np.zeros_like(v)
    if before is not None and before.solution.dual is not None and before.C < last.C:
        C_0, v_0 = before.C, before.solution.dual
    ahead = v + (problem.C - last.C) / (last.C - C_0) * (v - v_0)
    return problem.clipped_dual(ahead)
