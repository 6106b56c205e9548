"""CRF++'s templates: which columns of which neighbouring tokens describe a token.

A line `U03:%x[-1,0]/%x[0,1]` is one attribute of every token: `%x[row,column]` stands for the field of that column, row
lines further down; before the first token it reads `_B-1`, `_B-2`, after the last `_B+1`. A line `B` gives every pair
of neighbouring labels a weight. Lines that begin with # are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat

from .lines import BLANK, Line, text_lines

_MACRO = re.compile(r"%x\[\s*([+-]?\d{1,4})\s*,\s*(\d{1,4})\s*\]")


@dataclass(frozen=True)
class Unit:
    """One line U of a template: texts and the cells (row, column) between them."""

    texts: tuple[str, ...]  # one more than there are cells
    cells: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Template:
    """The attributes of tokens, by CRF++'s lines U.

    Examples
    --------
    >>> template = parse_template("U00:%x[0,0]\\nU01:%x[-1,0]/%x[0,0]\\nB\\n")
    >>> template.attributes([["the", "DT"], ["dog", "NN"]])
    [['U00:the', 'U01:_B-1/the'], ['U00:dog', 'U01:the/dog']]
    """

    text: str = field(repr=False)
    units: tuple[Unit, ...]

    @cached_property
    def n_columns(self) -> int:
        """How many columns it reads, from the first."""
        return 1 + max((column for unit in self.units for _, column in unit.cells), default=-1)

    def attributes(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        """The attributes of each token of a sequence."""
        cells = {cell: _shifted(rows, *cell) for unit in self.units for cell in unit.cells}
        made = [_filled(unit, [cells[cell] for cell in unit.cells], len(rows)) for unit in self.units]
        return [list(found) for found in zip(*made, strict=True)]


def _shifted(rows: Sequence[Sequence[str]], by: int, column: int) -> list[str]:
    """The field of that column `by` lines below each line."""
    n = len(rows)
    return [_outside(t + by, n) or rows[t + by][column] for t in range(n)]


def _outside(place: int, n: int) -> str:
    """CRF++'s name of a place before the first token or after the last; empty for those between."""
    if place < 0:
        return f"_B{place}"
    return f"_B+{place - n + 1}" if place >= n else ""


def _filled(unit: Unit, columns: list[list[str]], n: int) -> list[str]:
    """The attribute that the unit makes of each token."""
    parts: list[Iterable[str]] = [repeat(unit.texts[0], n)]
    for column, text in zip(columns, unit.texts[1:], strict=True):
        parts += [column, repeat(text, n)]
    return ["".join(pieces) for pieces in zip(*parts, strict=False)]


def read_template(path: str) -> Template:
    """The template of a file."""
    return _parsed("<stdin>" if path == "-" else path, list(text_lines(path)))


def parse_template(text: str, name: str = "<template>") -> Template:
    """The template of a text; `name` is what errors call it."""
    return _parsed(name, [Line(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1)])


def _parsed(name: str, lines: list[Line]) -> Template:
    units, pairs = [], False
    for line in lines:
        said = line.text.strip(BLANK)
        if not said or said.startswith("#"):
            continue
        if said.startswith("U"):
            units.append(_unit(said, f"{name}:{line.number}"))
        else:
            _check_pairs(said, f"{name}:{line.number}")
            pairs = True
    if not units:
        raise ValueError(f"{name}: no line U, so tokens would have no attributes: write one such as U00:%x[0,0]")
    if not pairs:
        raise ValueError(f"{name}: no line B, but a chain has weights of neighbouring labels: add the line B")
    return Template("\n".join(line.text for line in lines) + "\n", tuple(units))


def _unit(said: str, place: str) -> Unit:
    pieces = _MACRO.split(said)
    texts, cells = pieces[::3], list(zip(pieces[1::3], pieces[2::3], strict=True))
    wrong = next((text for text in texts if "%x" in text), None)
    if wrong is not None:
        raise ValueError(f"{place}: read {wrong[wrong.index('%x') :]!r}, expected %x[row,column] such as %x[-1,0]")
    return Unit(tuple(texts), tuple((int(row), int(column)) for row, column in cells))


def _check_pairs(said: str, place: str) -> None:
    """Refuses lines of an unknown kind, and pairs of labels that see the tokens."""
    if not said.startswith("B"):
        raise ValueError(f"{place}: read {said[:40]!r}: lines of a template begin with U, B or #")
    if "%x" in said:
        raise ValueError(
            f"{place}: weights of (observation, label before, label) are not there: write B alone for the weights of "
            f"neighbouring labels, and the observation as U{said[1:]}, which gives it a weight for each label"
        )
