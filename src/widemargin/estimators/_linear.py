"""The part of a linear estimator that does not depend on what it fits: solving, keeping the result, predicting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..data.matrix import Matrix
from ..objective.problem import Problem
from ..solvers.solution import Solution
from ..solvers.solve import solve
from ._shared import report_end, seed_of, validated

Vector = NDArray[np.float64]


class LinearModel(BaseEstimator):  # type: ignore[misc]
    """Fits by `solve` and keeps the solution. Subclasses hold the parameters and build the problem."""

    def _solve(self, problem: Problem) -> None:
        solution = solve(
            problem,
            self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed_of(self.random_state),
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
            warm_start=self._previous(problem),
            progress=bool(self.verbose),
        )
        self._keep(solution)
        report_end(type(self).__name__, solution, self.tol)

    def _previous(self, problem: Problem) -> Solution | None:
        """The last solution, if a warm start is asked for and the features are as many."""
        last: Solution | None = getattr(self, "solution_", None) if self.warm_start else None
        return last if last is not None and len(last.coef) == problem.X.shape[1] else None

    def _keep(self, solution: Solution) -> None:
        self.coef_ = solution.coef[np.newaxis, :]
        self.intercept_ = np.array([solution.intercept])
        self.n_iter_ = solution.n_iter
        self.certificate_ = solution.certificate
        self.trace_ = solution.trace
        self.solver_ = solution.solver
        self.solution_ = solution

    def _predictions(self, X: Any) -> Vector:
        check_is_fitted(self)
        rows = Matrix(validated(self, X))
        return rows.matvec(self.coef_[0], float(self.intercept_[0]), n_jobs=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearBinaryClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """Predicts one of two classes by the side of a hyperplane."""

    def decision_function(self, X: Any) -> Vector:
        """Signed score of each row: above zero for the second class.

        Parameters
        ----------
        X : matrix of shape (rows, features)

        Returns
        -------
        array of shape (rows,)
        """
        return self._predictions(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : matrix of shape (rows, features)

        Returns
        -------
        array of shape (rows,)
        """
        second = self.decision_function(X) > 0
        chosen: NDArray[Any] = self.classes_[second.astype(np.intp)]
        return chosen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
