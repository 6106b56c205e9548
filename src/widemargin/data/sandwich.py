"""[X s]^T diag(h) [X s] over rows in memory: sparse outer products, or products of dense blocks by BLAS."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..blas import limit_blas
from ..vectors import Vector
from .rows import Table

if TYPE_CHECKING:
    from .matrix import Matrix

# From this share of stored entries on, BLAS on dense blocks beats adding sparse outer products.
BLAS_DENSITY = 0.3
BLOCK_BYTES = 2**21


def add_sandwich(X: Matrix, h: Vector, constant: float, out: Table, n_jobs: int) -> None:
    """Adds the upper triangle of [X s]^T diag(h) [X s] over all features; the same bits for any number of threads."""
    rows, columns = X.shape
    if X.is_sparse and X.nnz <= BLAS_DENSITY * rows * columns:
        _core.add_gram(X.native_rows, h, constant, out, n_jobs)
    else:
        _add_blocks(X, h, constant, out, n_jobs)


def sandwich_of_columns(X: Matrix, h: Vector, columns: Any, constant: float) -> Table:
    """[X s]^T diag(h) [X s] over some features, which ascend, both triangles; rows with h_i = 0 are not read."""
    n = len(columns) + (constant != 0)
    place = np.full(X.shape[1], -1, dtype=np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    square = np.zeros(n * n)
    if n > 0:
        curved = np.flatnonzero(h).astype(np.uint32)
        _core.add_outer_products(X.native_rows, curved, h, place, constant, n, square)
    return square.reshape(n, n)


def _add_blocks(X: Matrix, h: Vector, constant: float, out: Table, n_jobs: int) -> None:
    """Blocks of rows, the same for any number of threads, added in order."""
    limit_blas()
    lines = min(len(h), max(32, BLOCK_BYTES // (8 * len(out))))
    begins = range(0, len(h), lines)

    def products(begin: int) -> list[tuple[float, Table]]:
        return _products(X, h, constant, begin, min(begin + lines, len(h)), len(out))

    if n_jobs == 1:
        for begin in begins:
            _add(products(begin), out)
        return
    with ThreadPoolExecutor(n_jobs) as threads:
        # Not all at once: each block's product is a matrix.
        for some in (begins[k : k + 4 * n_jobs] for k in range(0, len(begins), 4 * n_jobs)):
            for found in threads.map(products, some):
                _add(found, out)


def _products(X: Matrix, h: Vector, constant: float, begin: int, end: int, order: int) -> list[tuple[float, Table]]:
    """B^T B of one block of rows, for positive and negative h apart."""
    block = np.empty((end - begin, order))
    found = []
    for sign in (1.0, -1.0):
        filled = _core.gather_scaled(X.native_rows, h, sign, begin, end, constant, block)
        if filled:
            found.append((sign, block[:filled].T @ block[:filled]))
    return found


def _add(products: list[tuple[float, Table]], out: Table) -> None:
    for sign, product in products:
        out += sign * product
