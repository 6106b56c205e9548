"""The rows that a Hessian sees: those with h_i != 0, copied side by side where many products with it are wanted.

Products pass over the rows in play and skip the others. In data that come from memory, each skip costs the latency of a
new place: with a third of the rows of mnist in play a product takes as long as with all of them. A copy of those rows
costs about two products and pays from the next ones on. The sums are the same for any number of threads, as ever.
"""

from __future__ import annotations

import numpy as np

from ..data.rows import IN_ORDER, Rows
from ..data.sizes import CACHE, ENTRY, outgrows
from ..vectors import Vector

# Of all rows, so many at the most are worth a copy, and of bytes; and from this product with the same h on.
MOST_COPIED = 0.6
MOST_BYTES_COPIED = 1e9
WORTH_A_COPY = 3


class RowsInPlay:
    """X and curvatures h of its rows, for one product X^T diag(h) X v after another."""

    def __init__(self, X: Rows, h: Vector) -> None:
        self._X, self._h = X, h
        self.count = int(np.count_nonzero(h))
        small = ENTRY * X.nnz * MOST_COPIED <= MOST_BYTES_COPIED and IN_ORDER in X.offers
        self._may_copy = small and outgrows(CACHE, X) and self.count <= MOST_COPIED * len(h)
        self._products = 0

    def hess_vec(self, v: Vector, shift: float, n_jobs: int) -> tuple[Vector, float]:
        """X^T q and sum q for q = h (X v + shift)."""
        self._products += 1
        if self._may_copy and self._products == WORTH_A_COPY:
            chosen = np.flatnonzero(self._h)
            self._X, self._h = self._X.take(chosen), self._h[chosen]
        return self._X.hess_vec(self._h, v, shift, n_jobs=n_jobs)
