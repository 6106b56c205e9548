"""A file of blocks is written: rows come in batches of any size and leave as chunks, in bounded memory.

Chunks grow with the file, each to a hundredth of what was written before, up to 16 MiB: a file has at least a hundred,
whatever its length turns out to be, so that blocks can be mixed from many.
"""

from __future__ import annotations

import contextlib
import os
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...vectors import Vector
from ..matrix import Matrix
from ..rows import Rows
from .chunk_codec import encode_targets, with_codec, zstandard
from .layout import CODECS, HEADER_BYTES, LINE, Description, Footer, checksum, header

CHUNK_BYTES = 1 << 24
# A chunk is at most so large when it is decoded, and at least, unless it is the last.
MOST_DECODED, LEAST_DECODED = 1 << 26, 1 << 13
SHARE = 0.01


class BlockWriter:
    """Writes a file of blocks; it appears under its name when `close` is called, complete, or not at all.

    Parameters
    ----------
    path : str
    dtype : float32 or float64, optional
        Of the values; that of the first batch if it is not given.
    codec : {"lz4", "zstd"}
        zstd takes two thirds of the bytes, for slow disks, and three times the processor; it needs `zstandard`.
    chunk_bytes : int
        How large chunks may become on disk.
    source : dict, optional
        What the rows come from, so that the file is known again (fingerprint.py).

    Examples
    --------
    >>> import os, tempfile
    >>> from widemargin import BlockFile
    >>> from widemargin.data.block_file.writer import BlockWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.wmb")
    ...     with BlockWriter(path) as writer:
    ...         writer.add([[1.0, 0.0], [0.0, 2.0]], [1, -1])
    ...         writer.add([[3.0, 3.0]], [1])
    ...     BlockFile(path).y
    array([ 1., -1.,  1.])
    """

    def __init__(
        self,
        path: Any,
        *,
        dtype: Any = None,
        codec: str = "lz4",
        chunk_bytes: int = CHUNK_BYTES,
        source: dict[str, Any] | None = None,
    ) -> None:
        if codec not in CODECS:
            raise ValueError(f"unknown codec {codec!r}: use one of {', '.join(CODECS)}")
        if codec == "zstd":
            zstandard()  # missing: better told now than after the first chunk
        if chunk_bytes < 1:
            raise ValueError(f"chunk_bytes must be at least 1, got {chunk_bytes!r}")
        self.path = os.path.realpath(os.fspath(path))
        self._codec, self._chunk_bytes, self._source = codec, chunk_bytes, source or {}
        self._dtype = None if dtype is None else np.dtype(dtype)
        if self._dtype not in (None, np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype={self._dtype} is not supported: use float32 or float64")
        self._lines: list[tuple[int, ...]] = []
        self._columns, self._alike, self._weighted = 0, True, False
        self._rows = self._entries = self._decoded = 0
        self._pending = Pending()
        self._classes: list[str] | None = None
        self._begin()

    def _begin(self) -> None:
        folder, name = os.path.split(self.path)
        self._temporary = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")
        self._file: IO[bytes] = open(self._temporary, "xb")  # noqa: SIM115 - closed by `close`
        self._file.write(bytes(HEADER_BYTES))

    def add(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Adds rows with their labels: anything `Matrix` accepts; sparse batches may differ in width."""
        rows = X if isinstance(X, Matrix) else Matrix(X)
        labels = self._checked("y", y, rows)
        weights = None if sample_weight is None else self._checked("sample_weight", sample_weight, rows)
        if self._rows and (weights is not None) != self._weighted:
            raise ValueError("some batches have weights and some have not: give them to all, or to none")
        self._agree(rows)
        self._weighted = weights is not None
        self._rows += rows.shape[0]
        self._entries += rows.nnz
        self._pending.add(self._arrays(rows), labels, weights)
        while self._pending.decoded >= self._target():
            self._write_chunk(self._pending.take(self._target()))

    def _checked(self, name: str, values: Any, rows: Rows) -> Vector:
        vector = np.ascontiguousarray(values, dtype=np.float64)
        if vector.shape != (rows.shape[0],):
            raise ValueError(f"{name} has shape {vector.shape}, the batch has {rows.shape[0]} rows")
        if not np.isfinite(vector).all():
            raise ValueError(f"{name}[{int(np.argmin(np.isfinite(vector)))}] is not finite")
        return vector

    def _agree(self, rows: Matrix) -> None:
        """The batch has the type of the file, and where it is dense its width."""
        self._dtype = self._dtype or rows.dtype
        if self._columns and not rows.is_sparse and rows.shape[1] != self._columns:
            raise ValueError(f"a batch has {rows.shape[1]} features, those before had {self._columns}")
        if self._dtype == np.float32 and rows.dtype == np.float64:
            raise ValueError("the file holds float32 and a batch is float64: convert it, or write with dtype='float64'")
        self._columns = max(self._columns, rows.shape[1])

    def _arrays(self, rows: Matrix) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
        arrays = _core.row_arrays(rows.native_rows)
        if not rows.is_sparse:
            n, columns = rows.shape
            indices = np.tile(np.arange(columns, dtype=np.int32), n)
            arrays = (np.arange(n + 1, dtype=np.int64) * columns, indices, arrays[0])
        return arrays[0], arrays[1], arrays[2].astype(self._dtype, copy=False)

    def _target(self) -> int:
        """How large the next chunk is to be, decoded."""
        on_disk = self._file.tell()
        shrinkage = self._decoded / on_disk if self._decoded else 1.0
        most = min(MOST_DECODED, self._chunk_bytes * shrinkage)
        return int(min(most, max(LEAST_DECODED, SHARE * self._decoded)))

    def _write_chunk(self, rows: Pending) -> None:
        indptr, indices, values = rows.arrays()
        labels, weights = rows.targets()
        targets = encode_targets(labels, weights)
        encoded, alike = _core.encode_rows(indptr, indices, values)
        stored = with_codec(self._codec, encoded)
        line = (self._file.tell(), len(targets), len(stored), len(labels), len(values))
        self._lines.append((*line, checksum(targets), checksum(stored)))
        self._file.write(targets)
        self._file.write(stored)
        self._alike &= alike
        self._decoded += rows.decoded

    def name_classes(self, names: list[str]) -> None:
        """Says that labels are the numbers of these names."""
        self._classes = names

    @property
    def classes(self) -> list[str] | None:
        """The names of the labels, where labels are words."""
        return self._classes

    def close(self) -> None:
        """Writes what is left, the index and the header, and gives the file its name."""
        if self._pending.rows:
            self._write_chunk(self._pending)
        if not self._rows or not self._columns:
            raise ValueError("there is nothing to write: no rows, or no features")
        self._finish(self._file)
        self._file.close()
        os.replace(self._temporary, self.path)

    def _finish(self, file: IO[bytes]) -> None:
        footer = Footer(np.array(self._lines, dtype=LINE), self._description()).to_bytes()
        at = file.tell()
        file.write(footer)
        file.flush()
        os.fsync(file.fileno())  # before the header says that it is there
        file.seek(0)
        file.write(header(at, footer))
        file.flush()
        os.fsync(file.fileno())

    def _description(self) -> Description:
        dense = self._entries == self._rows * self._columns
        form = "dense" if dense else "uniform" if self._alike else "sparse"
        dtype = str(self._dtype)
        return Description(self._columns, dtype, form, self._codec, self._weighted, self._classes, self._source)

    def abandon(self) -> None:
        """Leaves everything as it was before."""
        self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._temporary)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.abandon()
            return
        try:
            self.close()
        except BaseException:
            self.abandon()
            raise


class BlockAppender(BlockWriter):
    """Adds rows to a file of blocks. Until `close`, the file is what it was, whatever happens."""

    def _begin(self) -> None:
        from .chunk_reader import ChunkReader

        reader = ChunkReader(self.path)
        about = reader.about
        self._lines = [tuple(int(x) for x in line) for line in reader.index]
        self._columns, self._codec, self._dtype = about.columns, about.codec, np.dtype(about.dtype)
        self._weighted, self._alike, self._classes = about.weighted, about.form != "sparse", about.classes
        self._source = self._source or about.source
        self._rows, self._entries = int(reader.index["rows"].sum()), int(reader.index["entries"].sum())
        self._decoded = decoded_bytes(self._rows, self._entries, self._dtype)
        if about.form == "dense":
            self._alike = False  # unknown; dense stays dense, or becomes sparse
        reader.close()
        self._file = open(self.path, "r+b")  # noqa: SIM115 - closed by `close`
        self._file.seek(0, os.SEEK_END)

    def close(self) -> None:
        """Writes what is left and the new index, and turns the header to it."""
        if self._pending.rows:
            self._write_chunk(self._pending)
        self._finish(self._file)
        self._file.close()

    def abandon(self) -> None:
        """The header still points to the old index; what was written behind it is not read."""
        self._file.close()


def decoded_bytes(rows: int, entries: int, dtype: Any) -> int:
    """What rows take in memory: a place for each, a column and a value for each entry."""
    return 8 * rows + (4 + int(np.dtype(dtype).itemsize)) * entries


class Pending:
    """Rows that wait to become a chunk."""

    def __init__(self) -> None:
        self._batches: list[tuple[Any, Any, Any, Vector, Vector | None]] = []
        self.rows = 0
        self.decoded = 0

    def add(self, arrays: tuple[Any, Any, Any], labels: Vector, weights: Vector | None) -> None:
        """Adds a batch: indptr, indices, values; labels; weights."""
        self._batches.append((*arrays, labels, weights))
        self.rows += len(labels)
        self.decoded += decoded_bytes(len(labels), len(arrays[2]), arrays[2].dtype)

    def take(self, target: int) -> Pending:
        """The first rows, of about so many bytes, at least one; they do not wait any more."""
        first = Pending()
        while self._batches and first.decoded < target:
            batch = self._batches.pop(0)
            kept, rest = cut(batch, target - first.decoded)
            first.add(kept[:3], kept[3], kept[4])
            if rest is not None:
                self._batches.insert(0, rest)
        self.rows -= first.rows
        self.decoded -= first.decoded
        return first

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
        """All rows as three arrays."""
        lengths = np.concatenate([np.diff(batch[0]) for batch in self._batches])
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        indices, values = (np.concatenate([batch[k] for batch in self._batches]) for k in (1, 2))
        return indptr, indices, values

    def targets(self) -> tuple[Vector, Vector | None]:
        """All labels, and weights if there are any."""
        labels = np.concatenate([batch[3] for batch in self._batches])
        if self._batches[0][4] is None:
            return labels, None
        return labels, np.concatenate([batch[4] for batch in self._batches if batch[4] is not None])


def cut(batch: tuple[Any, Any, Any, Vector, Vector | None], target: int) -> tuple[Any, Any]:
    """The first rows of a batch, of about so many bytes, at least one; and the others, or None."""
    indptr, indices, values, labels, weights = batch
    rows = np.arange(1, len(labels) + 1)
    sizes = 8 * rows + (4 + values.itemsize) * (indptr[1:] - indptr[0])
    n = min(len(labels), 1 + int(np.searchsorted(sizes, target)))
    if n == len(labels):
        return batch, None
    at = indptr[n] - indptr[0]
    w = (None, None) if weights is None else (weights[:n], weights[n:])
    head = (indptr[: n + 1], indices[:at], values[:at], labels[:n], w[0])
    return head, (indptr[n:], indices[at:], values[at:], labels[n:], w[1])
