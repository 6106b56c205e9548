"""How good labels of sequences are, counted as the shared tasks' program conlleval does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..data.spans import SpanScore, score_spans


class TagScore:
    """Tokens and spans that are right, counted sequence by sequence.

    Examples
    --------
    >>> score = TagScore()
    >>> score.add(["B-NP", "I-NP", "O"], ["B-NP", "I-NP", "B-VP"])
    >>> print(score.table())
    processed 3 tokens with 1 phrases; found: 2 phrases; correct: 1.
    accuracy:  66.67%; precision:  50.00%; recall: 100.00%; FB1:  66.67
                   NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
                   VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
    """

    def __init__(self) -> None:
        self.tokens = 0
        self.correct = 0
        self._spans: dict[str, SpanScore] = {"": SpanScore(0, 0, 0)}

    def add(self, truth: Sequence[str], predicted: Sequence[str]) -> None:
        """Counts a sequence in."""
        self.tokens += len(truth)
        self.correct += sum(a == b for a, b in zip(truth, predicted, strict=True))
        for kind, more in score_spans([truth], [predicted]).items():
            now = self._spans.get(kind, SpanScore(0, 0, 0))
            self._spans[kind] = SpanScore(now.right + more.right, now.found + more.found, now.wanted + more.wanted)

    @property
    def accuracy(self) -> float:
        """The share of tokens whose label is right."""
        return self.correct / self.tokens if self.tokens else 0.0

    def line(self) -> str:
        """The score in one line."""
        spans = self._spans[""]
        return f"accuracy: {100 * self.accuracy:6.2f}%; {_rates(spans)}"

    def table(self) -> str:
        """The table of conlleval."""
        spans = self._spans[""]
        lines = [
            f"processed {self.tokens} tokens with {spans.wanted} phrases; "
            f"found: {spans.found} phrases; correct: {spans.right}.",
            self.line(),
        ]
        lines += [f"{kind:>17}: {_rates(one)}  {one.found}" for kind, one in sorted(self._spans.items()) if kind]
        return "\n".join(lines)

    def facts(self) -> dict[str, Any]:
        """The counts for machines."""
        kinds = {kind: _facts(one) for kind, one in sorted(self._spans.items()) if kind}
        return {"tokens": self.tokens, "accuracy": self.accuracy, **_facts(self._spans[""]), "types": kinds}


def _rates(score: SpanScore) -> str:
    return f"precision: {100 * score.precision:6.2f}%; recall: {100 * score.recall:6.2f}%; FB1: {100 * score.f1:6.2f}"


def _facts(score: SpanScore) -> dict[str, Any]:
    return {
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "right": score.right,
        "found": score.found,
        "wanted": score.wanted,
    }
