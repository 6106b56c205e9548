"""Sparse rows without SciPy.

Importing scipy.sparse takes longer than training on a small file, so whatever comes from our own parser stays plain
arrays, and SciPy is loaded where somebody asks for its matrices.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class CompressedRows:
    """The three arrays of compressed rows: columns ascending, none twice, every value finite.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.data.sparse_rows import CompressedRows
    >>> rows = CompressedRows(np.array([0, 1, 3]), np.array([1, 0, 2], dtype=np.int32), np.array([5.0, 1.0, 2.0]), 3)
    >>> rows.narrowed(2).to_scipy().toarray()
    array([[0., 5.],
           [1., 0.]])
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[Any]
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.indptr) - 1, self.n_columns

    def narrowed(self, n_columns: int) -> CompressedRows:
        """The first columns alone; with more than there are, the missing ones are empty."""
        if n_columns >= self.n_columns:
            return CompressedRows(self.indptr, self.indices, self.values, n_columns)
        kept = self.indices < n_columns
        before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        return CompressedRows(before[self.indptr], self.indices[kept], self.values[kept], n_columns)

    def to_scipy(self) -> Any:
        """A scipy.sparse.csr_array over the same memory."""
        import scipy.sparse as sp

        # scipy.sparse wants one integer type for both: the short one as long as it can count the entries.
        indptr = self.indptr.astype(np.int32) if self.indptr[-1] < 2**31 else self.indptr
        X = sp.csr_array((self.values, self.indices, indptr), shape=self.shape)
        X.has_canonical_format = True  # known, so never searched for
        return X


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy; nobody has one before SciPy is loaded."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def as_scipy(X: Any) -> Any:
    """Whatever rows are given as scipy.sparse.csr_array."""
    if isinstance(X, CompressedRows):
        return X.to_scipy()
    import scipy.sparse as sp

    return sp.csr_array(X)
