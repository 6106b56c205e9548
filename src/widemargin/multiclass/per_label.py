"""Labels that do not exclude one another: one two-class model per label, each deciding for itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .strategy import Ask, Fit, Labelled, Strategy, Table
from .two_class_fits import fit_each


@dataclass(frozen=True)
class PerLabel(Strategy):
    """One model per column of an indicator matrix."""

    has_probabilities = True

    def fit(self, data: Labelled, ask: Ask) -> Fit:
        """One fit per label, on up to n_jobs threads."""
        return fit_each(data, [partial(_has, data.codes, label) for label in range(data.n_classes)], ask)

    def predict(self, scores: Table, n_classes: int) -> NDArray[np.intp]:
        """1 for each label whose score is above zero."""
        return np.asarray(scores > 0, dtype=np.intp)

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """Each label's own probability; they need not sum to one."""
        return np.asarray(expit(scores))


def _has(indicator: NDArray[np.intp], label: int) -> NDArray[np.bool_]:
    return np.asarray(indicator[:, label] == 1)
