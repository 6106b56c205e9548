"""An estimator that solves: its threads, and what it keeps of the solutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sklearn.base import BaseEstimator

from ..solvers.run.solution import Solution
from ..threads import thread_count
from ._shared import report_end


class SolvedModel(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators that fit by `solve`. Subclasses hold the parameters, `tol` and `n_jobs` among them."""

    # What helps a run that did not converge, besides more steps.
    _remedy: ClassVar[str] = "scale the features, lower C, or accept a larger tol"

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
        report_end(type(self).__name__, worst, self.tol, self._remedy)
