"""Two classes: one model, whose sign decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..vectors import Vector
from .strategy import Ask, Fit, Labelled, Strategy, Table
from .two_class_fits import fit_each


@dataclass(frozen=True)
class Binary(Strategy):
    """One model: a score above zero means the second class."""

    has_probabilities = True

    def fit(self, data: Labelled, ask: Ask) -> Fit:
        """One fit, its passes on up to n_jobs threads."""
        return fit_each(data, [lambda: np.asarray(data.codes == 1)], ask)

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
        return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
