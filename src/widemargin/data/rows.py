"""Rows: what every kind of data is to the problems and the solvers, wherever the rows live.

An outer loop handles vectors of the size of the features, and numbers; what has the size of the rows stays with the
rows. The verbs below are all that such a loop asks. Whoever needs more, such as rows in any order or columns, says so
(`Solver.needs`), and rows say what they offer, so that a mismatch is refused before any work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..vectors import Vector
from .kept import Owner

Table = NDArray[np.float64]  # one line per row, or per feature, and one column per class

# What rows may offer beside the verbs, in the words that errors use.
VERBS = "verbs"
IN_ORDER = "rows in order"  # native rows, visited one at a time in any order
COLUMNS = "columns"  # native columns, visited likewise
GRAM = "gram"  # the matrix of all rows' products with one another
BLOCKS = "rows in blocks"  # native rows, a block of them in memory at a time, mixed anew for every pass


class Rows(Protocol):
    """Rows of features, by their verbs. `n_jobs` threads share a pass; no result depends on their number."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the stored values."""

    @property
    def nnz(self) -> int:
        """Stored entries: what a pass costs."""

    @property
    def owner(self) -> Owner:
        """For whom things made from these rows are kept."""

    @property
    def offers(self) -> frozenset[str]:
        """What solvers may ask of these rows."""

    def matvec(self, w: Any, intercept: float = 0.0, *, n_jobs: int = 1) -> Vector:
        """X w + intercept, one value per row."""

    def rmatvec(self, u: Any, *, accurate: bool = False, n_jobs: int = 1) -> Vector:
        """X^T u, one value per feature; accurate: as if summed in twice the precision, for terms that cancel."""

    def matmat(self, W: Any, *, n_jobs: int = 1) -> Table:
        """X W, for W of features x classes."""

    def rmatmat(self, U: Any, *, n_jobs: int = 1) -> Table:
        """X^T U, for U of rows x classes."""

    def hess_vec(self, h: Vector, v: Vector, shift: float = 0.0, *, n_jobs: int = 1) -> tuple[Vector, float]:
        """X^T q and sum q for q = h (X v + shift); rows with h_i = 0 are not read."""

    def class_hess_vec(self, p: Table, weights: Vector, V: Table, shift: Any = 0.0, *, n_jobs: int = 1) -> Any:
        """X^T Q and the columns' sums of Q for q_i = weights_i (diag(p_i) - p_i p_i^T) (V^T x_i + shift)."""

    def column_sqnorms(self, h: Vector | None = None, *, n_jobs: int = 1) -> Vector:
        """sum_i h_i x_ij^2 per feature; h = 1 if it is not given."""

    def class_column_sqnorms(self, H: Table, *, n_jobs: int = 1) -> Table:
        """sum_i h_ic x_ij^2, features x classes."""

    def sandwich(
        self, h: Vector, columns: Any = None, constant: float = 0.0, *, out: Table | None = None, n_jobs: int = 1
    ) -> Table:
        """[X s]^T diag(h) [X s] of those features, added to `out` if given; s is a last, constant feature, if not 0.

        The upper triangle at least.
        """

    @property
    def centred(self) -> tuple[Rows, Vector] | None:
        """The rows less their means, and the means, where a feature is so far from zero that it pays; else None."""

    def select(self, columns: Any) -> Rows:
        """Those features, in that order, as rows of their own."""

    def sample(self, n: int) -> tuple[NDArray[np.intp], Rows]:
        """About n rows spread over all of them, or all if there are fewer: their numbers, and the rows themselves."""

    def take(self, rows: Any) -> Rows:
        """The rows of those numbers, in that order, as rows of their own."""

    def blocks(self) -> Iterator[tuple[int, Rows]]:
        """All rows in parts that are in memory one at a time, each with the number of its first row."""


VERB_NAMES = tuple(name for name in vars(Rows) if not name.startswith("_"))
