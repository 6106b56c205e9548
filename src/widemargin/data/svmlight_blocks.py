"""LIBSVM text in blocks of bounded size, so that a file of any length passes through constant memory."""

from __future__ import annotations

import importlib
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .files import _MAGIC

BLOCK_BYTES = 1 << 23
_LARGEST_INDEX = 2**31 - 2
_AT_LINE = re.compile(r"^(\d+):")


def svmlight_blocks(
    path: str, n_features: int, *, zero_based: bool = False, n_jobs: int = 1, block_bytes: int = BLOCK_BYTES
) -> Iterator[tuple[Any, NDArray[np.float64]]]:
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
    ...     [(X.toarray().tolist(), y.tolist()) for X, y in svmlight_blocks(path, 2, block_bytes=4)]
    [([[2.0, 0.0]], [1.0]), ([[0.0, 3.0]], [-1.0])]
    """
    name = "<stdin>" if path == "-" else path
    lines_before = 0
    with _opened(path) as raw:
        for text in _whole_lines(name, _decompressed(raw), block_bytes):
            parsed = _parse(name, text, lines_before, zero_based, n_jobs)
            lines_before += text.count(b"\n")
            del text  # one block at a time: nothing of this one is held while the next is read
            if len(parsed.indptr) > 1:
                yield _narrowed(parsed, n_features, zero_based), parsed.labels
            del parsed


def _opened(path: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb")


def _decompressed(raw: Any) -> IO[bytes]:
    start = raw.peek(8)[:8]
    for magic, module in _MAGIC.items():
        if start.startswith(magic):
            opened: IO[bytes] = importlib.import_module(module).open(raw, "rb")
            return opened
    file: IO[bytes] = raw
    return file


def _whole_lines(name: str, file: IO[bytes], size: int) -> Iterator[bytes]:
    """Pieces of the file that end where a line ends."""
    lzma_error = importlib.import_module("lzma").LZMAError
    rest: list[bytes] = []
    while True:
        try:
            chunk = file.read(size)
        except (EOFError, zlib.error, lzma_error, OSError) as error:
            raise ValueError(f"{name}: cannot be read to its end: {error}") from error
        cut = chunk.rfind(b"\n") + 1
        if chunk and not cut:  # a long line goes on
            rest.append(chunk)
            continue
        whole = b"".join([*rest, chunk[:cut]])
        rest, ended = [chunk[cut:]], not chunk
        del chunk
        if whole:
            yield whole
        del whole
        if ended:
            return


def _parse(name: str, text: bytes, lines_before: int, zero_based: bool, n_jobs: int) -> _core.SvmlightFloat64:
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
        placed = _AT_LINE.sub(lambda found: f"{int(found[1]) + lines_before}:", str(error))
        raise ValueError(f"{name}:{placed}") from None


def _narrowed(parsed: _core.SvmlightFloat64, n_features: int, zero_based: bool) -> Any:
    rows = len(parsed.indptr) - 1
    width = max(n_features, parsed.highest + 1 - (0 if zero_based else 1))
    X = sp.csr_array((parsed.values, parsed.indices, parsed.indptr.astype(np.int32)), shape=(rows, width))
    return X if width == n_features else X[:, :n_features]
