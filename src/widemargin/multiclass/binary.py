"""Two classes: one model, whose sign decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..vectors import Vector
from .labelled import Labelled, Table
from .parts import Part, two_sides
from .strategy import Strategy, sigmoid


@dataclass(frozen=True)
class Binary(Strategy):
    """One model: a score above zero means the second class."""

    has_probabilities = True

    def parts(self, data: Labelled, settings: Mapping[str, Any]) -> Sequence[Part]:
        """The one problem, with the second class on the positive side."""
        return [Part(lambda: two_sides(lambda: data.X, np.asarray(data.codes == 1), data.common_weights, settings))]

    def subjects(self, classes: Sequence[Any]) -> list[tuple[Any, int]]:
        """The second class."""
        return [(classes[1], 0)]

    def decision(self, scores: Table, n_classes: int) -> Vector:
        """One value per row."""
        return scores[:, 0]

    def predict(self, scores: Table, n_classes: int) -> NDArray[np.intp]:
        """The second class where the score is above zero."""
        return np.asarray(scores[:, 0] > 0, dtype=np.intp)

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """1 / (1 + e^-score) for the second class, the rest for the first."""
        return np.column_stack([sigmoid(-scores[:, 0]), sigmoid(scores[:, 0])])
