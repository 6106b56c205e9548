"""Logistic regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from ..multiclass import STRATEGIES, make_strategy
from ..multiclass.binary import Binary
from ..multiclass.solving import Solve
from ..objective.maximum_entropy import MaximumEntropyProblem
from ..solvers.base import Solver
from ..solvers.effort import Effort
from ..solvers.registry import make_solver
from ._classifier import LinearClassifier
from ._shared import SKLEARN_SOLVERS
from ._unpenalised import without_penalty

# Names that have a meaning for two classes and for all of them at once.
EITHER_WAY = SKLEARN_SOLVERS | {"auto", "lbfgs"}


def penalty_of(l1_ratio: float) -> tuple[str, float]:
    """The penalty's name by the share of l1 in it, and that share."""
    return {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet"), l1_ratio


class LogisticRegression(LinearClassifier):
    """Logistic regression for two or more classes, fitted to a proven accuracy.

    Minimises R(w) + C sum_i weight_i log(1 + exp(-y_i (x_i . w + b))) until the objective is within a share `tol` of
    the best possible one. Parameters and attributes are those of scikit-learn's class of the same name where it has
    them.

    Parameters
    ----------
    penalty : {"auto", "l2", "l1", "elasticnet", None}
        R. "auto" goes by `l1_ratio`. None, or C=inf: no penalty, as the limit of a vanishing one; where the classes can
        be separated there is no such limit, and a warning says so.
    C : float
        Weight of the losses against the penalty.
    l1_ratio : float, optional
        Share of l1: with penalty="auto", 0 or None is l2, 1 is l1, what lies between the elastic net; with
        penalty="elasticnet", None is a half.
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
    multi_class : {"auto", "multinomial", "ovr", "ovo", "dag"}
        How more than two classes are told apart: "auto" is "multinomial", one model of all classes, wherever that has a
        solver (l2 or no penalty, and no solver for two classes is named), else "ovr", each class against the rest.
    max_iter : int, optional
        Limit on the solver's outer steps; None for no limit.
    solver : "auto", a solver's name, or a Solver with its settings
    dual : bool
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
        penalty: str | None = "auto",
        *,
        C: float = 1.0,
        l1_ratio: float | None = None,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        multi_class: str = "auto",
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        dual: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        memory: int | str | None = None,
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
        self.dual = dual
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.memory = memory

    def _problem_settings(self) -> dict[str, Any]:
        settings = super()._problem_settings()
        if self._is_unpenalised():
            settings["C"] = 1.0  # raised in the course of the fit
        return settings

    def _effort(self) -> Effort:
        effort = super()._effort()
        return replace(effort, tol=self.tol / 2) if self._is_unpenalised() else effort

    def _solver(self) -> Solve:
        solve = super()._solver()
        return without_penalty(solve, self.tol, type(self).__name__) if self._is_unpenalised() else solve

    def _is_unpenalised(self) -> bool:
        return self.penalty is None or self.penalty == "none" or np.inf == self.C

    def _penalty(self) -> tuple[str, float]:
        """The penalty's name and the share of l1 in it."""
        if self._is_unpenalised():
            return "l2", 0.0
        share = self.l1_ratio
        if self.penalty == "auto":
            return penalty_of(share or 0.0)
        return str(self.penalty), 0.5 if share is None else share

    def _multi_class(self) -> str:
        if self.multi_class != "auto":
            return str(self.multi_class)
        joint = self.solver in EITHER_WAY or make_solver(self.solver).can_take(MaximumEntropyProblem)
        return "multinomial" if joint and self._penalty()[0] == "l2" else "ovr"

    def _has_probabilities(self) -> bool:
        """Whether there are any: votes are none. Before `fit` it is not known that there are but two classes."""
        target = getattr(self, "_target", None)
        named = make_strategy(self.multi_class) if self.multi_class in STRATEGIES else Binary()
        if not (named if target is None else target.strategy).has_probabilities:
            raise AttributeError(
                f"multi_class={self.multi_class!r} gives no probabilities: use 'multinomial' or 'ovr' for them"
            )
        return True

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
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

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
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
            return np.asarray(np.log(self.predict_proba(X)))
