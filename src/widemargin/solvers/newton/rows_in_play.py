"""The rows that a Hessian sees: those with h_i != 0, copied side by side where many products with it are wanted.

Products pass over the rows in play and skip the others. In data that come from memory, each skip costs the latency of a
new place: with a third of the rows of mnist in play a product takes as long as with all of them. A copy of those rows
costs about two products and pays from the next ones on. The sums are the same for any number of threads, as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import _core
from ...vectors import Vector
from ..costs import CACHE, ENTRY, outgrows

if TYPE_CHECKING:
    from ...data.matrix import Matrix

# Of all rows, so many at the most are worth a copy, and of bytes; and from this product with the same h on.
MOST_COPIED = 0.6
MOST_BYTES_COPIED = 1e9
WORTH_A_COPY = 3


class RowsInPlay:
    """The rows of X and their h, for one product after another."""

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self._may_copy = outgrows(CACHE, X) and ENTRY * X.nnz * MOST_COPIED <= MOST_BYTES_COPIED
        self._h: Vector | None = None
        self._products = 0
        self._as_they_are = X.native_rows, np.empty(X.shape[0])
        self._copied: tuple[_core.Rows, Vector, Vector] | None = None

    def of(self, h: Vector) -> tuple[_core.Rows, Vector, Vector]:
        """Native rows, their h, and as much room for the product's parts."""
        if h is not self._h:
            self._h, self._products, self._copied = h, 0, None
        self._products += 1
        if self._may_copy and self._products == WORTH_A_COPY and np.count_nonzero(h) <= MOST_COPIED * len(h):
            chosen = np.flatnonzero(h)
            self._copied = self._X.take(chosen).native_rows, h[chosen], np.empty(len(chosen))
        if self._copied is not None:
            return self._copied
        rows, room = self._as_they_are
        return rows, h, room
