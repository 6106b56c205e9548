"""solver="auto": which solver for which problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import Solver
from .registry import require, solver_class

if TYPE_CHECKING:
    from ..objective.problem import Problem


def choose(problem: Problem) -> Solver:
    """The solver that suits the shape of the problem."""
    solver = solver_class("dual_cd")()
    require(solver, problem)
    return solver
