"""Estimators that choose C (or alpha) themselves, by cross-validation on the rows they are fitted to.

They are the estimators without CV in their name, with one difference: where those solve, these search. So a model of
all classes at once gets one C, by its own score, and models of one class against the rest get one C each; what is
refitted carries its certificate. Folds of small data get copies of their rows, those of large data share them
(selection/fold_run.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..numbers import as_number
from ..objective.penalties import make_penalty
from ..objective.problem import Problem
from ..selection.edge import told_of_edge
from ..selection.path import checked_Cs
from ..selection.result import SearchResult
from ..selection.search import Plan, search
from ..selection.stopping import EarlyStopping
from ..selection.values import first_C
from ..solvers.base import Solver
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution
from ._searching import Searching, SearchingClassifier
from ._shared import require_penalty
from .least_squares import Lasso
from .linear_svc import LinearSVC
from .logistic_regression import LogisticRegression, penalty_of


class LinearSVCCV(SearchingClassifier, LinearSVC):
    """`LinearSVC` that chooses C by cross-validation.

    Parameters
    ----------
    Cs : sequence of floats or int, optional
        The values to try, or how many from 0.0001 to 10,000. By default doubling from the first value that matters.
    cv : int, splitter or pairs of row numbers
        As in scikit-learn, except that a number means shuffled folds (by `random_state`).
    scoring : str or scorer, optional
        scikit-learn's name of a score; accuracy by default. With multi_class="ovr" and the like it is that of each
        model of two sides, otherwise that of the whole model.
    early_stopping : bool or EarlyStopping
        Whether larger values are left out once the scores decline or the models settle.
    penalty, loss, tol, fit_intercept, intercept, intercept_scaling, class_weight, multi_class, l1_ratio, max_iter, \
