"""LIBSVM text in blocks of bounded size, so that a file of any length passes through constant memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .sparse_rows import CompressedRows
from .text_blocks import BLOCK_BYTES, name_for_messages, placed, text_blocks

_LARGEST_INDEX = 2**31 - 2
NEWLINE = 10


def svmlight_blocks(
    path: str, n_features: int, *, zero_based: bool = False, n_jobs: int = 1, block_bytes: int = BLOCK_BYTES
) -> Iterator[tuple[CompressedRows, NDArray[np.float64]]]:
    """Yields `(X, y)` of consecutive rows. Features beyond `n_features` are left out, as LIBLINEAR's predict does.

    Parameters
    ----------
    path : str
        ``"-"`` is standard input; compressed data are recognised by their first bytes.
    n_features : int
    zero_based : bool
        Whether indices count from 0.
    n_jobs : int
        Threads that parse.
    block_bytes : int
        How much text is held at a time, unless one line is longer.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.svm")
    ...     with open(path, "w") as file:
    ...         written = file.write("1 1:2\\n-1 2:3 9:1\\n")
    ...     [(X.to_scipy().toarray().tolist(), y.tolist()) for X, y in svmlight_blocks(path, 2, block_bytes=4)]
    [([[2.0, 0.0]], [1.0]), ([[0.0, 3.0]], [-1.0])]
    """
    name, lines_before = name_for_messages(path), 0
    for text in text_blocks(path, block_bytes):
        parsed = _parse(name, text, lines_before, zero_based, n_jobs)
        lines_before += int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == NEWLINE))
        if len(parsed.indptr) > 1:
            yield _narrowed(parsed, n_features, zero_based), parsed.labels
        del parsed  # nothing of this block is held while the next is read


def _parse(name: str, text: memoryview, lines_before: int, zero_based: bool, n_jobs: int) -> _core.SvmlightFloat64:
    base = 0 if zero_based else 1
    try:
        return _core.parse_svmlight_float64(
            np.frombuffer(text, dtype=np.uint8),
            base=base,
            lowest=base,
            highest=_LARGEST_INDEX,
            queries=False,
            many_labels=False,
            n_threads=n_jobs,
        )
    except ValueError as error:
        raise ValueError(placed(name, str(error), lines_before)) from None


def _narrowed(parsed: _core.SvmlightFloat64, n_features: int, zero_based: bool) -> CompressedRows:
    width = max(n_features, parsed.highest + 1 - (0 if zero_based else 1))
    return CompressedRows(parsed.indptr, parsed.indices, parsed.values, width).narrowed(n_features)
