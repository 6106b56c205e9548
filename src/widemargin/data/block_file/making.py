"""Files of blocks from anything that has rows: made, kept and used again, or added to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .block_file import BlockFile
from .fingerprint import fingerprint, stale
from .sources import CountsFromZero, Reading, arrow_source, as_paths, is_arrow
from .writer import CHUNK_BYTES, BlockAppender, BlockWriter


def write_blocks(
    path: Any,
    source: Any,
    *,
    dtype: Any = None,
    codec: str = "lz4",
    chunk_bytes: int = CHUNK_BYTES,
    memory: int | str | None = None,
    **reading: Any,
) -> BlockFile:
    """Writes a file of blocks in bounded memory, and opens it.

    Parameters
    ----------
    path : path
        Of the new file; it appears when it is complete.
    source : path, list of paths, Arrow data, or iterable of batches
        LIBSVM text (gzip, bzip2 and xz too), CSV, TSV, Parquet and Arrow files; pyarrow tables, datasets and readers;
        any iterable of `(X, y)` or `(X, y, sample_weight)`.
    dtype : float32 or float64, optional
        Of the values: what the batches have; float64 for text.
    codec : {"lz4", "zstd"}
        zstd for slow disks; needs the package `zstandard`.
    chunk_bytes : int
        How large chunks may become: smaller ones fit less memory.
    memory : int or str, optional
        What fits of the opened file may use.
    **reading
        `zero_based`, `label`, `weight`, `kind`, `n_jobs`: see `Reading`.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_blocks(os.path.join(folder, "a.wmb"), [([[0.0, 1.0]], [1]), ([[2.0, 0.0]], [-1])])
    ...     file.shape, file.y
    ((2, 2), array([ 1., -1.]))
    """
    how = Reading(**reading) if dtype is None else Reading(dtype=dtype, **reading)
    settings = {"codec": codec, "chunk_bytes": chunk_bytes, "dtype": dtype}
    paths = as_paths(source)
    if paths is None:
        _write(path, arrow_source(source, how) if is_arrow(source) else source, settings)
        return BlockFile(path, memory=memory)
    settings["source"] = known(paths, dtype=dtype, codec=codec, **reading)
    try:
        _write(path, how.batches(paths), settings)
    except CountsFromZero:
        if "-" in paths:
            raise ValueError("<stdin>: an index 0 appears: say that indices count from 0 (zero_based=True)") from None
        settings["source"]["zero_based"] = True
        _write(path, replace(how, zero_based=True).batches(paths), settings)
    return BlockFile(path, memory=memory)


def known(paths: list[str], **options: Any) -> dict[str, Any]:
    """The fingerprint of files and of the options that change what is written."""
    told = {name: option for name, option in options.items() if name != "n_jobs" and option is not None}
    return fingerprint(paths, **told)


def append_blocks(path: Any, batches: Iterable[Any], **reading: Any) -> BlockFile:
    """Adds batches to a file of blocks; until all are written, it is what it was.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.wmb")
    ...     file = write_blocks(path, [([[0.0, 1.0]], [1])])
    ...     append_blocks(path, [([[2.0, 0.0]], [-1])]).y
    array([ 1., -1.])
    """
    source: Any = arrow_source(batches, Reading(**reading)) if is_arrow(batches) else batches
    with BlockAppender(path) as writer:
        _add(writer, source, Labels(writer))
    return BlockFile(path)


def cached_blocks(path: Any, source: Any, *, make_anew: bool = True, memory: Any = None, **options: Any) -> BlockFile:
    """The file of blocks for those source files: the one that is there if it fits them, else made anew or refused."""
    paths = as_paths(source)
    if paths is None:
        raise TypeError("only files are known again: give paths, or write with write_blocks")
    why = stale(path, known(paths, **{"codec": "lz4", **options}))
    if why is None:
        return BlockFile(path, memory=memory)
    if not make_anew:
        raise ValueError(f"{why}; make it anew with --cache, or give another name")
    return write_blocks(path, source, memory=memory, **options)


def _write(path: Any, batches: Iterable[Any], settings: dict[str, Any]) -> None:
    with BlockWriter(path, **settings) as writer:
        _add(writer, batches, Labels(writer))


def _add(writer: BlockWriter, batches: Iterable[Any], labels: Labels) -> None:
    for batch in batches:
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
            raise TypeError("each batch must be (X, y) or (X, y, sample_weight)")
        X, y, *weight = batch
        writer.add(X, labels.numbers(y), *weight)


class Labels:
    """Words as numbers, in the order in which they appear."""

    def __init__(self, writer: BlockWriter) -> None:
        self._writer = writer
        self._places: dict[str, int] = {name: k for k, name in enumerate(writer.classes or ())}
        self._words: bool | None = True if self._places else None

    def numbers(self, y: Any) -> Any:
        """The labels as they are, or, if they are words, their numbers."""
        y = np.asarray(y)
        words = y.dtype.kind in "OUS"
        if self._words not in (None, words):
            raise ValueError("some labels are words and some are numbers")
        self._words = words
        if not words:
            return y
        codes = [self._places.setdefault(str(word), len(self._places)) for word in y]
        self._writer.name_classes(list(self._places))
        return np.array(codes, dtype=np.float64)