solver, random_state, verbose, memory
        As in `LinearSVC`.
    n_jobs : int, optional
        Threads, over classes or over folds; -1 for all cores.

    Attributes
    ----------
    C_ : array of shape (n_classes,), or (1,) for two classes
        The chosen value of each class; multi_class="crammer_singer" chooses one for all, "ovo" and "dag" one for each
        pair of classes.
    Cs_ : array
        The values that were tried.
    scores_ : dict
        For each class (of two, the second; or each pair) the scores of shape (n_folds, n_values).
    searches_ : list of SearchResult
        Tables and pictures of the searches, one per model; of all classes at once there is one.
    coef_, intercept_, classes_, certificate_, solution_, ...
        As in `LinearSVC`, fitted on all rows with the chosen C.

    Examples
    --------
    >>> from widemargin import LinearSVCCV
    >>> model = LinearSVCCV(cv=2).fit([[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> model.predict([[0.5], [3.5]]).tolist(), model.searches_[0].best_score
    (['no', 'yes'], 1.0)
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        Cs: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        early_stopping: EarlyStopping | bool = True,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        multi_class: str = "ovr",
        l1_ratio: float = 0.5,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.early_stopping = early_stopping
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory


class LogisticRegressionCV(SearchingClassifier, LogisticRegression):
    """`LogisticRegression` that chooses C by cross-validation.

    Parameters
    ----------
    Cs, cv, scoring, early_stopping, n_jobs
        As in `LinearSVCCV`; scores of probabilities such as "neg_log_loss" are possible too.
    penalty, l1_ratio, tol, fit_intercept, intercept, intercept_scaling, class_weight, max_iter, solver, \
random_state, verbose, memory
        As in `LogisticRegression`; there must be a penalty.
    l1_ratios : sequence of floats, optional
        Shares of l1 to choose among, each with its own C, instead of `penalty` and `l1_ratio`; of equals the first.
    dual : bool
        Taken for scikit-learn's sake, and of no effect.
    refit : bool
        Taken for scikit-learn's sake: True, the model is that of all rows.
    multi_class : {"auto", "multinomial", "ovr", "ovo", "dag"}
        As in `LogisticRegression`: by default, with an l2 penalty, one model of all classes, and one C by its score.
        "ovr" chooses a C for each class against the rest.

    Attributes
    ----------
    C_, Cs_, scores_, searches_
        As in `LinearSVCCV`; multi_class="multinomial" chooses one C for all classes. With `l1_ratios`, those of the
        share that was chosen.
    l1_ratio_ : array of the shape of C_
        The chosen share of l1.
    coef_, intercept_, classes_, certificate_, solution_, ...
        As in `LogisticRegression`, fitted on all rows with the chosen C.

    Examples
    --------
    >>> from widemargin import LogisticRegressionCV
    >>> model = LogisticRegressionCV(Cs=[0.1, 10.0], cv=2, scoring="neg_log_loss")
    >>> model.fit([[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]).C_
    array([10.])
    """

    def __init__(
        self,
        penalty: str = "auto",
        *,
        Cs: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        early_stopping: EarlyStopping | bool = True,
        l1_ratio: float | None = None,
        l1_ratios: Any = None,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        multi_class: str = "auto",
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        dual: bool = False,
        refit: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.penalty = penalty
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.early_stopping = early_stopping
        self.l1_ratio = l1_ratio
        self.l1_ratios = l1_ratios
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.solver = solver
        self.dual = dual
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory

    def _penalty(self) -> tuple[str, float]:
        require_penalty(type(self).__name__, self.penalty)  # without one there is no C to choose
        if not self.refit:
            raise ValueError("refit=False is not there: the model is that of all rows; searches_ has the folds' scores")
        if self.l1_ratios is None:
            return super()._penalty()
        return penalty_of(max(self._shares()))  # where one is above 0, there is no model of all classes at once

    def _shares(self) -> list[float]:
        shares = [as_number("l1_ratios", share, least=0) for share in np.atleast_1d(self.l1_ratios).tolist()]
        if not shares or max(shares) > 1:
            raise ValueError(f"l1_ratios must be one or more numbers between 0 and 1, got {self.l1_ratios!r}")
        return shares

    def _search(self, problem: Problem, effort: Effort, plan: Plan) -> SearchResult:
        """The best of the searches with each share of l1."""
        if self.l1_ratios is None:
            return super()._search(problem, effort, plan)
        found = [search(with_penalty(problem, share), effort, plan) for share in self._shares()]
        return told_of_edge(max(found, key=lambda one: one.best_score))  # the first of equals

    def _keep(self, solutions: Sequence[Solution]) -> None:
        found, about = self._results, self._target.strategy.subjects(self.classes_.tolist())
        otherwise = {"l2": 0.0, "l1": 1.0}.get(*self._penalty())
        shares = {number: one.l1_ratio for number, one in found.items()}
        self.l1_ratio_ = np.array([shares.get(number, otherwise) for _, number in about])
        super()._keep(solutions)


def with_penalty(problem: Problem, share: float) -> Problem:
    """The problem with that share of l1 in its penalty."""
    return problem.with_penalty(make_penalty(*penalty_of(share)))


class LassoCV(Searching, Lasso):
    """`Lasso` that chooses alpha by cross-validation.

    Parameters
    ----------
    alphas : sequence of floats or int, optional
        The values to try, or how many down to a share `eps` of the first one. By default halving from one that leaves
        almost no feature.
    eps : float
        The smallest alpha as a share of the largest, where their number is given.
    cv : int, splitter or pairs of row numbers
        As in scikit-learn, except that a number means shuffled folds (by `random_state`).
    scoring : str or scorer
        scikit-learn's name of a score; the mean squared error, negated, by default.
    early_stopping : bool or EarlyStopping
        Whether smaller values are left out once the scores decline or the models settle.
    fit_intercept, tol, max_iter, solver, random_state, verbose, precompute, copy_X, positive, selection, memory
        As in `Lasso`.
    n_jobs : int, optional
        Threads over folds; -1 for all cores.

    Attributes
    ----------
    alpha_ : float
        The chosen value.
    alphas_ : array
        The values that were tried, descending.
    mse_path_ : array of shape (n_alphas, n_folds)
        The mean squared errors of the rows held out; present where `scoring` is that.
    searches_ : list of one SearchResult
        Its C is 1 / (2 S alpha), S the sum of the rows' weights.
    coef_, intercept_, certificate_, solution_, ...
        As in `Lasso`, fitted on all rows with the chosen alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import LassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 4))
    >>> model = LassoCV(alphas=[1.0, 0.1, 0.01]).fit(X, 2 * X[:, 0] + 0.1 * rng.standard_normal(60))
    >>> round(model.alpha_, 6)
    0.01
    """

    alpha: float = 1.0  # any value: the search replaces it
    l1_ratio: float = 1.0
    several_outputs: ClassVar[bool] = False  # one alpha is chosen for one column of targets

    def __init__(
        self,
        *,
        alphas: Any = None,
        eps: float = 1e-3,
        cv: Any = 5,
        scoring: Any = "neg_mean_squared_error",
        early_stopping: EarlyStopping | bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        precompute: Any = "auto",
        copy_X: bool = True,
        positive: bool = False,
        selection: str = "cyclic",
        memory: int | str | None = None,
    ) -> None:
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.scoring = scoring
        self.early_stopping = early_stopping
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory
        self.precompute = precompute
        self.copy_X = copy_X
        self.positive = positive
        self.selection = selection

    def _plan(self, problem: Problem, *, progress: bool) -> Plan:
        """alpha weighs the penalty against the mean loss: in a fold C grows as the rows become fewer."""
        self._total = float(problem.weights.sum()) / problem.C
        if isinstance(self.alphas, (int, np.integer)) and self.alphas >= 1:
            first = first_C(problem)
            Cs: Any = np.geomspace(first, first / as_number("eps", self.eps, above=0), int(self.alphas))
        else:
            Cs = None if self.alphas is None else [1 / (2 * self._total * alpha) for alpha in checked_Cs(self.alphas)]
        return Plan(
            Cs,
            self.cv,
            self.scoring,
            self._score_weights,
            self.early_stopping,
            mean_loss=True,
            progress=progress,
        )

    def _keep(self, solutions: Sequence[Solution]) -> None:
        super()._keep(solutions)
        total = self.__dict__.pop("_total")
        self.alpha_ = float(1 / (2 * total * self.C_[0]))
        self.alphas_ = 1 / (2 * total * self.searches_[0].Cs)
        if self.scoring == "neg_mean_squared_error":
            self.mse_path_ = -self.searches_[0].scores
