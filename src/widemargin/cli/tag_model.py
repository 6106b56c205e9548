"""Models of sequences from files, and what they say of other files, a few thousand tokens at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..data.tagging.formats import Tagged, TaggingFormat
    from ..estimators._chain import ChainModel

# As many tokens are read before they are labelled: enough for the threads, and output is never far behind input.
BATCH_TOKENS = 4096


class Prediction(NamedTuple):
    """A sequence of the file and the labels that the model gives it."""

    tagged: Tagged
    labels: list[str]


class Tagger(NamedTuple):
    """A model and how it reads files."""

    model: ChainModel
    files: TaggingFormat

    def predictions(self, path: str) -> Iterator[Prediction]:
        """The sequences of a file with their labels; memory does not grow with the file."""
        batch: list[Any] = []
        tokens = 0
        for tagged in self.files.sequences(path):
            batch.append(tagged)
            tokens += len(tagged.shown)
            if tokens >= BATCH_TOKENS:
                yield from self._labelled(batch)
                batch, tokens = [], 0
        yield from self._labelled(batch)

    def _labelled(self, batch: list[Tagged]) -> Iterator[Prediction]:
        found = self.model.predict([tagged.tokens for tagged in batch]) if batch else []
        for tagged, labels in zip(batch, found, strict=True):
            yield Prediction(tagged, [str(label) for label in labels])


def load_tagger(path: str, n_jobs: int) -> Tagger:
    """The model of a file that `tag train` wrote."""
    from ..data.tagging.formats import format_from
    from ..model.open import load_model

    model = load_model(path)
    if not hasattr(model, "transitions_"):
        raise ValueError(f"{path}: this is no model of sequences: use widemargin predict")
    if model._tagging is None:
        raise ValueError(f"{path}: the model does not say how it reads files: use one that widemargin tag train wrote")
    model.set_params(n_jobs=n_jobs)
    try:
        return Tagger(model, format_from(model._tagging))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
