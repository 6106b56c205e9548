"""About how much memory the rows of a file would take, without reading more than its beginning."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from ..text_blocks import _decompressed

# So much text tells how long its entries are.
HEAD = 1 << 22
# An entry of sparse rows (column and value), one of dense rows, and a row (label, place, length).
SPARSE_ENTRY, DENSE_ENTRY, ROW = 12, 8, 24


def size_in_memory(path: str, kind: str) -> float:
    """Bytes of the rows and labels of a file of that format, as far as its beginning tells.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.svm")
    ...     with open(path, "w") as file:
    ...         written = file.write("1 1:2 3:4\\n-1 3:4\\n")
    ...     size_in_memory(path, "svm")  # three entries and two rows
    84.0
    """
    return _SIZES.get(kind, _whole)(path)


def _whole(path: str) -> float:
    """The file as it is: what there is to know of formats that are neither text nor ours."""
    if not os.path.isdir(path):
        return float(os.path.getsize(path))
    return float(sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names))


def _text(path: str, mark: bytes, entry: int) -> float:
    """Text, compressed or not: its entries and lines are counted in the beginning, and stand for the rest."""
    if os.path.isdir(path):
        return _whole(path)
    with open(path, "rb") as raw:
        file, errors = _decompressed(raw)
        try:
            head = file.read(HEAD)
        except errors:  # told by whoever reads the whole file
            return 0.0
        size, used = os.fstat(raw.fileno()).st_size, raw.tell()
    return (entry * head.count(mark) + ROW * head.count(b"\n")) * max(1.0, size / max(1, used))


def _parquet(path: str) -> float:
    if os.path.isdir(path):
        return _whole(path)
    try:
        import pyarrow.parquet as parquet

        about = parquet.read_metadata(path)
    except (ImportError, ValueError, OSError):  # told by whoever reads the whole file
        return 0.0
    return float(about.num_rows * (DENSE_ENTRY * about.num_columns + ROW))


def _blocks(path: str) -> float:
    from .chunk_reader import ChunkReader  # with NumPy: not needed for others

    reader = ChunkReader(path)
    try:
        index, column = reader.index, 0 if reader.about.form == "dense" else 4
        return float(index["entries"].sum() * (column + reader.dtype.itemsize) + ROW * index["rows"].sum())
    finally:
        reader.close()


_SIZES: dict[str, Callable[[str], float]] = {
    "svm": partial(_text, mark=b":", entry=SPARSE_ENTRY),
    "csv": partial(_text, mark=b",", entry=DENSE_ENTRY),
    "tsv": partial(_text, mark=b"\t", entry=DENSE_ENTRY),
    "parquet": _parquet,
    "blocks": _blocks,
}
