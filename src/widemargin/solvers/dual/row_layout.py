"""In which form the rows are passed over: as they are, or compact; one by one, or in blocks of neighbours.

Where data outgrow the cache, each short row at a random place costs the latency of main memory. Blocks of neighbours
take a third of the time, and as many passes, unless neighbours are alike, as in files that are sorted: imdb_bow, which
is, would need 735 passes in blocks instead of 97. Such data are visited row by row. A long run is worth a compact copy
of the rows (native/core/rows/compact.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.matrix import stored
from ...data.sizes import CACHE, ENTRY, INNER_CACHE, LONG_ROW, outgrows
from ...vectors import Vector

if TYPE_CHECKING:
    from ...data.matrix import Matrix
    from ...objective.problem import Problem

# From this many columns on, w outgrows the cache and compact rows pay whatever the size of the data.
WIDE = 1 << 18

# A copy that would be larger than this is not made.
MOST_BYTES_COPIED = 4e9

# Rows visited together.
BLOCK = 32


@dataclass(frozen=True)
class Layout:
    """Native rows and how many of them are visited together."""

    rows: _core.Rows
    private_part: Vector
    block: int
    is_compact: bool = False


def first_layout(problem: Problem) -> Layout:
    """The rows as they are: how a run begins."""
    X = stored(problem.X)
    short = ENTRY * X.nnz / X.shape[0] < LONG_ROW
    in_blocks = outgrows(INNER_CACHE, X) and short and not looks_sorted(problem.y)
    return Layout(X.native_rows, np.zeros(X.shape[0]), BLOCK if in_blocks else 1)


def class_block(X: Matrix, codes: NDArray[np.int32], n_classes: int) -> int:
    """Rows visited together by the methods that keep a number per row and class, which lie beside the rows' entries."""
    fits = ENTRY * (X.nnz + X.shape[0] * n_classes) <= INNER_CACHE
    return 1 if fits or neighbours_alike(codes) else BLOCK


def lasting_layout(X: Matrix, present: Layout) -> Layout:
    """What a run that turned out to be long goes on with; the present one where nothing is better.

    Such a run is hard, and blocks may cost it passes: reuters_moneyfx, squared hinge, C = 100, 56 instead of 23. Only
    where rows come from memory they are still worth it.
    """
    pays = outgrows(INNER_CACHE, X) or X.shape[1] >= WIDE
    if present.is_compact or not X.is_sparse or not pays or ENTRY * X.nnz > MOST_BYTES_COPIED:
        return present
    return Layout(*X.compact_rows, present.block if outgrows(CACHE, X) else 1, is_compact=True)


def looks_sorted(y: Vector) -> bool:
    """Whether neighbours are alike in y more often than chance would have it."""
    high = y > 0.5 * (y.min() + y.max()) if len(np.unique(y[:100])) < 3 else y > np.median(y)
    return neighbours_alike(high)


def neighbours_alike(codes: NDArray[Any]) -> bool:
    """Whether neighbours are of the same class more often than chance would have it."""
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    expected = 1 - float(np.square(shares).sum())  # of neighbours that differ
    return float(np.mean(codes[1:] != codes[:-1])) < 0.8 * expected
