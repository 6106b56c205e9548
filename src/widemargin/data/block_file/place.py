"""Whether the rows of a file fit into memory: known from its beginning, before NumPy is loaded."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..formats import format_of
from .memory import available_memory, in_words
from .size_in_memory import size_in_memory

# Rows in memory take so many times their size: reading them, and the columns that some solvers ask for.
TIMES = 3.0
# Formats that no file of blocks is made from.
MEMORY_ALONE = frozenset({"npz"})


@dataclass(frozen=True)
class Place:
    """What the rows of a file need, what there is, and whether that is enough."""

    needed: float
    allowed: float
    fits: bool

    def __str__(self) -> str:
        return f"it needs about {in_words(self.needed)} in memory, and {in_words(self.allowed)} may be used"


def place_of(path: str, asked: str | None = None, *, memory: int | None = None) -> Place:
    """Whether the rows of a file fit that much memory; by default, what is free on this machine."""
    kind, allowed = format_of(path, asked), available_memory() if memory is None else memory
    if kind in MEMORY_ALONE or not (os.path.isfile(path) or os.path.isdir(path)):  # a pipe can be read once only
        return Place(0.0, allowed, True)
    needed = TIMES * size_in_memory(path, kind)
    return Place(needed, allowed, needed <= allowed)
