"""Quantile regression with scikit-learn's interface.

With s_i the rows' weights (one by default) and S their sum, scikit-learn's objective is one of ours in other units:

    1/S sum_i s_i pinball_q(y_i - x_i . w - b) + alpha |w|_1
    = alpha ( |w|_1 + sum_i C s_i pinball_q(y_i - x_i . w - b) )                             C = 1 / (alpha S)

where pinball_q(r) is q r above zero and (q - 1) r below: the loss "quantile". alpha = 0 is solved as the limit of a
vanishing l2 penalty (_unpenalised.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..multiclass.solving import Solve
from ..solvers.base import Solver
from ..solvers.effort import Effort
from ._regressor import LinearRegressor, require_not_negative
from ._unpenalised import without_penalty
from .least_squares import NOT_NEGATIVE


class QuantileRegressor(LinearRegressor):
    """Linear regression of a quantile with an l1 penalty, fitted to a proven accuracy.

    Minimises 1/n sum_i pinball(y_i - x_i . w - b) + alpha |w|_1, scikit-learn's objective, until it is within a share
    `tol` of the best possible one. A share `quantile` of the targets then lies below the predictions.

    Parameters
    ----------
    quantile : float in (0, 1)
        The quantile that is predicted; 0.5 is the median.
    alpha : float
        Weight of the l1 penalty; 0 for none.
    fit_intercept : bool
    tol : float
        The relative duality gap to reach: (primal - dual) / primal <= tol.
    max_iter, solver, random_state, n_jobs, warm_start, verbose, memory
        As in `LinearSVC`.
    solver_options : dict, optional
        Accepted for scikit-learn's sake; its solvers are not used.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    certificate_, solution_, trace_, solver_, n_iter_
        As in `LinearSVC`; the certificate is of the objective divided by alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import QuantileRegressor
    >>> x = np.random.default_rng(0).uniform(0, 1, (500, 1))
    >>> y = x[:, 0] * np.random.default_rng(1).uniform(0, 1, 500)
    >>> model = QuantileRegressor(quantile=0.8, alpha=0).fit(x, y)
    >>> round(float(np.mean(y <= model.predict(x))), 2)
    0.8
    """

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        solver_options: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.solver_options = solver_options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.memory = memory

    def _problem_settings(self, total_weight: float, output: int = 0) -> dict[str, Any]:
        alpha = require_not_negative("alpha", self.alpha, NOT_NEGATIVE)
        return {
            "loss": "quantile",
            "q": self.quantile,
            "penalty": "l1" if alpha > 0 else "l2",
            "C": 1 / (alpha * total_weight) if alpha > 0 else 1.0,
            "intercept": "free" if self.fit_intercept else "none",
        }

    def _effort(self) -> Effort:
        effort = super()._effort()
        return replace(effort, tol=self.tol / 2) if self.alpha == 0 else effort

    def _solver(self) -> Solve:
        solve = super()._solver()
        return without_penalty(solve, self.tol, type(self).__name__) if self.alpha == 0 else solve
