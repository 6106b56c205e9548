"""One-against-rest: for each class, a model that tells it from all others (Yuan, Ho, Lin 2012, section V.A).

    class c:   min over w_c, b_c   R(w_c) + sum_i C_i loss(+1 if y_i = c else -1, x_i . w_c + b_c)
    predict:   argmax over c of  x . w_c + b_c

k problems with all rows each; k vectors to store and k products to predict.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .strategy import Ask, Fit, Labelled, Strategy, Table
from .two_class_fits import fit_each


@dataclass(frozen=True)
class OneVsRest(Strategy):
    """One model per class, each against all other rows."""

    has_probabilities = True

    def fit(self, data: Labelled, ask: Ask) -> Fit:
        """k fits, on up to n_jobs threads."""
        return fit_each(data, [partial(_is, data.codes, c) for c in range(data.n_classes)], ask)

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """Each model's own probability, divided by the sum over the classes."""
        each = expit(scores)
        total = each.sum(axis=1, keepdims=True)
        # Where every class is impossible, none of them is more likely than another.
        return np.asarray(np.where(total > 0, each, 1.0) / np.where(total > 0, total, float(n_classes)))


def _is(codes: NDArray[np.intp], c: int) -> NDArray[np.bool_]:
    return np.asarray(codes == c)
