"""What a fit may cost: one object for the words of `solve`, handed from whoever asks to whoever solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .solve import solve

if TYPE_CHECKING:
    from ..objective.any_problem import AnyProblem
    from ..objective.points import Point
    from .base import Solver
    from .run.driver import Callback
    from .run.solution import Solution


@dataclass(frozen=True)
class Effort:
    """How a problem is solved, or several are; the words are those of `solve`.

    Of several problems, `max_seconds` is for all together and `n_jobs` counts the threads of all.

    Examples
    --------
    >>> from widemargin import Problem
    >>> from widemargin.solvers.effort import Effort
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge", intercept="free")
    >>> Effort(tol=1e-6).solve(problem).coef.round(4)
    array([1.])
    """

    solver: str | Solver = "auto"
    tol: float = 1e-3
    max_iter: int | None = None
    max_seconds: float | None = None
    seed: int = 0
    n_jobs: int = 1
    callback: Callback | None = None

    def solve(self, problem: AnyProblem, warm_start: Solution | Point | None = None) -> Solution:
        """Solves one problem with this effort."""
        return solve(
            problem,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            max_seconds=self.max_seconds,
            seed=self.seed,
            n_jobs=self.n_jobs,
            warm_start=warm_start,
            callback=self.callback,
        )
