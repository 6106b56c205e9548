"""How a model of sequences reads files: by columns and a template, or by CRFsuite's attributes.

A format is kept in the model's file as plain facts, so that the model reads test files as it read its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from ..text_blocks import name_for_messages
from .attributes import read_attributes
from .columns import Columns, read_columns
from .lines import Line
from .template import Template, parse_template


class Tagged(NamedTuple):
    """A sequence of a file: its tokens' attributes, its labels where the file has them, and its lines to be shown."""

    tokens: list[Any]
    labels: list[str] | None
    shown: list[str]


class TaggingFormat(Protocol):
    """What a model of sequences asks of the format of its files."""

    def facts(self) -> dict[str, Any]:
        """The format as plain facts, which `format_from` reads."""

    def training(self, path: str) -> Iterator[Tagged]:
        """The sequences of a file whose tokens all have labels; errors say file and line."""

    def sequences(self, path: str) -> Iterator[Tagged]:
        """The sequences of a file with labels or without; errors say file and line."""


@dataclass
class TemplateColumns:
    """CoNLL columns by a template; in training the last column is the label."""

    name: ClassVar[str] = "columns"

    template: Template
    width: int = 0  # of the training file, the label's column with it; 0: not known yet

    def facts(self) -> dict[str, Any]:
        """The template's text and the number of columns."""
        return {"format": self.name, "template": self.template.text, "columns": self.width}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> TemplateColumns:
        """The format of those facts."""
        template, width = parse_template(str(facts["template"])), int(facts["columns"])
        if template.n_columns >= width:
            raise ValueError(f"the template reads column {template.n_columns - 1} of {width}, the labels the last one")
        return cls(template, width)

    def training(self, path: str) -> Iterator[Tagged]:
        """The sequences of a file, the labels in its last column."""
        for found in read_columns(path):
            self.width = len(found.rows[0])
            self._check(found, path, self.width - 1)
            yield self._tagged(found, labelled=True)

    def sequences(self, path: str) -> Iterator[Tagged]:
        """The sequences of a file that has the columns of training, the one of the labels or not."""
        for found in read_columns(path):
            width = len(found.rows[0])
            if width not in (self.width - 1, self.width):
                raise ValueError(
                    f"{name_for_messages(path)}:{found.lines[0].number}: {width} columns, the model was trained on "
                    f"{self.width}: give those, or {self.width - 1} without the labels"
                )
            yield self._tagged(found, labelled=width == self.width)

    def _check(self, found: Columns, path: str, usable: int) -> None:
        if self.template.n_columns > usable:
            raise ValueError(
                f"{name_for_messages(path)}:{found.lines[0].number}: the template reads column "
                f"{self.template.n_columns - 1}, the file has {usable} besides the labels (columns count from 0)"
            )

    def _tagged(self, found: Columns, *, labelled: bool) -> Tagged:
        labels = [row[-1] for row in found.rows] if labelled else None
        return Tagged(self.template.attributes(found.rows), labels, _texts(found.lines))


@dataclass
class AttributeLines:
    """CRFsuite's attributes, the label in front."""

    name: ClassVar[str] = "attributes"

    def facts(self) -> dict[str, Any]:
        """The name alone."""
        return {"format": self.name}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> AttributeLines:
        """The format, which has no settings."""
        return cls()

    def training(self, path: str) -> Iterator[Tagged]:
        """The sequences of a file, every token with its label."""
        for found in read_attributes(path):
            missing = next((line for line, label in zip(found.lines, found.labels, strict=True) if not label), None)
            if missing is not None:
                place = f"{name_for_messages(path)}:{missing.number}"
                raise ValueError(f"{place}: the label is missing: it stands before the first tab")
            yield Tagged(found.tokens, found.labels, found.labels)

    def sequences(self, path: str) -> Iterator[Tagged]:
        """The sequences of a file; those with a token that has no label count as not labelled."""
        for found in read_attributes(path):
            yield Tagged(found.tokens, found.labels if all(found.labels) else None, found.labels)


def _texts(lines: list[Line]) -> list[str]:
    return [line.text.rstrip(" \t") for line in lines]


_FROM_FACTS: dict[str, Callable[[Mapping[str, Any]], TaggingFormat]] = {
    TemplateColumns.name: TemplateColumns.from_facts,
    AttributeLines.name: AttributeLines.from_facts,
}


def format_from(facts: Any) -> TaggingFormat:
    """The format that a model's file tells, checked."""
    made = _FROM_FACTS.get(str(facts.get("format"))) if isinstance(facts, Mapping) else None
    if made is None:
        raise ValueError(f"this model reads files of an unknown format: {facts!r}")
    try:
        return made(facts)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"how this model reads files is malformed: {error}") from None
