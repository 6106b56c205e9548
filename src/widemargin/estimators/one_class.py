"""The one-class SVM in scikit-learn's outlier conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..objective.one_class import OneClassProblem
from ..solvers.dual.one_class import OneClassCD
from ..solvers.solve import solve
from ..vectors import Vector
from ._shared import validated
from ._solved import SolvedModel

if TYPE_CHECKING:
    pass


class LinearOneClassSVM(OutlierMixin, SolvedModel):  # type: ignore[misc]
    """Linear one-class SVM: finds the rows that are unlike the others.

    The scale of `coef_` and `offset_` is that of scikit-learn's OneClassSVM(kernel="linear") and of LIBLINEAR's -s 21.

    Parameters
    ----------
    nu : float in (0, 1]
        At most this share of the training rows ends up as outliers.
    tol : float
        Relative duality gap at which the fit ends.
    max_iter : int, optional
        Limit on outer steps; None for no limit.
    n_jobs : int, optional
        Threads for passes over the data; -1 for all cores.

    Attributes
    ----------
    coef_ : array of shape (1, features)
    offset_ : float
        decision_function = score_samples - offset_
    intercept_ : array of shape (1,)
        -offset_
    certificate_, certificates_, solution_, solutions_, trace_, solver_
        As in `LinearSVC`, of the one model.
    n_iter_ : int

    Examples
    --------
    >>> from widemargin import LinearOneClassSVM
    >>> X = [[1.0, 0.0], [1.0, 1.0], [2.0, 1.0], [9.0, 9.0], [0.1, 0.0]]
    >>> LinearOneClassSVM(nu=0.3).fit(X).predict([[5.0, 5.0], [-1.0, 0.0]])
    array([ 1, -1])
    """

    def __init__(
        self, nu: float = 0.5, *, tol: float = 1e-3, max_iter: int | None = None, n_jobs: int | None = None
    ) -> None:
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearOneClassSVM:
        """Finds the half-space that holds the rows of X; y is ignored."""
        X = _checked(self, X, reset=True)
        # What `solve` asks of a problem, this one has; it is no Problem because it has no labels.
        problem = OneClassProblem(X, self.nu, sample_weight=sample_weight)
        solution = solve(problem, OneClassCD(), tol=self.tol, max_iter=self.max_iter, n_jobs=self._threads())
        self.coef_ = solution.coef[np.newaxis, :]
        self.offset_ = -solution.intercept
        self.intercept_ = np.array([solution.intercept])
        self._keep([solution])
        self._report_end(lambda number: problem)
        return self

    def score_samples(self, X: Any) -> Vector:
        """x . coef_: the larger, the more normal."""
        check_is_fitted(self)
        X = _checked(self, X, reset=False)
        scores: Vector = X.matvec(self.coef_[0]) if hasattr(X, "offers") else np.asarray(X @ self.coef_[0])
        return scores

    def decision_function(self, X: Any) -> Vector:
        """score_samples - offset_: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for inliers, -1 for outliers; a row on the border is an inlier."""
        scores = self.score_samples(X)
        # The border goes exactly through some training rows: what rounding adds there must not decide.
        rounding = 1e-9 * (abs(self.offset_) + np.abs(scores))
        return np.where(scores - self.offset_ >= -rounding, 1, -1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _checked(estimator: LinearOneClassSVM, X: Any, reset: bool) -> Any:
    if hasattr(X, "offers"):  # rows by their verbs: a file of blocks, for example
        return validated(estimator, X, fitting=reset)
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        dtype=(np.float64, np.float32),
        accept_large_sparse=True,
    )
