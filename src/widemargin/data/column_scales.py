"""Which columns are wild: far larger or far smaller than the others, so that a run is slow or ends early.

Solvers feel a column by the largest of its values. Only where these differ by decades would scaling help, and then it
helps to know which columns they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..vectors import Vector
from .matrix import Matrix
from .rows import Rows

# Scales that differ by less than this do no harm.
HARMLESS = 1e3
# A column is wild if it is so many times as large as the usual one, or as many times smaller.
UNUSUAL = 30.0
# So many of the wild columns are named.
NAMED = 3


@dataclass(frozen=True)
class Column:
    """A column by its number, its name if it has one, and the range of its values."""

    number: int
    name: str | None
    low: float
    high: float

    def __str__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"column {self.number}{name} ({self.low:.3g} to {self.high:.3g})"


def wild_columns(X: Rows, names: Sequence[str] | None = None) -> list[Column]:
    """The columns whose scales stand out the most, the farthest first; none where all are much alike.

    `names` are those of the columns, where the rows do not know them.

    Examples
    --------
    >>> from widemargin import Matrix
    >>> [str(one) for one in wild_columns(Matrix([[0.5, 1e6, 0.1], [1.0, -2e6, 0.9]]))]
    ['column 1 (-2e+06 to 1e+06)']
    >>> wild_columns(Matrix([[0.5, 3.0], [-1.0, 0.0]]))
    []
    """
    if not isinstance(X, Matrix):
        return []  # rows that live elsewhere are not read for a warning
    low, high = _ranges(X)
    size = np.maximum(-low, high)
    used = np.flatnonzero(size > 0)
    if len(used) == 0 or size[used].max() <= HARMLESS * size[used].min():
        return []
    off = np.abs(np.log(size[used]) - np.median(np.log(size[used])))
    order = used[np.argsort(-off, kind="stable")]
    wild = [j for j, far in zip(order, np.sort(off)[::-1], strict=True) if far >= np.log(UNUSUAL)]
    known = X.feature_names if names is None else names
    return [Column(int(j), None if known is None else str(known[j]), low[j], high[j]) for j in wild[:NAMED]]


def _ranges(X: Matrix) -> tuple[Vector, Vector]:
    """The least and the largest value of each column; of sparse rows zero is one of them."""
    values = X.to_scipy()
    low, high = values.min(axis=0), values.max(axis=0)
    if X.is_sparse:
        low, high = low.toarray().reshape(-1), high.toarray().reshape(-1)
    return low.astype(np.float64), high.astype(np.float64)
