"""One validated, immutable view of whatever the user has."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..vectors import Vector
from .frames import column_names, dense_from_frame, is_frame, sparse_from_frame
from .input_arrays import as_array, compressed_rows, has_contiguous_rows, named, storage_dtype, through_coordinates
from .kept import Owner, kept
from .rows import COLUMNS, GRAM, IN_ORDER, VERBS, Rows, Table
from .sizes import ENTRY
from .sparse_rows import CompressedRows, is_sparse

MOST_COLUMNS = 2**31 - 2


class Matrix:
    """A sparse or dense matrix of float32 or float64, checked once, ready for passes over its rows.

    Accepts SciPy sparse matrices and arrays, NumPy arrays, lists, and data frames (pandas, polars, pyarrow).
    float32 stays float32, every other real type becomes float64. Input that is already right is not copied: do
    not write into it while the matrix lives.

    Parameters
    ----------
    X : matrix of shape (rows, columns)

    Examples
    --------
    >>> from widemargin import Matrix
    >>> X = Matrix([[1.0, 0.0], [0.5, 2.0]])
    >>> X
    Matrix(2 x 2, dense float64)
    >>> X.matvec([1.0, 10.0])
    array([ 1. , 20.5])
    """

    def __init__(self, X: Any) -> None:
        self.feature_names: list[str] | None = None
        self.owner = Owner()  # for whom things made from these rows are kept
        self._columns: _core.Rows | None = None  # as they were given
        if isinstance(X, Matrix):
            self.__dict__.update(X.__dict__)
            return
        if is_frame(X):
            self.feature_names = column_names(X)
            sparse = sparse_from_frame(X)
            X = dense_from_frame(X) if sparse is None else sparse
        if isinstance(X, CompressedRows):
            self._from_compressed(X)
        elif is_sparse(X):
            self._from_sparse(X)
        else:
            self._from_dense(X)
        if 0 in self.shape:
            rows, columns = self.shape
            raise ValueError(
                f"X is empty: it has {rows} row(s) and {columns} feature(s), at least one of each is required"
            )

    @classmethod
    def over_native(cls, rows: _core.Rows, dtype: np.dtype[Any], *, is_sparse: bool) -> Matrix:
        """A matrix of native rows, which were checked where they were made."""
        matrix = object.__new__(cls)
        matrix.feature_names, matrix.owner = None, Owner()
        matrix._rows, matrix._columns = rows, None
        matrix.dtype, matrix.is_sparse, matrix.shape = dtype, is_sparse, (rows.n_rows, rows.n_cols)
        return matrix

    def _from_sparse(self, X: Any) -> None:
        self._check_shape(X.shape)
        self.is_sparse = True
        self.dtype = storage_dtype(X.dtype)
        if X.format == "csc":
            self._columns = compressed_rows(X, self.dtype, by_columns=True)
            self._rows = self._columns.transpose()
        else:
            self._rows = compressed_rows(X if X.format == "csr" else through_coordinates(X), self.dtype)
        self.shape: tuple[int, int] = (self._rows.n_rows, self._rows.n_cols)

    def _from_compressed(self, X: CompressedRows) -> None:
        self.is_sparse = True
        self.dtype = X.values.dtype
        self._rows = named("X", _core.Rows.sparse, X.indptr, X.indices, X.values, X.n_columns)
        self.shape = X.shape

    def _from_dense(self, X: Any) -> None:
        array = as_array(X)
        if array.ndim != 2:
            hint = ": reshape your data with X.reshape(-1, 1) or X.reshape(1, -1)" if array.ndim == 1 else ""
            raise ValueError(f"Expected 2D array, got {array.ndim}D array instead{hint}")
        self.is_sparse = False
        self.dtype = storage_dtype(array.dtype)
        array = np.asarray(array, dtype=self.dtype)
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self._check_shape(self.shape)
        if array.size == 0:
            return
        self._rows = named("X", _core.Rows.dense, array if has_contiguous_rows(array) else array.copy(order="C"))

    @staticmethod
    def _check_shape(shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise ValueError(f"X must have two dimensions, got shape {shape}")
        if shape[1] > MOST_COLUMNS:
            raise ValueError(f"X has {shape[1]} columns, at most {MOST_COLUMNS} are possible")

    @property
    def offers(self) -> frozenset[str]:
        """What solvers may ask of a matrix: everything, for it is in memory."""
        return frozenset({VERBS, IN_ORDER, COLUMNS, GRAM})

    @property
    def native_rows(self) -> _core.Rows:
        """The stored rows, for natives that visit them one by one: solvers that need "rows in order"."""
        return self._rows

    @property
    def native_columns(self) -> _core.Rows:
        """The stored columns (rows of the transpose), for solvers that need "columns"; built on first use and kept."""
        return self._columns or kept(self.owner, "columns", self._rows.transpose)

    @property
    def compact_rows(self) -> tuple[_core.Rows, Vector]:
        """Sparse rows made smaller for many passes of dual methods, and what was folded; made on first use and kept."""
        return kept(self.owner, "compact rows", lambda: _core.compact(self._rows))

    @property
    def row_sqnorms(self) -> Vector:
        """|x_i|^2 of every row, not to be written to; computed on first use and kept."""
        return kept(self.owner, "squared lengths", self._squared_lengths)

    def _squared_lengths(self) -> Vector:
        found = np.empty(self.shape[0])
        _core.row_sqnorms(self._rows, found)
        found.setflags(write=False)
        return found

    @property
    def centred(self) -> tuple[Matrix, Vector] | None:
        """Dense rows less their means, and the means, where a feature is far from zero; made on first use and kept."""
        from .centring import without_means  # not needed before

        return kept(self.owner, "centred rows", lambda: (without_means(self),))[0]

    @property
    def row_lengths(self) -> NDArray[np.int64]:
        """Stored entries of every row."""
        if not self.is_sparse:
            return np.full(self.shape[0], self.shape[1], dtype=np.int64)
        lengths: NDArray[np.int64] = np.diff(_core.row_arrays(self._rows)[0])
        return lengths

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self._rows.nnz

    # The verbs of `Rows`.

    def matvec(self, w: Any, intercept: float = 0.0, *, n_jobs: int = 1) -> Vector:
        """X w + intercept, one value per row."""
        z = np.empty(self.shape[0])
        _core.matvec(self._rows, as_vector("w", w), intercept, z, n_jobs)
        return z

    def rmatvec(self, u: Any, *, accurate: bool = False, n_jobs: int = 1) -> Vector:
        """X^T u, one value per column; accurate: as if summed in twice the precision, which costs a few passes."""
        g = np.zeros(self.shape[1])
        if accurate:
            _core.accurate_rmatvec(self._rows, as_vector("u", u), g)
        else:
            _core.rmatvec(self._rows, as_vector("u", u), g, n_jobs)
        return g

    def matmat(self, W: Any, *, n_jobs: int = 1) -> Table:
        """X W, for W of columns x classes."""
        W = as_table("W", W)
        z = np.empty((self.shape[0], W.shape[1]))
        _core.class_scores(self._rows, W.reshape(-1), W.shape[1], 0.0, z.reshape(-1), n_jobs)
        return z

    def rmatmat(self, U: Any, *, n_jobs: int = 1) -> Table:
        """X^T U, for U of rows x classes."""
        U = as_table("U", U)
        g = np.zeros((self.shape[1], U.shape[1]))
        _core.class_adjoint(self._rows, U.reshape(-1), U.shape[1], 0.0, g.reshape(-1), n_jobs)
        return g

    def hess_vec(self, h: Vector, v: Vector, shift: float = 0.0, *, n_jobs: int = 1) -> tuple[Vector, float]:
        """X^T q and sum q for q = h (X v + shift), in one pass over the rows with h_i != 0."""
        g, room = np.zeros(self.shape[1]), np.empty(self.shape[0])
        total = _core.hess_vec(self._rows, as_vector("h", h), as_vector("v", v), float(shift), room, g, n_jobs)
        return g, total

    def class_hess_vec(
        self, p: Table, weights: Vector, V: Table, shift: Any = 0.0, *, n_jobs: int = 1
    ) -> tuple[Table, Vector]:
        """X^T Q and the columns' sums of Q for q_i = weights_i (diag(p_i) - p_i p_i^T) (V^T x_i + shift)."""
        k = V.shape[1]
        bordered = np.vstack([V, np.broadcast_to(np.asarray(shift, dtype=np.float64), (1, k))])
        g, size = np.zeros_like(bordered), self.shape[0] * k
        q, room = np.empty(size), np.empty(size)
        flat = bordered.reshape(-1)
        _core.entropy_hess_vec(self._rows, p.reshape(-1), weights, flat, k, 1.0, q, room, g.reshape(-1), n_jobs)
        return g[:-1], g[-1]

    def column_sqnorms(self, h: Vector | None = None, *, n_jobs: int = 1) -> Vector:
        """sum_i h_i x_ij^2 per column; h = 1 if it is not given."""
        sums = np.zeros(self.shape[1])
        _core.weighted_column_sqnorms(self._rows, np.ones(self.shape[0]) if h is None else h, sums, n_jobs)
        return sums

    def class_column_sqnorms(self, H: Table, *, n_jobs: int = 1) -> Table:
        """sum_i h_ic x_ij^2, columns x classes."""
        H = as_table("H", H)
        sums = np.zeros((self.shape[1], H.shape[1]))
        _core.class_column_sqnorms(self._rows, H.reshape(-1), H.shape[1], sums.reshape(-1))
        return sums

    def sandwich(
        self, h: Vector, columns: Any = None, constant: float = 0.0, *, out: Table | None = None, n_jobs: int = 1
    ) -> Table:
        """[X s]^T diag(h) [X s], of all columns (the upper triangle) or some (both), added to `out` if given."""
        from .sandwich import add_sandwich, sandwich_of_columns  # with BLAS, which most runs do without

        if columns is not None:
            found = sandwich_of_columns(self, h, columns, constant)
            return found if out is None else np.add(out, found, out=out)
        order = self.shape[1] + (constant != 0)
        square = np.zeros((order, order)) if out is None else out
        add_sandwich(self, h, constant, square, n_jobs)
        return square

    def outer(self, e: Vector) -> Table:
        """X diag(e) X^T, rows x rows: what "gram" offers."""
        n, columns = self.shape
        square = np.zeros(n * n)
        everyone, place = np.arange(columns, dtype=np.uint32), np.arange(n, dtype=np.int32)
        _core.add_outer_products(self.native_columns, everyone, np.ascontiguousarray(e), place, 0.0, n, square)
        return square.reshape(n, n)

    @property
    def nbytes(self) -> int:
        """About how many bytes the stored entries take."""
        return ENTRY * self.nnz

    def select(self, columns: Any) -> Matrix:
        """Those columns, in that order, as a matrix of their own."""
        return Matrix(self.to_scipy()[:, columns])

    def sample(self, n: int) -> tuple[NDArray[np.intp], Matrix]:
        """About n rows, evenly spread, or all if there are fewer: their numbers, and the rows themselves."""
        rows = self.shape[0]
        chosen = np.arange(0, rows, max(1, rows // max(1, n)))
        if len(chosen) == rows:
            return chosen, self
        return chosen, kept(self.owner, f"sample of {n}", lambda: self.take(chosen))

    def blocks(self) -> Iterator[tuple[int, Matrix]]:
        """All rows at once: they are in memory."""
        yield 0, self

    def take(self, rows: Any) -> Matrix:
        """The rows of those numbers, in that order, as a matrix of their own."""
        wanted = np.ascontiguousarray(rows, dtype=np.int64)
        other = copy.copy(self)
        other._rows = _core.take_rows(self._rows, wanted)
        other._columns, other.owner = None, Owner()
        other.shape = (len(wanted), self.shape[1])
        return other

    def to_scipy(self) -> Any:
        """A copy as a SciPy sparse array, or as a NumPy array if the rows are dense."""
        arrays = _core.row_arrays(self._rows)
        if not self.is_sparse:
            return arrays[0].reshape(self.shape)
        import scipy.sparse as sp  # not needed before

        indptr, indices, values = arrays
        return sp.csr_array((values.astype(self.dtype, copy=False), indices, indptr), shape=self.shape)

    def __reduce__(self) -> tuple[Any, ...]:
        """A matrix is pickled as what it was made from; columns are built anew when they are asked for."""
        return _restored, (self.to_scipy(), self.feature_names)

    def __copy__(self) -> Matrix:
        """Another view of the same rows."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Matrix:
        """Another view of the same rows: a matrix never changes, so that nothing need be copied."""
        return self.__copy__()

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = f"sparse {self.dtype}, {self.nnz:,} nonzeros" if self.is_sparse else f"dense {self.dtype}"
        return f"Matrix({rows:,} x {columns:,}, {kind})"


def _restored(X: Any, feature_names: list[str] | None) -> Matrix:
    matrix = Matrix(X)
    matrix.feature_names = feature_names
    return matrix


def stored(X: Rows) -> Matrix:
    """The rows as they are stored in memory, for natives that have declared that they need them."""
    if not isinstance(X, Matrix):
        raise TypeError(f"{type(X).__name__} is not stored in memory: its verbs are all that it offers")
    return X


def as_vector(name: str, values: Any) -> Vector:
    """One-dimensional contiguous float64, as the native passes want it."""
    vector = np.ascontiguousarray(values, dtype=np.float64)
    if np.ndim(values) != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {np.shape(values)}")
    return vector


def as_table(name: str, values: Any) -> Table:
    """Two-dimensional contiguous float64, as the native passes want it."""
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got shape {table.shape}")
    return table
