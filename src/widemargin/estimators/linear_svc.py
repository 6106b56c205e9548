"""Linear support vector classification with scikit-learn's interface."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV

from ..solvers.base import Solver
from ._classifier import LinearClassifier


class LinearSVC(LinearClassifier):
    """Linear support vector machine for two or more classes, fitted to a proven accuracy.

    Minimises R(w) + C sum_i weight_i loss(y_i, x_i . w + b) until the objective is within a share `tol` of the best
    possible one. Parameters and attributes are those of scikit-learn's class of the same name where it has them.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}
        R. Which penalties go with which loss depends on the solvers: see `widemargin.solvers.table()`.
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
        Factors of C by class of the row; "balanced" gives all classes the same total weight.
    multi_class : {"ovr", "ovo", "dag", "crammer_singer"}
        How more than two classes are told apart; see `widemargin.multiclass.STRATEGIES`.
    l1_ratio : float
        Share of l1 in the elastic net.
    max_iter : int, optional
        Limit on the solver's outer steps; None for no limit.
    solver : "auto", a solver's name, or a Solver with its settings
    dual : bool or "auto"
        Taken for scikit-learn's sake, and of no effect: primal or dual is a property of the solver.
    random_state : int, RandomState or None
        Seed of the order in which rows are visited; None is a fixed seed.
    n_jobs : int, optional
        Threads: over classes if there are several, else for passes over the data; -1 for all cores. The model does
        not depend on it.
    warm_start : bool
        Whether `fit` starts from the last solution.
    verbose : bool or int
        Show progress while fitting.
    memory : str or int, optional
        What a fit from a file may use, such as "2G"; data in a file that fit into it are read into memory, others stay
        on disk. By default what is free, and from disk a quarter of the machine's memory or 2G.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_models, n_features)
        One model for two classes; with multi_class="ovr", one per class.
    intercept_ : array of shape (n_models,)
    certificate_ : Certificate
        Objective, dual bound and the gap between them; of several models, where the relative gap is largest.
    solution_, trace_, solver_
        All that `solve` returned for that model, its steps, and the name of the solver that was used.
    certificates_, solutions_ : lists of length n_models
        The same for every model.
    n_iter_ : int
        Outer steps; of several models, the most.
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
        multi_class: str = "ovr",
        l1_ratio: float = 0.5,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        dual: bool | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.solver = solver
        self.dual = dual
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.memory = memory

    def calibrated(self, method: str = "sigmoid", cv: Any = 5, **settings: Any) -> CalibratedClassifierCV:
        """This model with probabilities: scikit-learn's calibration around it, to be fitted in its place.

        Parameters
        ----------
        method : {"sigmoid", "isotonic"}
            Platt's sigmoid, or any function that does not decrease (for some thousands of rows or more).
        cv : int or splitter
            How to hold out the rows on which the scores are calibrated.
        **settings
            Further parameters of `sklearn.calibration.CalibratedClassifierCV`.

        Returns
        -------
        CalibratedClassifierCV

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from widemargin import LinearSVC
        >>> X, y = make_classification(200, random_state=0)
        >>> LinearSVC().calibrated(cv=3).fit(X, y).predict_proba(X).shape
        (200, 2)
        """
        return CalibratedClassifierCV(self, method=method, cv=cv, **settings)
