"""Rows of a file by its path: read into memory if they fit, else left on disk, in a file of blocks."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import Any, NamedTuple

from ...vectors import Vector
from ..datasets import Reading, read_dataset
from ..formats import format_of
from ..matrix import Matrix
from ..rows import Rows
from .block_file import BlockFile
from .dataset import SUFFIX, options_of
from .making import cached_blocks, write_blocks
from .place import place_of

# Formats in which a file says what its labels are.
LABELLED = frozenset({"svm", "npz", "blocks"})


class Brought(NamedTuple):
    """What a file brings along."""

    X: Rows
    y: Any
    sample_weight: Vector | None = None


def open_rows(path: str, *, memory: int | None = None, on_disk: bool = False, n_jobs: int = 1) -> Brought:
    """Rows, labels and weights of a file: in memory if they fit, else by way of a file of blocks beside it."""
    reading = Reading(n_jobs=n_jobs)
    _refuse_other_files(path)
    if on_disk or not place_of(path, memory=memory).fits:
        file = _on_disk(path, reading, memory)
        return Brought(file, file.y, file.sample_weight)
    if format_of(path) == "blocks":
        file = BlockFile(path)
        return Brought(file.load(), file.y, file.sample_weight)
    found = read_dataset(path, reading)
    return Brought(Matrix(found.X), found.y)


def _refuse_other_files(path: str) -> None:
    """Tables do not say which of their columns is the label, and what is not there cannot be read."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: there is no such file")
    kind = format_of(path)
    if kind not in LABELLED:
        raise ValueError(
            f"{path}: a table ({kind}) does not say which column is the label: write it with "
            "write_blocks(path, source, label=...), and fit that file"
        )


def _on_disk(path: str, reading: Reading, memory: int | None) -> BlockFile:
    """The file of blocks beside the data, or, where none can be written there, one that goes with its rows."""
    if format_of(path) == "blocks":
        return BlockFile(path, memory=memory)
    if os.access(os.path.dirname(path) or ".", os.W_OK):
        return cached_blocks(path + SUFFIX, path, memory=memory, **options_of(reading))
    folder = tempfile.mkdtemp(prefix="widemargin-")
    try:
        target = os.path.join(folder, os.path.basename(path) + SUFFIX)
        file = write_blocks(target, path, memory=memory, **options_of(reading))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(file, shutil.rmtree, folder, ignore_errors=True)
    return file
