"""Wide data as data with as many features as rows: exact where the penalty is l2.

    X = X' Q^T, Q with orthonormal columns;     w = Q w',  |w| = |w'|,  X w = X' w',  |X^T v| = |X'^T v|

With l2 the optimal weights lie in the span of the rows, so the problem over X' is the same one. X^T = Q R by
Householder's method with the features sorted by size and the rows scaled and pivoted, so that a feature's error is in
proportion to that feature, however far apart their sizes are (Cox and Higham 1998).
"""

from __future__ import annotations

import numpy as np

from ...blas import limit_blas
from ...data.matrix import Matrix
from .orthogonal import Dense, dense


class Reduction:
    """X' and the way back from weights over it."""

    def __init__(self, X: Matrix) -> None:
        from scipy.linalg import qr

        limit_blas()
        A = dense(X).T
        sizes = np.abs(A).max(axis=0)
        scale = np.where(sizes > 0, sizes, 1.0)
        A = A / scale
        by_size = np.argsort(-np.abs(A).max(axis=1), kind="stable")
        Q, R, order = qr(A[by_size], mode="economic", pivoting=True, overwrite_a=True, check_finite=False)
        self._Q = np.empty_like(Q)
        self._Q[by_size] = Q
        rows = np.empty((len(order), R.shape[0]))
        rows[order] = R.T
        self.X = Matrix(rows * scale[:, np.newaxis])

    def back(self, W: Dense) -> Dense:
        """The weights over all features, one column or several."""
        found: Dense = self._Q @ W
        return found
