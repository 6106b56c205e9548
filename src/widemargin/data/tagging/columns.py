"""CoNLL columns: a token for each line, its fields apart by spaces or tabs, a blank line after each sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..text_blocks import name_for_messages
from .lines import Line, line_blocks


class Columns(NamedTuple):
    """A sequence: its lines as they stand in the file, and their fields."""

    lines: list[Line]
    rows: list[list[str]]


def fields_of(text: str) -> list[str]:
    """The fields of a line; other white space than spaces and tabs belongs to a field.

    >>> fields_of("the  DT\\tB-NP ")
    ['the', 'DT', 'B-NP']
    """
    return [field for field in text.replace("\t", " ").split(" ") if field]


def read_columns(path: str) -> Iterator[Columns]:
    """The sequences of a file, all lines of which must have as many fields as the first."""
    name, width = name_for_messages(path), 0
    for lines in line_blocks(path):
        rows = [fields_of(line.text) for line in lines]
        width = width or len(rows[0])
        for line, row in zip(lines, rows, strict=True):
            if len(row) != width:
                raise ValueError(f"{name}:{line.number}: {len(row)} columns, the lines before have {width}")
        yield Columns(lines, rows)
