"""Linear regressors: numbers in, one model, numbers out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from ..data.matrix import Matrix
from ..objective.labels import real_targets
from ..objective.problem import Problem
from ._linear import LinearModel
from ._shared import sample_weights, validated

Vector = NDArray[np.float64]


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]
    """Predicts x . coef_ + intercept_. Subclasses hold the parameters and say what problem they stand for."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : matrix of shape (rows, features)
            Sparse or dense, float32 or float64 without a copy; data frames too.
        y : array of shape (rows,)
            Numbers.
        sample_weight : array of shape (rows,), optional
            Weight of each row's loss; a weight of two counts as the row given twice.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: a regressor learns from numbers")
        X = validated(self, X, fitting=True)
        targets = real_targets(column_or_1d(y, warn=True), X.shape[0])
        weights = sample_weights(X, sample_weight)
        total = float(len(targets) if weights is None else weights.sum())
        problem = Problem(Matrix(X), targets, sample_weight=weights, **self._problem_settings(total))
        starts = self._starts(X.shape[1])
        solution = self._solver()(problem, starts[0] if starts else None, self._threads())
        self.coef_ = solution.coef
        self.intercept_ = solution.intercept
        self._keep([solution])
        return self

    def _problem_settings(self, total_weight: float) -> dict[str, Any]:
        """The keyword arguments of `Problem`; total_weight is the sum of the rows' weights."""
        raise NotImplementedError

    def predict(self, X: Any) -> Vector:
        """The value predicted for each row.

        Parameters
        ----------
        X : matrix of shape (rows, features)

        Returns
        -------
        array of shape (rows,)
        """
        return self._scores(X)[:, 0]


def require_positive(name: str, value: float, instead: str) -> float:
    """Refuses a number that is not above zero, saying what to do instead."""
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}: {instead}")
    return float(value)
