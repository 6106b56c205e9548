"""Labels that do not exclude one another: one two-class model per label, each deciding for itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .labelled import Labelled, Table
from .one_vs_rest import OneVsRest
from .parts import Positives
from .strategy import sigmoid


@dataclass(frozen=True)
class PerLabel(OneVsRest):
    """One model per column of an indicator matrix, against the rows without that label."""

    def positives(self, data: Labelled, model: int) -> Positives:
        """The rows with that label."""
        return np.asarray(data.codes[:, model] == 1)

    def predict(self, scores: Table, n_classes: int) -> NDArray[np.intp]:
        """1 for each label whose score is above zero."""
        return np.asarray(scores > 0, dtype=np.intp)

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """Each label's own probability; they need not sum to one."""
        return sigmoid(scores)
