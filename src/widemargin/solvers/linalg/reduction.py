"""Fewer features for rows that are fewer still: with l2 the best w lies in the span of the rows.

    X^T = Q R          X w = R^T q,  |w| = |q|    for  w = Q q

The problem over R^T, a square matrix, has the same objective, the same dual point and the same gap. R of rows sorted by
size and columns pivoted is graded like the data (see orthogonal.py): features many powers of ten apart stay apart.
"""

from __future__ import annotations

import numpy as np

from ...blas import limit_blas
from ...data.matrix import Matrix
from ...vectors import Vector
from .orthogonal import Dense, dense


class Reduction:
    """The rows over as many features as there are rows, and the way back."""

    def __init__(self, X: Matrix) -> None:
        from scipy.linalg import qr

        limit_blas()
        turned = dense(X).T
        self._sorted = np.argsort(-np.abs(turned).max(axis=1), kind="stable")
        self._Q: Dense
        self._Q, R, order = qr(turned[self._sorted], mode="economic", pivoting=True, check_finite=False)
        rows = np.empty((len(order), len(R)))
        rows[order] = R.T
        self.X = Matrix(rows)

    def back(self, q: Vector) -> Vector:
        """w = Q q"""
        w = np.empty(len(self._sorted))
        w[self._sorted] = self._Q @ q
        return w
