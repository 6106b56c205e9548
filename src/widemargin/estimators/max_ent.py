"""Maximum entropy over candidates, with the scikit-learn interface."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..data.matrix import Matrix
from ..objective.candidates.problem import CandidatesProblem, Groups
from ..objective.points import Point
from ..solvers.base import Solver
from ..solvers.solve import solve
from ._shared import validated
from ._solved import SolvedModel


class MaxEnt(SolvedModel):
    """Chooses one candidate of every group: conditional logit, reranking, discrete choice.

    Minimises R(w) + C sum over groups of -log p(chosen candidate), p proportional to exp(x . w) within the group, until
    the relative duality gap is at most `tol`.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty.
    penalty : {"l2", "l1", "elasticnet"}
    l1_ratio : float
        The share of l1 in the elastic net.
    solver : "auto", the name of a solver, or a Solver with its settings
    tol : float
        The stopping rule: relative duality gap.
    max_seconds : float, optional
        Limit on time.
    n_jobs : int, optional
        Threads for passes over the rows; -1 for all cores.

    Attributes
    ----------
    coef_ : array of shape (features,).
    certificate_, trace_, solver_ : the proof, the run, and who made it.

    Examples
    --------
    >>> from widemargin import MaxEnt
    >>> price_and_seats = [[3.0, 1.0], [1.0, 0.0], [2.0, 1.0], [4.0, 0.0]]
    >>> model = MaxEnt().fit(price_and_seats, [0, 1, 1, 0], groups=["a", "a", "b", "b"])
    >>> model.predict([[1.0, 0.0], [5.0, 1.0]], groups=["c", "c"])
    array([0])
    """

    _remedy: ClassVar[str] = "raise max_seconds, scale the features, lower C, or accept a larger tol"

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        solver: str | Solver = "auto",
        tol: float = 1e-3,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.tol = tol
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, groups: Any, sample_weight: Any = None) -> Self:
        """Fits the weights.

        Parameters
        ----------
        X : matrix of shape (candidates, features)
            One row for each candidate of each group.
        y : array of shape (candidates,)
            1 (or True) for the chosen candidate of each group and 0 for the others, or shares that sum to one.
        groups : array of shape (candidates,)
            Which rows belong together.
        sample_weight : array of shape (groups,), optional
            Multiplies C per group, in ascending order of the groups.

        Returns
        -------
        self
        """
        X = validated(self, X, fitting=True)
        problem = CandidatesProblem(
            Matrix(X),
            y,
            groups,
            self.C,
            penalty=self.penalty,
            l1_ratio=self.l1_ratio,
            sample_weight=sample_weight,
        )
        solution = solve(problem, self.solver, tol=self.tol, max_seconds=self.max_seconds, n_jobs=self._threads())
        self.coef_ = solution.coef
        self._keep([replace(solution, dual=None, point=Point(solution.coef))])
        self._report_end(lambda number: problem)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """x . w of every candidate."""
        check_is_fitted(self)
        return Matrix(validated(self, X)).matvec(self.coef_, n_jobs=self._threads())

    def predict_proba(self, X: Any, groups: Any) -> NDArray[np.float64]:
        """The probability of every candidate within its group."""
        z = self.decision_function(X)
        return Groups(groups, len(z)).softmax(z)[1]

    def predict(self, X: Any, groups: Any) -> NDArray[np.intp]:
        """The row of the best candidate of every group, groups in ascending order; the first of equals."""
        z = self.decision_function(X)
        number = Groups(groups, len(z)).number
        order = np.lexsort((np.arange(len(z)), -z, number))
        first = np.flatnonzero(np.diff(number[order], prepend=-1))
        return order[first]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
