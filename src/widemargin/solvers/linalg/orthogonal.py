"""Least squares |A x - b| by an orthogonal factorisation, where A^T A would lose the digits that matter.

The columns of data may lie many powers of ten apart, and an interior point adds as many of its own. The condition of
A^T A is the square of that of A: a Cholesky factor of the product knows nothing of what is below 1e-8 of the rest.
Householder's factors of A with its columns scaled to one length, its rows sorted by size and its columns pivoted, are
right row by row, however far apart their sizes are (Cox and Higham 1998).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...blas import limit_blas
from ...data.matrix import Matrix
from ...vectors import Vector

Dense = NDArray[np.float64]

# Entries of A, and of these times its columns, beyond which the factorisation takes too long: some seconds.
MOST_ENTRIES, MOST_WORK = 2e7, 4e9


def is_affordable(rows: int, columns: int) -> bool:
    """Whether a matrix of that shape can be factorised in a moment or two."""
    return rows * columns <= MOST_ENTRIES and rows * columns * columns <= MOST_WORK


def dense(X: Matrix) -> Dense:
    """The rows in float64, zeros included."""
    stored = X.to_scipy()
    return np.asarray(stored.toarray() if X.is_sparse else stored, dtype=np.float64)


class Orthogonal:
    """A = Q R, with A's columns scaled to one length and pivoted, and its rows sorted by size."""

    def __init__(self, A: Dense) -> None:
        from scipy.linalg import qr

        limit_blas()
        lengths = np.linalg.norm(A, axis=0)
        self._scale = 1 / np.where(lengths > 0, lengths, 1.0)
        A = A * self._scale
        self._sorted = np.argsort(-np.abs(A).max(axis=1), kind="stable")
        # Q as LAPACK keeps it: reflections, which are applied in a moment and never multiplied out.
        (self._raw, self._tau), self._R, self._order = qr(
            A[self._sorted], mode="raw", pivoting=True, overwrite_a=True, check_finite=False
        )
        self._R = self._R[: len(self._order)]
        diagonal = np.abs(np.diag(self._R))
        self.is_regular = bool(np.isfinite(diagonal).all() and diagonal.min(initial=1.0) > 0)

    def solve(self, b: Vector) -> Vector:
        """x for which |A x - b| is least."""
        from scipy.linalg import solve_triangular
        from scipy.linalg.lapack import dormqr

        turned, _, _ = dormqr("L", "T", self._raw, self._tau, b[self._sorted, np.newaxis], max(64, 64 * len(b)))
        found = np.empty_like(self._scale)
        found[self._order] = solve_triangular(self._R, turned[: len(found), 0], check_finite=False)
        return self._scale * found

    def solve_product(self, right: Vector) -> Vector:
        """x of A^T A x = right: exact to a few digits, to be refined."""
        from scipy.linalg import solve_triangular

        half = solve_triangular(self._R, (self._scale * right)[self._order], trans="T", check_finite=False)
        found = np.empty_like(right)
        found[self._order] = solve_triangular(self._R, half, check_finite=False)
        return self._scale * found
