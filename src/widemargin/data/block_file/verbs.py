"""The verbs of `Rows` over rows that come in parts: each is a pass over the parts in their order.

Sums over rows are added up part by part, in place, so that no result depends on threads and no part needs a vector of
the size of the features of its own. Parts of which no row is needed are not read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...vectors import Vector
from ..kept import Owner, kept
from ..matrix import Matrix, as_table, as_vector
from ..rows import VERBS, Rows, Table


class RowsInParts:
    """Rows of which one part is in memory at a time."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    nnz: int
    owner: Owner
    offers: frozenset[str] = frozenset({VERBS})

    @abstractmethod
    def parts(self, needed: NDArray[Any] | None = None) -> Iterator[tuple[int, Matrix]]:
        """The parts in order, each with the number of its first row; only those with a row for which `needed` is not 0.

        `needed` has one line per row.
        """

    @property
    def centred(self) -> tuple[Rows, Vector] | None:
        """The rows less their means, and the means, where a feature is far from zero: None, for others must say."""
        return None

    def blocks(self) -> Iterator[tuple[int, Matrix]]:
        """All rows in parts that are in memory one at a time, each with the number of its first row."""
        return self.parts()

    def matvec(self, w: Any, intercept: float = 0.0, *, n_jobs: int = 1) -> Vector:
        """X w + intercept, one value per row."""
        w, z = as_vector("w", w), np.empty(self.shape[0])
        for first, X in self.parts():
            _core.matvec(X.native_rows, w, intercept, z[first : first + X.shape[0]], n_jobs)
        return z

    def rmatvec(self, u: Any, *, accurate: bool = False, n_jobs: int = 1) -> Vector:
        """X^T u, one value per feature; accurate: as if summed in twice the precision."""
        u, g = self._of_rows("u", u), np.zeros(self.shape[1])
        if accurate:
            return self._accurate_rmatvec(u, g)
        for first, X in self.parts(u):
            _core.rmatvec(X.native_rows, u[first : first + X.shape[0]], g, n_jobs)
        return g

    def _accurate_rmatvec(self, u: Vector, g: Vector) -> Vector:
        lost = np.zeros_like(g)
        for first, X in self.parts(u):
            _core.add_accurately(X.native_rows, u[first : first + X.shape[0]], g, lost)
        g += lost
        return g

    def matmat(self, W: Any, *, n_jobs: int = 1) -> Table:
        """X W, for W of features x classes."""
        W = as_table("W", W)
        Z = np.empty((self.shape[0], W.shape[1]))
        for first, X in self.parts():
            Z[first : first + X.shape[0]] = X.matmat(W, n_jobs=n_jobs)
        return Z

    def rmatmat(self, U: Any, *, n_jobs: int = 1) -> Table:
        """X^T U, for U of rows x classes."""
        U = as_table("U", U)
        g, k = np.zeros((self.shape[1], U.shape[1])), U.shape[1]
        for first, X in self.parts(U):
            part = U[first : first + X.shape[0]].reshape(-1)
            _core.class_adjoint(X.native_rows, part, k, 0.0, g.reshape(-1), n_jobs)
        return g

    def hess_vec(self, h: Vector, v: Vector, shift: float = 0.0, *, n_jobs: int = 1) -> tuple[Vector, float]:
        """X^T q and sum q for q = h (X v + shift); parts with h = 0 are not read."""
        h, v = self._of_rows("h", h), as_vector("v", v)
        g, total = np.zeros(self.shape[1]), 0.0
        for first, X in self.parts(h):
            room, part = np.empty(X.shape[0]), h[first : first + X.shape[0]]
            total += _core.hess_vec(X.native_rows, part, v, float(shift), room, g, n_jobs)
        return g, total

    def class_hess_vec(
        self, p: Table, weights: Vector, V: Table, shift: Any = 0.0, *, n_jobs: int = 1
    ) -> tuple[Table, Vector]:
        """X^T Q and the columns' sums of Q for q_i = weights_i (diag(p_i) - p_i p_i^T) (V^T x_i + shift)."""
        g, total = np.zeros_like(V), np.zeros(V.shape[1])
        for first, X in self.parts(weights):
            here = slice(first, first + X.shape[0])
            found = X.class_hess_vec(np.ascontiguousarray(p[here]), weights[here], V, shift, n_jobs=n_jobs)
            g += found[0]
            total += found[1]
        return g, total

    def column_sqnorms(self, h: Vector | None = None, *, n_jobs: int = 1) -> Vector:
        """sum_i h_i x_ij^2 per feature; h = 1 if it is not given."""
        h = np.ones(self.shape[0]) if h is None else self._of_rows("h", h)
        sums = np.zeros(self.shape[1])
        for first, X in self.parts(h):
            _core.weighted_column_sqnorms(X.native_rows, h[first : first + X.shape[0]], sums, n_jobs)
        return sums

    def class_column_sqnorms(self, H: Table, *, n_jobs: int = 1) -> Table:
        """sum_i h_ic x_ij^2, features x classes."""
        H = as_table("H", H)
        sums = np.zeros((self.shape[1], H.shape[1]))
        for first, X in self.parts(H):
            part = H[first : first + X.shape[0]].reshape(-1)
            _core.class_column_sqnorms(X.native_rows, part, H.shape[1], sums.reshape(-1))
        return sums

    def sandwich(
        self, h: Vector, columns: Any = None, constant: float = 0.0, *, out: Table | None = None, n_jobs: int = 1
    ) -> Table:
        """[X s]^T diag(h) [X s] of those features, added to `out` if given; summed in the pass."""
        order = (self.shape[1] if columns is None else len(columns)) + (constant != 0)
        square = np.zeros((order, order)) if out is None else out
        for first, X in self.parts(h):
            X.sandwich(h[first : first + X.shape[0]], columns, constant, out=square, n_jobs=n_jobs)
        return square

    def select(self, columns: Any) -> SelectedFeatures:
        """Those features, in that order, as rows that are made in the pass."""
        return SelectedFeatures(self, np.asarray(columns))

    def take(self, rows: Any) -> Matrix:
        """The rows of those numbers, in that order, in memory; parts without them are not read."""
        wanted = np.asarray(rows, dtype=np.int64)
        needed = np.zeros(self.shape[0], dtype=bool)
        needed[wanted] = True
        found = [X.take(np.flatnonzero(needed[first : first + X.shape[0]])) for first, X in self.parts(needed)]
        return joined(found, self.shape[1], self.dtype).take(np.searchsorted(np.flatnonzero(needed), wanted))

    def sample(self, n: int) -> tuple[NDArray[np.intp], Matrix]:
        """About n rows spread over all of them, or all if there are fewer: their numbers, and the rows in memory."""
        rows = self.shape[0]
        chosen = np.arange(0, rows, max(1, rows // max(1, n)))
        return chosen, kept(self.owner, f"sample of {n}", lambda: self.take(chosen))

    def _of_rows(self, name: str, values: Any) -> Vector:
        vector = as_vector(name, values)
        if len(vector) != self.shape[0]:
            raise ValueError(f"{name} has length {len(vector)}, expected {self.shape[0]}")
        return vector


class SelectedFeatures(RowsInParts):
    """Some features of rows in parts."""

    def __init__(self, whole: RowsInParts, columns: NDArray[Any]) -> None:
        self._whole, self._columns = whole, columns
        self.shape, self.dtype, self.owner = (whole.shape[0], len(columns)), whole.dtype, Owner()
        share = len(columns) / max(1, whole.shape[1])
        self.nnz = int(whole.nnz * share)  # about: what a pass costs is not worth a pass

    def parts(self, needed: NDArray[Any] | None = None) -> Iterator[tuple[int, Matrix]]:
        return ((first, X.select(self._columns)) for first, X in self._whole.parts(needed))


def joined(parts: list[Matrix], columns: int, dtype: np.dtype[Any]) -> Matrix:
    """Matrices as one, in memory."""
    import scipy.sparse as sp  # not needed before

    if not parts:
        return Matrix(sp.csr_array((1, columns), dtype=dtype)).take([])
    if not parts[0].is_sparse:
        return Matrix(np.concatenate([part.to_scipy() for part in parts]))
    return Matrix(sp.csr_array(sp.vstack([part.to_scipy() for part in parts], format="csr")))
