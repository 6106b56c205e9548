"""Least squares with a penalty: Ridge, Lasso and ElasticNet, with scikit-learn's objectives.

They are one problem of ours in other units. With s_i the rows' weights (one by default) and S their sum,

    Ridge        sum_i s_i r_i^2 + alpha |w|^2
                 = 2 alpha ( 1/2 |w|^2 + sum_i C s_i r_i^2 )                                 C = 1 / (2 alpha)
    ElasticNet   1/(2 S) sum_i s_i r_i^2 + alpha (rho |w|_1 + (1 - rho)/2 |w|^2)
                 = alpha ( rho |w|_1 + (1 - rho)/2 |w|^2 + sum_i C s_i r_i^2 )               C = 1 / (2 alpha S)
    Lasso        ElasticNet with rho = 1

so the certificate's objective is scikit-learn's divided by 2 alpha or by alpha, and the relative gap is the same.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from ..solvers.base import Solver
from ._regressor import LinearRegressor, require_positive

NO_PENALTY = "without a penalty there is no bound to prove how good a model is; use a small alpha, such as 1e-6"


class Ridge(LinearRegressor):
    """Least squares with an l2 penalty, fitted to a proven accuracy.

    Minimises sum_i weight_i (y_i - x_i . w - b)^2 + alpha |w|^2 until the objective is within a share `tol` of the
    best possible one.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, above zero.
    fit_intercept : bool
        Whether the model has an intercept b; it is not penalised.
    tol : float
        The relative duality gap to reach: (primal - dual) / primal <= tol.
    max_iter, solver, random_state, n_jobs, warm_start, verbose
        As in `LinearSVC`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    certificate_ : Certificate
        Of the objective divided by 2 alpha.
    solution_, trace_, solver_, n_iter_
        As in `LinearSVC`.

    Examples
    --------
    >>> from widemargin import Ridge
    >>> model = Ridge(alpha=2.0, tol=1e-9).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([1.]), 2.0)
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose

    def _problem_settings(self, total_weight: float) -> dict[str, Any]:
        alpha = require_positive("alpha", self.alpha, NO_PENALTY)
        return {
            "loss": "squared",
            "penalty": "l2",
            "C": 1 / (2 * alpha),
            "intercept": "free" if self.fit_intercept else "none",
        }


class ElasticNet(LinearRegressor):
    """Least squares with a mixture of l1 and l2, fitted to a proven accuracy.

    Minimises, with S the number of rows (or the sum of their weights), until the objective is within a share `tol` of
    the best possible one,

        1/(2 S) sum_i weight_i (y_i - x_i . w - b)^2 + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio)/2 |w|^2

    Parameters
    ----------
    alpha : float
        Weight of the penalty, above zero.
    l1_ratio : float
        Share of l1: 0 is l2 alone, 1 is the Lasso.
    fit_intercept : bool
        Whether the model has an intercept b; it is not penalised.
    tol : float
        The relative duality gap to reach: (primal - dual) / primal <= tol.
    max_iter, solver, random_state, n_jobs, warm_start, verbose
        As in `LinearSVC`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    sparse_coef_ : sparse array of shape (1, n_features)
    intercept_ : float
    certificate_ : Certificate
        Of the objective divided by alpha.
    solution_, trace_, solver_, n_iter_
        As in `LinearSVC`.

    Examples
    --------
    >>> from widemargin import ElasticNet
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> ElasticNet(alpha=0.1, tol=1e-9).fit(X, [0.0, 2.0, 4.0, 6.0]).coef_.round(3)
    array([1.885, 0.   ])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse array of one row."""
        return sp.csr_array(self.coef_.reshape(1, -1))

    def _problem_settings(self, total_weight: float) -> dict[str, Any]:
        alpha = require_positive("alpha", self.alpha, NO_PENALTY)
        # At both ends of the mixture it has a name of its own, under which more solvers take it.
        penalty = {0.0: "l2", 1.0: "l1"}.get(float(self.l1_ratio), "elasticnet")
        return {
            "loss": "squared",
            "penalty": penalty,
            "l1_ratio": self.l1_ratio,
            "C": 1 / (2 * alpha * total_weight) if total_weight > 0 else 1.0,  # no weight at all: Problem says so
            "intercept": "free" if self.fit_intercept else "none",
        }


class Lasso(ElasticNet):
    """Least squares with an l1 penalty, which leaves few coefficients different from zero.

    Minimises 1/(2 S) sum_i weight_i (y_i - x_i . w - b)^2 + alpha |w|_1, with S the number of rows (or the sum of
    their weights), until the objective is within a share `tol` of the best possible one.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, above zero.
    fit_intercept, tol, max_iter, solver, random_state, n_jobs, warm_start, verbose
        As in `ElasticNet`.

    Attributes
    ----------
    coef_, sparse_coef_, intercept_, certificate_, solution_, trace_, solver_, n_iter_
        As in `ElasticNet`.

    Examples
    --------
    >>> from widemargin import Lasso
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> Lasso(alpha=0.5, tol=1e-9).fit(X, [0.0, 2.0, 4.0, 6.0]).coef_.round(3)
    array([1.6, 0. ])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
    ) -> None:
        super().__init__(
            alpha,
            l1_ratio=1.0,
            fit_intercept=fit_intercept,
            tol=tol,
            max_iter=max_iter,
            solver=solver,
            random_state=random_state,
            n_jobs=n_jobs,
            warm_start=warm_start,
            verbose=verbose,
        )
