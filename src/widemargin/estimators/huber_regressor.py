"""Linear regression that outliers do not spoil, with scikit-learn's interface.

With s_i the rows' weights (one by default), scikit-learn's objective is one of ours in other units:

    sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |w|^2
    = 2 alpha ( 1/2 |w|^2 + sum_i C s_i (sigma + sigma H(r_i / sigma)) )                     C = 1 / (2 alpha)

with the scale sigma a variable like the others; _joint_scale.py has H, the dual and the method. alpha = 0 is solved as
the limit of a vanishing penalty (_unpenalised.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..multiclass.solving import Solve
from ..numbers import as_number
from ..solvers.base import Solver
from ..solvers.effort import Effort
from ._joint_scale import best_scale, with_scale
from ._regressor import LinearRegressor, require_not_negative
from ._shared import sample_weights
from ._unpenalised import without_penalty
from .least_squares import NOT_NEGATIVE


class HuberRegressor(LinearRegressor):
    """Linear regression with the Huber loss and its scale, fitted to a proven accuracy.

    Errors up to epsilon times the scale count squared, larger ones in proportion, so that outliers do not spoil the
    model; the scale is found with it. Minimises scikit-learn's objective until it is within a share `tol` of the best
    possible one.

    Parameters
    ----------
    epsilon : float
        At least 1: where errors, in units of the scale, begin to count as outliers.
    alpha : float
        Weight of the l2 penalty; 0 for none.
    fit_intercept : bool
    tol : float
        The relative duality gap to reach, of model and scale together: (primal - dual) / primal <= tol.
    max_iter : int, optional
        Most steps of a solver at one scale.
    solver, random_state, n_jobs, warm_start, verbose, memory
        As in `LinearSVC`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    scale_ : float
        The scale: |y - X coef_ - intercept_| is about this large for ordinary rows.
    outliers_ : array of bool of shape (rows,)
        The rows whose errors are larger than epsilon times the scale.
    certificate_, solution_, trace_, solver_, n_iter_
        As in `LinearSVC`; the certificate is of the objective divided by 2 alpha, scale included.

    Examples
    --------
    >>> from widemargin import HuberRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.1, 1.0, 1.9, 40.0, 3.9, 5.1]
    >>> model = HuberRegressor(tol=1e-6).fit(X, y)
    >>> model.coef_.round(1), model.outliers_
    (array([1.]), array([False, False, False,  True, False, False]))
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        alpha: float = 1e-4,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.memory = memory

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model and its scale.

        Parameters
        ----------
        X : matrix of shape (rows, features)
            Sparse or dense, float32 or float64 without a copy; data frames too; or a file, as in `LinearSVC`.
        y : array of shape (rows,)
            Numbers.
        sample_weight : array of shape (rows,), optional
            Weight of each row's loss; a weight of two counts as the row given twice.

        Returns
        -------
        self
        """
        X, y, sample_weight = self._given(X, y, sample_weight)
        super().fit(X, y, sample_weight)
        errors = np.asarray(column_or_1d(y), dtype=np.float64) - self.predict(X)
        weights = sample_weights(X, sample_weight)
        weights = np.ones_like(errors) if weights is None else weights
        self.scale_ = max(best_scale(errors, weights, float(self.epsilon)), float(np.finfo(np.float64).tiny))
        self.outliers_ = np.abs(errors) > self.epsilon * self.scale_
        return self

    def _problem_settings(self, total_weight: float, output: int = 0) -> dict[str, Any]:
        alpha = require_not_negative("alpha", self.alpha, NOT_NEGATIVE)
        return {
            "loss": "huber",
            "delta": as_number("epsilon", self.epsilon, least=1),
            "penalty": "l2",
            "C": 1 / (2 * alpha) if alpha > 0 else 1.0,
            "intercept": "free" if self.fit_intercept else "none",
        }

    def _effort(self) -> Effort:
        # Half of the gap is for the scale, and without a penalty half of that again for the penalty that is left.
        return replace(super()._effort(), tol=self.tol / (2 if self.alpha > 0 else 4))

    def _solver(self) -> Solve:
        solve = super()._solver()
        if self.alpha > 0:
            return with_scale(solve, self.epsilon, self.tol)
        return without_penalty(with_scale(solve, self.epsilon, self.tol / 2), self.tol, type(self).__name__)
