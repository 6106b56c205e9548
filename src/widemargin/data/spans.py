"""Spans of IOB labels, counted as the program conlleval of the shared tasks does.

A label is "O", or a prefix and a type: "B-NP", "I-NP" (also E and S). A span begins at B, at S, or where the type
changes or O ends; it counts as found only where its type and both of its ends are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """A type, and the positions from its first to before `end`."""

    type: str
    begin: int
    end: int


def _split(label: str) -> tuple[str, str]:
    prefix, _, kind = label.partition("-")
    return (prefix, kind) if prefix in ("B", "I", "E", "S") else ("O" if label == "O" else "I", label)


def spans(labels: Sequence[str]) -> list[Span]:
    """The spans of one sequence.

    >>> spans(["B-NP", "I-NP", "O", "I-VP", "B-VP"])
    [Span(type='NP', begin=0, end=2), Span(type='VP', begin=3, end=4), Span(type='VP', begin=4, end=5)]
    """
    found, begin, before = [], -1, ("O", "")
    for t, label in enumerate([*labels, "O"]):
        now = _split(str(label))
        inside, goes_on = before[0] != "O", now[0] in ("I", "E") and now[1] == before[1]
        ends = inside and (not goes_on or before[0] in ("E", "S"))
        if ends:
            found.append(Span(before[1], begin, t))
        if now[0] != "O" and (ends or not inside):
            begin = t
        before = now
    return found


@dataclass(frozen=True)
class SpanScore:
    """How many spans are right, found and wanted, in all or of one type."""

    right: int
    found: int
    wanted: int

    @property
    def precision(self) -> float:
        """The share of right ones among those found."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of right ones among those wanted."""
        return self.right / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.found + self.wanted
        return 2 * self.right / both if both else 0.0


def score_spans(truth: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> dict[str, SpanScore]:
    """The scores of each type, and under "" those of all.

    >>> scores = score_spans([["B-NP", "I-NP", "O"]], [["B-NP", "O", "B-NP"]])
    >>> scores[""].precision, scores["NP"].recall
    (0.0, 0.0)
    """
    right, found, wanted = Counter[str](), Counter[str](), Counter[str]()
    for own, other in zip(truth, predicted, strict=True):
        a, b = spans(own), spans(other)
        wanted.update(_kinds(a))
        found.update(_kinds(b))
        right.update(_kinds(set(a) & set(b)))
    kinds = ["", *sorted((set(found) | set(wanted)) - {""})]
    return {kind: SpanScore(right[kind], found[kind], wanted[kind]) for kind in kinds}


def _kinds(found: Iterable[Span]) -> Iterator[str]:
    for span in found:
        yield span.type
        yield ""
