"""How large data are, and which cache they outgrow: measured on present processors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rows import Rows

# Bytes of data from which on passes wait for the outer cache, and from which on for memory; of a row from which on they
# do not wait for its beginning; of an entry.
INNER_CACHE, CACHE = 2e6, 16e6
LONG_ROW = 1024
ENTRY = 12


def outgrows(cache: float, X: Rows) -> bool:
    """Whether the data do not fit a cache of that many bytes."""
    return ENTRY * X.nnz > cache
