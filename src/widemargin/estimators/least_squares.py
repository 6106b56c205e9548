"""Least squares with a penalty: Ridge, Lasso and ElasticNet, with scikit-learn's objectives.

They are one problem of ours in other units. With s_i the rows' weights (one by default) and S their sum,

    Ridge        sum_i s_i r_i^2 + alpha |w|^2
                 = 2 alpha ( 1/2 |w|^2 + sum_i C s_i r_i^2 )                                 C = 1 / (2 alpha)
    ElasticNet   1/(2 S) sum_i s_i r_i^2 + alpha (rho |w|_1 + (1 - rho)/2 |w|^2)
                 = alpha ( rho |w|_1 + (1 - rho)/2 |w|^2 + sum_i C s_i r_i^2 )               C = 1 / (2 alpha S)
    Lasso        ElasticNet with rho = 1

so the certificate's objective is scikit-learn's divided by 2 alpha or by alpha, and the relative gap is the same.
alpha = 0 is plain least squares, solved as the limit of a vanishing l2 penalty (_unpenalised.py). Several columns of
targets are as many problems over the same rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..multiclass.solving import Solve
from ..solvers.base import Solver
from ..solvers.effort import Effort
from ..vectors import Vector
from ._regressor import LinearRegressor, require_not_negative
from ._shared import require_not_positive
from ._unpenalised import without_penalty

NOT_NEGATIVE = "a penalty cannot be negative; 0 means none at all"


class _LeastSquares(LinearRegressor):
    """The squared loss, and the parameters that all three share."""

    several_outputs = True

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        positive: bool = False,
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.memory = memory

    def _squared(self, penalty: str, C: float, l1_ratio: float = 0.0) -> dict[str, Any]:
        intercept = "free" if self.fit_intercept else "none"
        return {"loss": "squared", "penalty": penalty, "C": C, "l1_ratio": l1_ratio, "intercept": intercept}

    def _alpha(self, output: int = 0) -> float:
        alpha = self.alpha if np.ndim(self.alpha) == 0 else self.alpha[output]
        return require_not_negative("alpha", alpha, NOT_NEGATIVE)

    def _is_unpenalised(self) -> bool:
        return bool(np.all(np.asarray(self.alpha) == 0))

    def _effort(self) -> Effort:
        require_not_positive(self.positive, type(self).__name__)
        effort = super()._effort()
        return replace(effort, tol=self.tol / 2) if self._is_unpenalised() else effort

    def _solver(self) -> Solve:
        solve = super()._solver()
        return without_penalty(solve, self.tol, type(self).__name__) if self._is_unpenalised() else solve


class _Sparse(_LeastSquares):
    """What Lasso and ElasticNet share."""

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        positive: bool = False,
        selection: str = "cyclic",
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.precompute = precompute
        self.selection = selection
        super().__init__(
            alpha,
            fit_intercept=fit_intercept,
            copy_X=copy_X,
            positive=positive,
            tol=tol,
            max_iter=max_iter,
            solver=solver,
            random_state=random_state,
            n_jobs=n_jobs,
            warm_start=warm_start,
            verbose=verbose,
            memory=memory,
        )

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse array of one row."""
        return sp.csr_array(np.atleast_2d(self.coef_))

    def _mixed(self, l1_ratio: float, total_weight: float) -> dict[str, Any]:
        # At both ends of the mixture it has a name of its own, under which more solvers take it.
        penalty = {0.0: "l2", 1.0: "l1"}.get(float(l1_ratio), "elasticnet")
        alpha = self._alpha()
        if alpha == 0:
            return self._squared("l2", 1.0)
        # Where no row counts at all, Problem says so.
        return self._squared(penalty, 1 / (2 * alpha * total_weight) if total_weight > 0 else 1.0, l1_ratio)


