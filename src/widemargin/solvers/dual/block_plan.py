"""Which chunks meet in which block: drawn anew for every pass, or fixed once as in the published method.

Blocks whose rows never change stall: rows of different blocks never meet, and in a sorted file a block sees one class
only. Blocks formed anew from random chunks need as many passes as rows in memory (docs/disk.md has the measurements).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...data.block_file.block_file import BlockFile

MIXINGS = ("random", "fixed")


def mixing_rng(seed: int, number: int) -> np.random.Generator:
    """The random numbers of one pass: they depend on seed and pass alone, so that a run can go on where it stopped."""
    return np.random.default_rng([seed, number])


@dataclass(frozen=True)
class BlockPlan:
    """The blocks of every pass, two of which fit the memory beside `fixed` bytes."""

    file: BlockFile
    fixed: float
    seed: int
    mixing: str

    def blocks(self, number: int, needed: Callable[[int], bool]) -> list[list[int]]:
        """The blocks of a pass: chunks that are needed, by their numbers."""
        rng = mixing_rng(self.seed, number)
        if self.mixing == "random":
            order = [k for k in rng.permutation(self.file.n_chunks).tolist() if needed(k)]
            return self.file.block_plan(order, self.fixed)
        fixed = self.file.block_plan(range(self.file.n_chunks), self.fixed)
        blocks = [[k for k in fixed[b] if needed(k)] for b in rng.permutation(len(fixed))]
        return [block for block in blocks if block]
