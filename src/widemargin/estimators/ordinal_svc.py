"""Support vector ordinal regression with the scikit-learn interface."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..objective.ordinal import OrdinalProblem
from ..solvers.base import Solver
from ..solvers.solve import solve
from ._solved import SolvedModel


class OrdinalSVC(ClassifierMixin, SolvedModel):  # type: ignore[misc]
    """Classes in an order: one weight vector, and thresholds between neighbouring classes.

    Minimises 1/2 |w|^2 + C sum over rows and thresholds of the loss, each row being compared with all thresholds
    (Chu and Keerthi 2005; Keerthi and DeCoste 2005, formula 25), until the relative duality gap is at most `tol`.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty.
    loss : {"squared_hinge", "hinge", "modified_huber"}
    thresholds : {"free", "regularized"}
        Whether the penalty leaves the thresholds out, or holds them too as in the paper.
    tol : float
        Relative duality gap to reach.
    max_iter : int, optional
        Limit on Newton steps; None for no limit.
    solver : str or Solver
        "ordinal_newton", or `OrdinalNewton` with settings of its own.
    n_jobs : int, optional
        Threads for passes over the data; -1 for all cores.

    Attributes
    ----------
    classes_ : the classes in ascending order, which is taken as their rank
    coef_ : array of shape (1, features)
    thresholds_ : array of shape (classes - 1,), ascending
    certificate_, certificates_, solution_, solutions_, trace_, solver_
        As in `LinearSVC`, of the one model.
    n_iter_ : Newton steps made

    Examples
    --------
    >>> from widemargin import OrdinalSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1, 1, 2, 2, 3]
    >>> model = OrdinalSVC(C=10.0).fit(X, y)
    >>> model.predict([[0.5], [2.5], [6.0]])
    array([1, 2, 3])
    >>> model.certificate_.relative_gap <= model.tol
    True
    """

    _remedies: ClassVar[tuple[str, ...]] = ("set solver=OrdinalNewton(precondition=True)",)

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        thresholds: str = "free",
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "ordinal_newton",
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.thresholds = thresholds
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the weights and the thresholds."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
            counts = sample_weight != 0  # a row that does not count must not bring in a class either
            X, y, sample_weight = X[counts], y[counts], sample_weight[counts]
        problem = OrdinalProblem(
            X, y, loss=self.loss, C=self.C, thresholds=self.thresholds, sample_weight=sample_weight
        )
        solution = solve(problem, self.solver, tol=self.tol, max_iter=self.max_iter, n_jobs=self._threads())
        w, self.thresholds_ = problem.split(solution.coef)
        self.coef_ = w[None, :]
        self.classes_ = np.asarray(problem.classes)
        self._keep([solution])
        self._report_end(lambda number: problem)
        return self

    def scores(self, X: Any) -> NDArray[np.float64]:
        """x . w for every row: the position on the scale that the thresholds divide."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        found: NDArray[np.float64] = np.asarray(X @ self.coef_[0], dtype=np.float64)
        return found

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How deep a row lies inside each class's interval; for two classes, how far above the threshold."""
        scores = self.scores(X)
        if len(self.thresholds_) == 1:
            return scores - float(self.thresholds_[0])
        borders = np.concatenate([[-np.inf], self.thresholds_, [np.inf]])
        depth: NDArray[np.float64] = np.minimum(scores[:, None] - borders[:-1], borders[1:] - scores[:, None])
        return depth

    def predict(self, X: Any) -> NDArray[Any]:
        """The class whose interval holds the row's score."""
        scores = self.scores(X)
        return np.take(self.classes_, np.searchsorted(self.thresholds_, scores, side="left"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = (
            True  # on classes without an order, such as the blobs of scikit-learn's checks
        )
        return tags
