"""An estimator that solves: its threads, what it keeps of the solutions, what it says of one that did not converge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ..outside import warn_outside
from ..solvers.run.solution import Solution, Status
from ..threads import thread_count
from ._shared import known_solver

if TYPE_CHECKING:
    from ..objective.any_problem import AnyProblem


class SolvedModel(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators that fit by `solve`. Subclasses hold the parameters, `tol` and `n_jobs` among them."""

    # What helps a run of this estimator that did not converge, besides what helps any.
    _remedies: ClassVar[tuple[str, ...]] = ()

    def _threads(self) -> int:
        return thread_count(1 if self.n_jobs is None else self.n_jobs)

    def _keep(self, solutions: Sequence[Solution]) -> None:
        """The attributes that tell how it went. Of several models, the one with the largest gap speaks for all."""
        worst = max(solutions, key=lambda solution: solution.certificate.relative_gap)
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        self.solutions_ = list(solutions)
        self.certificates_ = [solution.certificate for solution in solutions]
        self.solution_ = worst
        self.certificate_ = worst.certificate
        self.trace_ = worst.trace
        self.solver_ = worst.solver

    def _report_end(self, problem: Callable[[int], AnyProblem]) -> None:
        """Says how the worst run ended if it did not converge; `problem` gives that of a model, by its number.

        A warning, or Ctrl-C passed on so that a search stops too.
        """
        worst = self.solution_
        if worst.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if worst.converged:
            return
        from ..solvers.advice import explain_end  # not needed where all is well

        number = next(k for k, solution in enumerate(self.solutions_) if solution is worst)
        said = explain_end(
            problem(number),
            worst,
            self.tol,
            who=type(self).__name__,
            asked=known_solver(self.solver) if hasattr(self, "solver") else None,
            also=self._remedies,
            names=getattr(self, "feature_names_in_", None),
        )
        warn_outside(said, ConvergenceWarning)
