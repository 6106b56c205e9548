"""Features far from zero in a file of dense rows: less their means, which are taken off as chunks are read.

Why, and what counts as far, is in data/centring.py; sparse rows stay as they are, on disk as in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...vectors import Vector
from ..centring import SAMPLE, lies_far
from ..matrix import Matrix
from .block_file import BlockFile, Part


def without_means(file: BlockFile) -> tuple[CentredFile, Vector] | None:
    """The rows less their means, and the means; None where no feature is far from zero, or the rows are sparse."""
    if file.reader.about.form != "dense" or not lies_far(file.sample(SAMPLE)[1]):
        return None
    means = file.rmatvec(np.ones(file.shape[0]), accurate=True) / file.shape[0]
    return CentredFile(file, means), means


class CentredFile(BlockFile):
    """Dense rows of a file of blocks less a vector, in float64: differences of close values need the digits."""

    def __init__(self, file: BlockFile, means: Vector) -> None:
        super().__init__(file.path, memory=file.memory, direct=file.reader.direct)
        self._means = means
        self.dtype = np.dtype(np.float64)

    @property
    def centred(self) -> None:
        """Nothing: these rows are centred."""

    def _block(self, chunks: list[int]) -> list[Part]:
        return [(first, Matrix(X.to_scipy() - self._means)) for first, X in super()._block(chunks)]

    def with_memory(self, memory: int | str) -> BlockFile:
        """The same rows, with that much memory for fits."""
        return CentredFile(BlockFile(self.path, memory=memory, direct=self.reader.direct), self._means)

    def __reduce__(self) -> tuple[Any, ...]:
        return CentredFile, (BlockFile(self.path, memory=self.memory), self._means)
