"""Linear support vector classification with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, Self

from ..objective.problem import Problem
from ..solvers.base import Solver
from ._linear import LinearBinaryClassifier
from ._shared import intercept_kind, require_classification, row_weights, two_classes, validated


class LinearSVC(LinearBinaryClassifier):
    """Linear support vector machine for two classes, fitted to a proven accuracy.

    Minimises R(w) + C sum_i weight_i loss(y_i, x_i . w + b) until the objective is within a share `tol` of the best
    possible one. Parameters and attributes are those of scikit-learn's class of the same name where it has them.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}
        R. Which penalties go with which loss depends on the solvers: see `widemargin.solvers()`.
    loss : {"squared_hinge", "hinge", ...}
        Any classification loss of `Problem`.
    C : float
        Weight of the losses against the penalty.
    tol : float
        The relative duality gap to reach: (primal - dual) / primal <= tol.
    fit_intercept : bool
        Whether the model has an intercept b.
    intercept : {"free", "regularized"}
        "free": b is not penalised, so shifting the data does not change the predictions. "regularized": b is the
        weight of a constant feature and is penalised, as in scikit-learn's class and LIBLINEAR's -B.
    intercept_scaling : float
        Value of that constant feature; matters for intercept="regularized" alone.
    class_weight : None, "balanced" or dict
        Factors of C by class; "balanced" gives both classes the same total weight.
    l1_ratio : float
        Share of l1 in the elastic net.
    max_iter : int, optional
        Limit on the solver's outer steps; None for no limit.
    solver : "auto", a solver's name, or a Solver with its settings
    random_state : int, RandomState or None
        Seed of the order in which rows are visited; None is a fixed seed.
    n_jobs : int, optional
        Threads for passes over the data; -1 for all cores. The model does not depend on it.
    warm_start : bool
        Whether `fit` starts from the last solution.
    verbose : bool or int
        Show progress while fitting.

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
    certificate_ : Certificate
        Objective, dual bound and the gap between them.
    solution_ : Solution
        All that `solve` returned.
    trace_ : Trace
        One row per outer step.
    solver_ : str
        Name of the solver that was used.
    n_iter_ : int
        Its outer steps.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Present when X had names of columns.

    Examples
    --------
    >>> from widemargin import LinearSVC
    >>> model = LinearSVC(loss="hinge", tol=1e-6).fit([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    >>> model.coef_.round(3), model.intercept_.round(3)
    (array([[1.]]), array([-2.]))
    >>> model.predict([[1.9], [2.1]]).tolist()
    ['no', 'yes']
    >>> model.certificate_.relative_gap <= 1e-6
    True
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        l1_ratio: float = 0.5,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : matrix of shape (rows, features)
            Sparse or dense, float32 or float64 without a copy; data frames too.
        y : array of shape (rows,)
            Labels of two classes.
        sample_weight : array of shape (rows,), optional
            Multiplies C per row; a weight of two counts as the row given twice.

        Returns
        -------
        self
        """
        require_classification(type(self).__name__, self.loss)
        X = validated(self, X, fitting=True)
        labels, classes = two_classes(y)
        problem = Problem(
            X,
            labels,
            loss=self.loss,
            penalty=self.penalty,
            C=self.C,
            l1_ratio=self.l1_ratio,
            intercept=intercept_kind(self.fit_intercept, self.intercept),
            intercept_scaling=self.intercept_scaling,
            sample_weight=row_weights(X, labels, classes, self.class_weight, sample_weight),
        )
        self.classes_ = classes
        self._solve(problem)
        return self
