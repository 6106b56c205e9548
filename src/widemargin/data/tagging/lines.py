"""Text files line by line, and cut at blank lines: a block for each sequence, every line with its number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..text_blocks import _decompressed, _opened, name_for_messages

BLANK = " \t\r\n"


class Line(NamedTuple):
    """A line without its end, and its number in the file from 1."""

    number: int
    text: str


def text_lines(path: str) -> Iterator[Line]:
    """The lines of a file as they arrive; `-` is standard input, compressed data are recognised by their first bytes.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.txt")
    ...     with open(path, "w") as file:
    ...         written = file.write("the DT\\ndog NN")
    ...     list(text_lines(path))
    [Line(number=1, text='the DT'), Line(number=2, text='dog NN')]
    """
    name = name_for_messages(path)
    with _opened(path) as raw:
        file, errors = _decompressed(raw)
        for number, line in enumerate(_read(name, file, errors), 1):
            yield Line(number, _decoded(name, number, line))


def _read(name: str, file: Any, errors: tuple[type[Exception], ...]) -> Iterator[bytes]:
    while True:
        try:
            line: bytes = file.readline()
        except errors as error:
            raise ValueError(f"{name}: cannot be read to its end: {error}") from error
        if not line:
            return
        yield line


def _decoded(name: str, number: int, line: bytes) -> str:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}:{number}:{error.start + 1}: not UTF-8: convert the file, as with iconv") from None
    return text.rstrip("\r\n")


def line_blocks(path: str) -> Iterator[list[Line]]:
    """The lines between blank ones, never an empty block."""
    block: list[Line] = []
    for line in text_lines(path):
        if line.text.strip(BLANK):
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block
