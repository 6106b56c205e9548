"""A text file in pieces of bounded size that end where a line ends, so that a file of any length passes through."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

from .files import _MAGIC

BLOCK_BYTES = 1 << 23


def name_for_messages(path: str) -> str:
    """What errors call the file."""
    return "<stdin>" if path == "-" else path


def placed(name: str, message: str, lines_before: int) -> str:
    """A parser's `line:column: ...` with the name of the file and the line counted from its start.

    >>> placed("a.svm", "3:1: read 'x'", 100)
    "a.svm:103:1: read 'x'"
    """
    line, colon, rest = message.partition(":")
    return f"{name}:{int(line) + lines_before}:{rest}" if colon and line.isdigit() else f"{name}:{message}"


def text_blocks(path: str, size: int = BLOCK_BYTES) -> Iterator[memoryview]:
    """Yields at most `size` bytes at a time, more only if one line is longer; the next block takes their place.

    Parameters
    ----------
    path : str
        ``"-"`` is standard input; compressed data are recognised by their first bytes.
    size : int

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.txt")
    ...     with open(path, "w") as file:
    ...         written = file.write("one\\ntwo\\nthree")
    ...     [bytes(block) for block in text_blocks(path, 8)]
    [b'one\\ntwo\\n', b'three']
    """
    with _opened(path) as raw:
        file, errors = _decompressed(raw)
        yield from _whole_lines(name_for_messages(path), file, errors, size)


def _opened(path: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb")


def _decompressed(raw: Any) -> tuple[IO[bytes], tuple[type[Exception], ...]]:
    """The file to read from, and what reading it may raise."""
    start = raw.peek(8)[:8]
    for magic, module in _MAGIC.items():
        if start.startswith(magic):
            library = importlib.import_module(module)
            damaged = getattr(library, "LZMAError", None) or importlib.import_module("zlib").error
            return library.open(raw, "rb"), (EOFError, OSError, damaged)
    return raw, (OSError,)


def _whole_lines(name: str, file: Any, errors: tuple[type[Exception], ...], size: int) -> Iterator[memoryview]:
    buffer, held = bytearray(size), 0  # its first bytes are the start of a line whose end has not been read yet
    while True:
        if held == len(buffer):
            buffer = buffer + bytes(held)
        try:
            end = held + file.readinto(memoryview(buffer)[held:])
        except errors as error:
            raise ValueError(f"{name}: cannot be read to its end: {error}") from error
        if end == held:
            break
        cut = buffer.rfind(b"\n", held, end) + 1
        if cut:
            yield memoryview(buffer)[:cut]
            buffer[: end - cut] = buffer[cut:end]
        held = end - cut
    if held:
        yield memoryview(buffer)[:held]