class Ridge(_LeastSquares):
    """Least squares with an l2 penalty, fitted to a proven accuracy.

    Minimises sum_i weight_i (y_i - x_i . w - b)^2 + alpha |w|^2 until the objective is within a share `tol` of the
    best possible one.

    Parameters
    ----------
    alpha : float, or one for each output
        Weight of the penalty; 0 is plain least squares.
    fit_intercept : bool
        Whether the model has an intercept b; it is not penalised.
    copy_X : bool
        Taken for scikit-learn's sake, and of no effect: X is never written into.
    positive : bool
        Must be False: coefficients of either sign.
    tol : float
        The relative duality gap to reach: (primal - dual) / primal <= tol.
    max_iter, solver, random_state, n_jobs, warm_start, verbose, memory
        As in `LinearSVC`.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_outputs, n_features)
    intercept_ : float, or array of shape (n_outputs,)
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

    def _columns(self, y: Any, rows: int) -> list[Vector]:
        columns = super()._columns(y, rows)
        if np.ndim(self.alpha) > 0 and len(self.alpha) != len(columns):
            raise ValueError(f"alpha has {len(self.alpha)} values, y has {len(columns)} outputs: give one for each")
        return columns

    def _problem_settings(self, total_weight: float, output: int = 0) -> dict[str, Any]:
        alpha = self._alpha(output)
        if alpha == 0 and not self._is_unpenalised():
            raise ValueError("alpha is 0 for some outputs and not for others: fit those with 0 by themselves")
        return self._squared("l2", 1 / (2 * alpha) if alpha > 0 else 1.0)


class ElasticNet(_Sparse):
    """Least squares with a mixture of l1 and l2, fitted to a proven accuracy.

    Minimises, with S the number of rows (or the sum of their weights), until the objective is within a share `tol` of
    the best possible one,

        1/(2 S) sum_i weight_i (y_i - x_i . w - b)^2 + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio)/2 |w|^2

    Parameters
    ----------
    alpha : float
        Weight of the penalty; 0 is plain least squares.
    l1_ratio : float
        Share of l1: 0 is l2 alone, 1 is the Lasso.
    fit_intercept : bool
        Whether the model has an intercept b; it is not penalised.
    precompute, copy_X, selection
        Taken for scikit-learn's sake, and of no effect: how to compute is the solver's business.
    positive : bool
        Must be False: coefficients of either sign.
    tol : float
        The relative duality gap to reach: (primal - dual) / primal <= tol.
    max_iter, solver, random_state, n_jobs, warm_start, verbose, memory
        As in `LinearSVC`.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_outputs, n_features)
    sparse_coef_ : sparse array of shape (n_outputs, n_features)
    intercept_ : float, or array of shape (n_outputs,)
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
        precompute: Any = False,
        copy_X: bool = True,
        positive: bool = False,
        selection: str = "cyclic",
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.l1_ratio = l1_ratio
        super().__init__(
            alpha,
            fit_intercept=fit_intercept,
            precompute=precompute,
            copy_X=copy_X,
            positive=positive,
            selection=selection,
            tol=tol,
            max_iter=max_iter,
            solver=solver,
            random_state=random_state,
            n_jobs=n_jobs,
            warm_start=warm_start,
            verbose=verbose,
            memory=memory,
        )

    def _problem_settings(self, total_weight: float, output: int = 0) -> dict[str, Any]:
        return self._mixed(self.l1_ratio, total_weight)


class Lasso(_Sparse):
    """Least squares with an l1 penalty, which leaves few coefficients different from zero.

    Minimises 1/(2 S) sum_i weight_i (y_i - x_i . w - b)^2 + alpha |w|_1, with S the number of rows (or the sum of
    their weights), until the objective is within a share `tol` of the best possible one.

    Parameters
    ----------
    alpha : float
        Weight of the penalty; 0 is plain least squares.
    fit_intercept, precompute, copy_X, positive, selection, tol, max_iter, solver, random_state, n_jobs, warm_start, \
verbose, memory
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

    def _problem_settings(self, total_weight: float, output: int = 0) -> dict[str, Any]:
        return self._mixed(1.0, total_weight)
