"""Files of blocks where a command wants a data set: opened, made from another file first, or described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..datasets import Dataset, Reading
from ..formats import format_of
from .block_file import BlockFile
from .making import cached_blocks

SUFFIX = ".wmb"


def open_dataset(path: str, reading: Reading, *, cache: str | None = None, memory: int | str | None = None) -> Dataset:
    """The rows of a file, on disk: of a file of blocks itself, or of one that is kept beside it and used again."""
    if format_of(path, reading.format) == "blocks":
        return as_dataset(BlockFile(path, memory=memory))
    if path == "-" and cache is None:
        raise ValueError("data from standard input have no name: give the file of blocks one (--cache)")
    return as_dataset(cached_blocks(cache or path + SUFFIX, path, memory=memory, **options_of(reading)))


def options_of(reading: Reading) -> dict[str, Any]:
    """What decides the rows of a file of blocks, and how many threads read."""
    if reading.text:
        raise ValueError("words are not hashed into files of blocks yet: leave --text out, or train in memory")
    return {"label": reading.label, "kind": reading.format, "n_jobs": reading.n_jobs}


def as_dataset(file: BlockFile) -> Dataset:
    """An open file of blocks as a data set."""
    return Dataset(file, file.y, {"format": "svm", "zero_based": bool(file.source.get("zero_based"))})


def file_facts(file: BlockFile) -> dict[str, Any]:
    """What there is to know about a file of blocks, without a pass over it."""
    files: list[Mapping[str, Any]] = file.source.get("files", [])
    return {
        "format": "blocks",
        "rows": file.shape[0],
        "features": file.shape[1],
        "nonzeros": file.nnz,
        "dtype": str(file.dtype),
        "form": file.reader.about.form,
        "codec": file.reader.about.codec,
        "chunks": file.n_chunks,
        "bytes": file.n_bytes,
        "bytes_per_entry": file.n_bytes / max(1, file.nnz),
        "source": [str(one.get("name")) for one in files],
    }
