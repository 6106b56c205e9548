"""Linear regressors: numbers in, one model, numbers out."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from ..multiclass.parts import Part
from ..multiclass.solving import Ask, solve_models
from ..objective.labels import real_targets
from ..objective.problem import Problem
from ..objective.weighted_rows import as_rows
from ..vectors import Vector
from ._linear import LinearModel
from ._shared import sample_weights, validated


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]
    """Predicts x . coef_ + intercept_. Subclasses hold the parameters and say what problem they stand for."""

    intercept_: Any
    several_outputs: ClassVar[bool] = False  # whether y may have a column for each of several outputs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : matrix of shape (rows, features)
            Sparse or dense, float32 or float64 without a copy; data frames too. Or a file, which brings labels and
            weights along: a `BlockFile`, for data larger than memory, or the path of LIBSVM text, of .npz or of a file
            of blocks, whose rows are read into memory if they fit.
        y : array of shape (rows,), or for least squares (rows, outputs)
            Numbers; each output gets a model of its own.
        sample_weight : array of shape (rows,), optional
            Weight of each row's loss; a weight of two counts as the row given twice.

        Returns
        -------
        self
        """
        X, y, sample_weight = self._given(X, y, sample_weight)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: a regressor learns from numbers")
        X = validated(self, X, fitting=True)
        columns = self._columns(y, X.shape[0])
        weights = sample_weights(X, sample_weight)
        total = float(X.shape[0] if weights is None else weights.sum())
        starts, rows = self._starts(X.shape[1]), as_rows(X)
        starts = starts if len(starts) == len(columns) else ()

        def part(k: int) -> Part:
            return Part(lambda: Problem(rows, columns[k], sample_weight=weights, **self._problem_settings(total, k)))

        ask = Ask(self._effort(), starts, self._solver(), self._watch())
        found = solve_models([part(k) for k in range(len(columns))], X.shape[1], ask)
        self.coef_, self.intercept_ = found.coef, found.intercept
        if self._one_column(y):
            self.coef_, self.intercept_ = found.solutions[0].coef, float(found.intercept[0])
        self._keep(found.solutions)
        self._report_end(found.problem)
        return self

    def _columns(self, y: Any, rows: int) -> list[Vector]:
        """The targets, one vector per output."""
        if self._one_column(y):
            return [real_targets(column_or_1d(y, warn=not self.several_outputs), rows)]
        return [real_targets(column, rows) for column in np.asarray(y).T]

    def _one_column(self, y: Any) -> bool:
        """Whether there is one output, and no table of outputs was given."""
        shape = np.asarray(y).shape
        return not self.several_outputs or len(shape) < 2 or shape[1] == 1

    def _problem_settings(self, total_weight: float, output: int = 0) -> dict[str, Any]:
        """The keyword arguments of `Problem`; total_weight is the sum of the rows' weights."""
        raise NotImplementedError

    def predict(self, X: Any) -> Vector:
        """The value predicted for each row.

        Parameters
        ----------
        X : matrix of shape (rows, features)

        Returns
        -------
        array of shape (rows,) or (rows, outputs)
        """
        scores = self._scores(X)
        return scores[:, 0] if np.ndim(self.intercept_) == 0 else scores

    def densify(self) -> Self:
        """Makes `coef_` a NumPy array again.

        Returns
        -------
        self
        """
        super().densify()
        if np.ndim(self.intercept_) == 0:
            self.coef_ = self.coef_.ravel()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.several_outputs
        return tags


def require_not_negative(name: str, value: float, instead: str) -> float:
    """Refuses a number below zero or not finite, saying what to do instead."""
    if not (np.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}: {instead}")
    return float(value)
