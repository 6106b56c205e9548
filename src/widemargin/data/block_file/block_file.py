"""A file of blocks as rows: data of any size, a part of them in memory at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...vectors import Vector
from ..kept import Owner, kept
from ..matrix import Matrix
from ..rows import BLOCKS, VERBS, Rows
from .chunk_reader import ChunkReader
from .memory import block_bytes, parse_memory, usual_memory
from .read_ahead import read_ahead
from .verbs import RowsInParts, joined

# What a row in a block costs beside its entries: its dual variable and its place in the order of visits.
PER_ROW = 80
# What an entry costs beside its column and value: room for unpacking, and memory that waits for the next chunk.
PER_ENTRY = 8
# A file of fewer bytes is read faster than a thread is started.
WORTH_A_THREAD = 1 << 20
# A sample comes from so many chunks.
SAMPLED_CHUNKS = 32

Part = tuple[int, Matrix]  # a chunk with the number of its first row


class BlockFile(RowsInParts):
    """Rows in a file that `widemargin convert --cache` or `write_blocks` has made.

    It takes the place of a matrix: `Problem(file, file.y)` and every solver that asks for the verbs of rows, or for
    rows in blocks, work on it. Chunks are checked against their checksums whenever they are read.

    Parameters
    ----------
    path : path
    memory : int or str, optional
        How much memory a fit may use for blocks, weights and dual variables together, for example ``"2G"``.
    direct : bool, optional
        Whether to read past the system's cache; by default files that are large beside the machine's memory are.

    Attributes
    ----------
    y : array of shape (rows,)
        The labels: numbers, or words where the source had words.
    sample_weight : array of shape (rows,), or None

    Examples
    --------
    >>> import os, tempfile
    >>> from widemargin import BlockFile, Problem, solve, write_blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_blocks(os.path.join(folder, "a.wmb"), [([[0.0], [1.0]], [-1, -1]), ([[3.0]], [1])])
    ...     solve(Problem(file, file.y, loss="hinge", intercept="free"), tol=1e-6).coef.round(4)
    array([1.])
    """

    offers = frozenset({VERBS, BLOCKS})

    def __init__(self, path: Any, *, memory: int | str | None = None, direct: bool | None = None) -> None:
        self.path = os.fspath(path)
        self._direct = direct
        self.memory = usual_memory() if memory is None else parse_memory(memory)
        self.reader = ChunkReader(self.path, direct=direct)
        self.owner = Owner()
        index = self.reader.index
        self.dtype = self.reader.dtype
        self.shape = (int(index["rows"].sum()), self.reader.about.columns)
        self.nnz = int(index["entries"].sum())
        self.first_rows = np.concatenate([[0], np.cumsum(index["rows"].astype(np.int64))])

    @property
    def n_chunks(self) -> int:
        """In how many chunks the rows are."""
        return len(self.reader.index)

    @property
    def n_bytes(self) -> int:
        """Bytes of all chunks on disk."""
        return int(self.reader.index["row_bytes"].sum() + self.reader.index["target_bytes"].sum())

    @property
    def source(self) -> dict[str, Any]:
        """What the file was made from."""
        return self.reader.about.source

    @cached_property
    def _targets(self) -> list[Vector]:
        parts = [self.reader.targets(k) for k in range(self.n_chunks)]
        return [np.concatenate(one) for one in zip(*parts, strict=True)]

    @property
    def y(self) -> NDArray[Any]:
        """The labels."""
        numbers, names = self._targets[0], self.reader.about.classes
        return numbers if names is None else np.asarray(names)[numbers.astype(np.intp)]

    @property
    def sample_weight(self) -> Vector | None:
        """The rows' weights, if they were given."""
        return self._targets[1] if self.reader.about.weighted else None

    @property
    def bytes_read(self) -> int:
        """Bytes read from disk so far."""
        return self.reader.bytes_read

    @property
    def centred(self) -> tuple[Rows, Vector] | None:
        """Dense rows less their means, and the means, where a feature is far from zero; both are made in passes."""
        from .centred_file import without_means  # not needed before

        return kept(self.owner, "centred rows", lambda: (without_means(self),))[0]

    @cached_property
    def chunk_sizes(self) -> NDArray[np.int64]:
        """What each chunk takes in memory while its rows are visited."""
        index = self.reader.index
        rows, entries = index["rows"].astype(np.int64), index["entries"].astype(np.int64)
        return np.asarray(PER_ROW * rows + (4 + self.dtype.itemsize + PER_ENTRY) * entries)

    def parts(self, needed: NDArray[Any] | None = None) -> Iterator[Part]:
        """The chunks in order, each with the number of its first row; those of which a row is needed."""
        wanted = [k for k in range(self.n_chunks) if needed is None or needed[self.rows_of(k)].any()]
        return (block[0] for block in self.visit([k] for k in wanted))

    def sample(self, n: int) -> tuple[NDArray[np.intp], Matrix]:
        """About n rows from chunks spread over the file, which need not be read as a whole; or all, if they are few."""
        chunks = np.unique(np.linspace(0, self.n_chunks - 1, SAMPLED_CHUNKS).astype(np.intp))
        within = [np.arange(self.first_rows[k], self.first_rows[k + 1]) for k in chunks]
        rows = np.concatenate(within if n < self.shape[0] else [np.arange(self.shape[0])])
        chosen = rows[:: max(1, len(rows) // max(1, n))]
        return chosen, kept(self.owner, f"sample of {n}", lambda: self.take(chosen))

    def rows_of(self, k: int) -> slice:
        """The numbers of the rows in the k-th chunk."""
        return slice(int(self.first_rows[k]), int(self.first_rows[k + 1]))

    def visit(self, blocks: Iterable[Iterable[int]]) -> Iterator[list[Part]]:
        """Blocks of chunks, by their numbers; while one is in use the next is read."""
        makers = (partial(self._block, list(block)) for block in blocks)
        return read_ahead(makers) if self.n_bytes >= WORTH_A_THREAD else (make() for make in makers)

    def _block(self, chunks: list[int]) -> list[Part]:
        return [(int(self.first_rows[k]), self.reader.rows(k)) for k in chunks]

    def block_plan(self, order: Iterable[int], fixed: float) -> list[list[int]]:
        """Chunks in that order, cut into blocks of which two fit the memory beside `fixed` bytes."""
        sizes = self.chunk_sizes
        most = block_bytes(self.memory, fixed, float(sizes.max()), float(sizes.sum()))
        plan: list[list[int]] = []
        held = float("inf")
        for k in order:
            if held + sizes[k] > most:
                plan.append([])
                held = 0
            plan[-1].append(int(k))
            held += sizes[k]
        return plan

    def with_memory(self, memory: int | str) -> BlockFile:
        """The same file, with that much memory for fits."""
        return BlockFile(self.path, memory=memory, direct=self._direct)

    def load(self) -> Matrix:
        """All rows in memory."""
        return joined([X for _, X in self.parts()], self.shape[1], self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        """A file is pickled as its name: whoever opens it must find it there."""
        return _opened, (os.path.abspath(self.path), self.memory, self._direct)

    def __deepcopy__(self, memo: dict[int, Any]) -> BlockFile:
        return self

    def __repr__(self) -> str:
        rows, columns = self.shape
        about = f"{rows:,} x {columns:,}, {self.dtype}, {self.nnz:,} nonzeros, {self.n_chunks:,} chunks"
        return f"BlockFile({self.path!r}, {about})"


def _opened(path: str, memory: int, direct: bool | None) -> BlockFile:
    return BlockFile(path, memory=memory, direct=direct)
