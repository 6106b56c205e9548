"""One-against-rest: for each class, a model that tells it from all others (Yuan, Ho, Lin 2012, section V.A).

    class c:   min over w_c, b_c   R(w_c) + sum_i C_i loss(+1 if y_i = c else -1, x_i . w_c + b_c)
    predict:   argmax over c of  x . w_c + b_c

k problems with all rows each; k vectors to store and k products to predict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .labelled import Labelled, Table
from .parts import Part, Positives, two_sides
from .strategy import Strategy, sigmoid


@dataclass(frozen=True)
class OneVsRest(Strategy):
    """One model per class, each against all other rows."""

    has_probabilities = True

    def parts(self, data: Labelled, settings: Mapping[str, Any]) -> Sequence[Part]:
        """k problems of all rows."""
        return [self._part(data, model, settings) for model in range(len(data.classes))]

    def _part(self, data: Labelled, model: int, settings: Mapping[str, Any]) -> Part:
        return Part(
            lambda: two_sides(lambda: data.X, self.positives(data, model), data.weights_of(model), settings),
            f"class {data.classes[model]}",
            (model,),
            (lambda: self.positives(data, model)) if data.weighs_alike else None,
        )

    def positives(self, data: Labelled, model: int) -> Positives:
        """The rows of that class."""
        return np.asarray(data.codes == model)

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """Each model's own probability, divided by the sum over the classes."""
        each = sigmoid(scores)
        total = each.sum(axis=1, keepdims=True)
        # Where every class is impossible, none of them is more likely than another.
        return np.asarray(np.where(total > 0, each, 1.0) / np.where(total > 0, total, float(n_classes)))
