"""A matrix that remembers its last products.

Along C the same product is wanted again and again: of the point where one value ended, by its certificate, by the
score of the rows held out, by the certificate of the same point as a start of the next value, and by the solver that
starts there. Comparing two coefficient vectors costs nothing against a pass over the data.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.matrix import Matrix, as_vector

Vector = NDArray[np.float64]
Products = deque[tuple[Vector, Vector]]  # what was multiplied, and the product

# The end of the last value and the point at hand.
KEPT = 2


class RememberingMatrix(Matrix):
    """The rows of another matrix, shared, with the last products of either side kept. For one thread at a time.

    Parameters
    ----------
    X : Matrix
    """

    def __init__(self, X: Matrix) -> None:
        super().__init__(X)
        self._base = X
        self.kept_gram = X.kept_gram
        self._forward: Products = deque(maxlen=KEPT)
        self._backward: Products = deque(maxlen=KEPT)

    @property
    def columns(self) -> _core.Rows:
        """The columns of the matrix it looks at, so that they are built once for all who share it."""
        return self._base.columns

    @property
    def compact_rows(self) -> tuple[_core.Rows, Vector]:
        """The same of its compact rows."""
        return self._base.compact_rows

    @property
    def centred(self) -> tuple[Matrix, Vector] | None:
        """The same of its centred rows."""
        return self._base.centred

    def take(self, rows: Any) -> Matrix:
        """Those rows as a matrix that remembers nothing."""
        return self._base.take(rows)

    def matvec(self, w: Any, intercept: float = 0.0, n_jobs: int = 1) -> Vector:
        """X w + intercept, from memory if w was there lately."""
        w = as_vector("w", w)
        z = _recalled(self._forward, w)
        if z is None:
            z = super().matvec(w, n_jobs=n_jobs)
            self._forward.append((w.copy(), z))
        return z + intercept

    def rmatvec(self, u: Any, n_jobs: int = 1) -> Vector:
        """X^T u, from memory if u was there lately."""
        u = as_vector("u", u)
        g = _recalled(self._backward, u)
        if g is None:
            g = super().rmatvec(u, n_jobs=n_jobs)
            self._backward.append((u.copy(), g))
        return g.copy()


def _recalled(products: Products, factor: Vector) -> Vector | None:
    return next((product for known, product in products if np.array_equal(known, factor)), None)
