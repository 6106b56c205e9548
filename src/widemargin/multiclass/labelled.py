"""Rows with their classes and weights: what a method is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..data.rows import Rows
from ..vectors import Vector

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Labelled:
    """Rows with the number of each row's class; for labels that exclude nothing, one column of 0 and 1 per label.

    `own_factors` are LIBLINEAR's weights of classes, one per class: they multiply C in the rows of the class, but where
    one class is told from the rest, in the rows of that one alone.
    """

    X: Rows
    codes: NDArray[np.intp]
    classes: Sequence[Any] | NDArray[Any]
    weights: Vector | Table | None = None  # per row, or one column per label
    own_factors: Vector | None = None

    @property
    def common_weights(self) -> Vector | None:
        """What multiplies C in each row of a model that knows the rows' classes."""
        return self._times(None if self.own_factors is None else self.own_factors[self.codes])

    def weights_of(self, model: int) -> Vector | None:
        """What multiplies C in each row, where one class (or label) is told from the rest."""
        if self.weights is not None and self.weights.ndim > 1:
            return self.weights[:, model]
        if self.own_factors is None:
            return self.weights
        return self._times(np.where(self.codes == model, self.own_factors[model], 1.0))

    @property
    def weighs_alike(self) -> bool:
        """Whether every model of one against the rest gives a row the same weight."""
        return self.own_factors is None and (self.weights is None or self.weights.ndim == 1)

    def _times(self, factors: Vector | None) -> Vector | None:
        if factors is None or self.weights is None:
            return self.weights if factors is None else factors
        return self.weights * factors

    def taken(self, rows: NDArray[np.intp]) -> Self:
        """Those rows alone, copied; the classes stay as many."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X.take(rows), codes=self.codes[rows], weights=weights)

    def restricted(self, rows: NDArray[np.intp]) -> Self:
        """All rows, shared in memory, of which only the given ones count."""
        counts = np.zeros(len(self.codes))
        counts[rows] = 1.0
        return replace(self, weights=self._times(counts))
