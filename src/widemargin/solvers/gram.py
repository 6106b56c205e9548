"""The matrix [X s]^T diag(h) [X s] of the Newton equations, kept up to date as h changes.

The losses that are pieces of parabolas change h only in rows that cross a kink. Late in a run these are few, so the
matrix is corrected by those rows instead of being made anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _core

if TYPE_CHECKING:
    from ..objective.problem import Problem

Vector = NDArray[np.float64]

# From this share of stored entries on, BLAS on dense blocks beats adding sparse outer products.
BLAS_DENSITY = 0.3
BLOCK_BYTES = 2**21


# Nanoseconds per entry of the data, measured: of a pass; of a sparse outer product, for each entry of the row; of BLAS,
# for each feature.
PASS, OUTER, BLAS = 1.5, 0.3, 0.05


def gram_cost(rows: int, columns: int, entries: int) -> float:
    """What the matrix of all rows costs, in nanoseconds."""
    row_length = max(entries / rows, 1.0)
    return min(OUTER * row_length, BLAS * columns * columns / row_length) * entries


class Gram:
    """The upper triangle of [X s]^T diag(h) [X s]; s = 0 stands for no constant column."""

    def __init__(self, problem: Problem, constant: float) -> None:
        rows, columns = problem.X.shape
        order = columns + (constant != 0)
        self.matrix = np.zeros((order, order))
        self._rows = problem.X.rows
        self._constant = constant
        self._n_jobs = problem.n_jobs
        self._h = np.zeros(rows)
        self._cost = gram_cost(rows, order, problem.X.nnz)
        dense = not problem.X.is_sparse or problem.X.nnz > BLAS_DENSITY * rows * columns
        self._add = self._add_blocks if dense else self._add_rows
        lines = min(rows, max(32, BLOCK_BYTES // (8 * order)))
        self._block = np.empty((lines if dense else 0, order))

    def cost_of_update(self, h: Vector) -> float:
        """What bringing the matrix to these h costs, in nanoseconds."""
        changed = min(np.count_nonzero(h != self._h), np.count_nonzero(h))
        return self._cost * float(changed) / len(h)

    def update(self, h: Vector) -> float:
        """Brings the matrix to these h; returns how many passes over the data that cost."""
        change = h - self._h
        n_changed, n_active = np.count_nonzero(change), np.count_nonzero(h)
        if n_changed >= n_active:
            self.matrix.fill(0.0)
            change, n_changed = h, n_active
        if n_changed:
            self._add(change)
        self._h = h
        return n_changed / len(h)

    def _add_rows(self, h: Vector) -> None:
        _core.add_gram(self._rows, h, self._constant, self.matrix, self._n_jobs)

    def _add_blocks(self, h: Vector) -> None:
        for sign in (1.0, -1.0):
            row = 0
            while row < len(h):
                filled, row = _core.gather_scaled(self._rows, h, sign, row, self._constant, self._block)
                if filled:
                    block = self._block[:filled]
                    self.matrix += sign * (block.T @ block)
