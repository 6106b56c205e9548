r"""CRFsuite's files: a token for each line, its label and attributes apart by tabs, a blank line after each sequence.

An attribute is a name, or `name:value` with a number; `\:` and `\\` in a name are a colon and a backslash.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..text_blocks import name_for_messages
from .lines import Line, line_blocks

_FIELD = re.compile(r"((?:[^\\:]|\\.|\\$)*)(?::(.*))?", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\:])")


class Attributed(NamedTuple):
    """A sequence: its lines as they stand in the file, labels (empty where there is none) and attributes."""

    lines: list[Line]
    labels: list[str]
    tokens: list[dict[str, float]]


def read_attributes(path: str) -> Iterator[Attributed]:
    """The sequences of a file."""
    name = name_for_messages(path)
    for lines in line_blocks(path):
        labels, tokens = [], []
        for line in lines:
            label, *fields = line.text.split("\t")
            if label.startswith("@weight:"):
                raise ValueError(f"{name}:{line.number}: weights of sequences are not read: give them to fit in Python")
            labels.append(label)
            tokens.append(token_of(fields, f"{name}:{line.number}"))
        yield Attributed(lines, labels, tokens)


def token_of(fields: list[str], place: str) -> dict[str, float]:
    r"""The values of a token's attributes by name; of one that stands twice, their sum.

    >>> token_of(["w=dog", "length:3", "time=12\\:30"], "a.txt:1")
    {'w=dog': 1.0, 'length': 3.0, 'time=12:30': 1.0}
    """
    found: dict[str, float] = {}
    for said in filter(None, fields):
        matched = _FIELD.match(said)
        name, value = matched.groups() if matched else (said, None)
        name = _ESCAPED.sub(r"\1", name)
        found[name] = found.get(name, 0.0) + (1.0 if value is None else _number(value, name, place))
    return found


def _number(value: str, name: str, place: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(
            f"{place}: attribute {name!r} has the value {value!r}, expected a finite number; "
            "a colon that belongs to the name is written \\:"
        )
    return number
