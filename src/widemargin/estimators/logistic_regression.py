"""Logistic regression with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..solvers.base import Solver
from ._classifier import LinearClassifier


class LogisticRegression(LinearClassifier):
    """Logistic regression for two or more classes, fitted to a proven accuracy.

    Minimises R(w) + C sum_i weight_i log(1 + exp(-y_i (x_i . w + b))) until the objective is within a share `tol` of
    the best possible one. Parameters and attributes are those of scikit-learn's class of the same name where it has
    them.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}
        R. None is refused: use a large C.
    C : float
        Weight of the losses against the penalty.
    l1_ratio : float
        Share of l1 in the elastic net.
    tol : float
        The relative duality gap to reach: (primal - dual) / primal <= tol.
    fit_intercept : bool
        Whether the model has an intercept b.
    intercept : {"free", "regularized"}
        "free": b is not penalised. "regularized": b is the weight of a constant feature and is penalised.
    intercept_scaling : float
        Value of that constant feature; matters for intercept="regularized" alone.
    class_weight : None, "balanced" or dict
        Factors of C by class of the row; "balanced" gives all classes the same total weight.
    multi_class : {"ovr", ...}
        How more than two classes are told apart; see `widemargin.multiclass.STRATEGIES`.
    max_iter : int, optional
        Limit on the solver's outer steps; None for no limit.
    solver : "auto", a solver's name, or a Solver with its settings
    random_state : int, RandomState or None
        Seed of the order in which rows are visited; None is a fixed seed.
    n_jobs : int, optional
        Threads: over classes if there are several, else for passes over the data; -1 for all cores. The model does
        not depend on it.
    warm_start : bool
        Whether `fit` starts from the last solution.
    verbose : bool or int
        Show progress while fitting.

    Attributes
    ----------
    classes_, coef_, intercept_, certificate_, certificates_, solution_, solutions_, trace_, solver_, n_iter_
        As in `LinearSVC`.

    Examples
    --------
    >>> from widemargin import LogisticRegression
    >>> model = LogisticRegression(C=10.0).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.predict_proba([[1.5]]).round(2)
    array([[0.5, 0.5]])
    >>> model.certificate_.relative_gap <= model.tol
    True
    """

    loss: ClassVar[str] = "logistic"

    def __init__(
        self,
        penalty: str = "l2",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.5,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        multi_class: str = "ovr",
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class; of each label, if `y` was an indicator matrix.

        Parameters
        ----------
        X : matrix of shape (rows, features)

        Returns
        -------
        array of shape (rows, classes)
        """
        scores = self._scores(X)
        return self._target.strategy.probabilities(scores, len(self.classes_))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`.

        Parameters
        ----------
        X : matrix of shape (rows, features)

        Returns
        -------
        array of shape (rows, classes)
        """
        with np.errstate(divide="ignore"):  # a probability that rounds to zero has the logarithm -inf
            return np.log(self.predict_proba(X))
