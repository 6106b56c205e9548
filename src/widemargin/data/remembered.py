"""A matrix that remembers its last products.

Along C the same product is wanted again and again: of the point where one value ended, by its certificate, by the
score of the rows held out, by the certificate of the same point as a start of the next value, and by the solver that
starts there. Comparing two coefficient vectors costs nothing against a pass over the data. What is remembered also
tells the product of a sum of two vectors, which is where a Newton step leads, and of a vector with its signs turned,
which is how a gradient becomes a dual point.
"""

from __future__ import annotations

from collections import deque
from itertools import combinations
from typing import Any

import numpy as np

from .. import _core
from ..vectors import Vector
from .matrix import Matrix, as_vector

Products = deque[tuple[Vector, Vector]]  # what was multiplied, and the product

# The end of the last value, the point at hand and the direction from there.
KEPT = 3
# Vectors are compared in about so many places before they are compared in all.
PROBES = 16
# Vectors whose entries differ by less than this share of the largest are the same.
ROUNDING = 1e-15


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
        self.notes = {}
        self._forward: Products = deque(maxlen=KEPT)
        self._backward: Products = deque(maxlen=KEPT)

    @property
    def native_columns(self) -> _core.Rows:
        """The columns of the matrix it looks at, so that they are built once for all who share it."""
        return self._base.native_columns

    @property
    def compact_rows(self) -> tuple[_core.Rows, Vector]:
        """The compact rows of the matrix it looks at, built once for all who share it."""
        return self._base.compact_rows

    @property
    def centred(self) -> tuple[Matrix, Vector] | None:
        """The centred rows of the matrix it looks at, built once for all who share it."""
        return self._base.centred

    def take(self, rows: Any) -> Matrix:
        """Those rows as a matrix that remembers nothing."""
        return self._base.take(rows)

    def matvec(self, w: Any, intercept: float = 0.0, *, n_jobs: int = 1) -> Vector:
        """X w + intercept, from memory if w was there lately."""
        w = as_vector("w", w)
        z = _recalled(self._forward, w)
        if z is None:
            z = _sum_recalled(self._forward, w)  # not remembered itself, lest rounding add up from sum to sum
        if z is None:
            z = super().matvec(w, n_jobs=n_jobs)
            self._forward.append((w.copy(), z))
        return z + intercept

    def remember(self, w: Vector, z: Vector) -> None:
        """Takes note of z = X w."""
        self._forward.append((w, z))

    def remember_adjoint(self, u: Vector, g: Vector) -> None:
        """Takes note of g = X^T u."""
        self._backward.append((u, g))

    def rmatvec(self, u: Any, *, accurate: bool = False, n_jobs: int = 1) -> Vector:
        """X^T u, from memory if u was there lately."""
        if accurate:
            return super().rmatvec(u, accurate=True)
        u = as_vector("u", u)
        g = _recalled(self._backward, u)
        if g is not None:
            return g.copy()
        turned = _recalled(self._backward, -u)
        if turned is not None:
            return -turned
        g = super().rmatvec(u, n_jobs=n_jobs)
        self._backward.append((u.copy(), g))
        return g.copy()


def _recalled(products: Products, factor: Vector) -> Vector | None:
    some = _some(factor)
    for known, product in products:
        if _same(_some(known), some) and _same(known, factor):
            return product
    return None


def _same(known: Vector, factor: Vector, scale: Vector | None = None) -> bool:
    """Equal entry by entry, but for the rounding of the last digit: sums are made in one order or another.

    Each entry counts for itself: a small one may belong to a column of huge values.
    """
    return bool((np.abs(known - factor) <= ROUNDING * np.abs(known if scale is None else scale)).all())


def _sum_recalled(products: Products, factor: Vector) -> Vector | None:
    """The product of a vector that is the sum of two of those remembered, up to the sum's own rounding."""
    some = _some(factor)
    for (one, its_product), (other, others_product) in combinations(products, 2):
        if _is_sum(_some(one), _some(other), some) and _is_sum(one, other, factor):
            product: Vector = its_product + others_product
            return product
    return None


def _is_sum(one: Vector, other: Vector, factor: Vector) -> bool:
    return _same(one + other, factor, np.abs(one) + np.abs(other))


def _some(vector: Vector) -> Vector:
    return vector[:: max(1, len(vector) // PROBES)]
