"""What a multi-class method is: it makes problems of labels, and turns the scores of its models into classes.

A method gets the data (`Labelled`) and the words of `Problem` that all its models share, and makes `Part`s of them;
what solves these (solving.py) is the same for all methods. Scores are X coef^T + intercept, one column per model; what
they mean is the method's own business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..vectors import Vector
from .labelled import Labelled, Table
from .parts import Part
from .solving import Ask, solve_models
from .table import Models


@dataclass(frozen=True)
class Strategy:
    """Base of the methods. By default there is one model per class, and the highest score wins."""

    has_probabilities: ClassVar[bool] = False  # whether `probabilities` works, for models fitted with the logistic loss
    decides: ClassVar[str] = "scores"  # what the models speak for: "scores" of classes, or "pairs" of classes that vote

    def parts(self, data: Labelled, settings: Mapping[str, Any]) -> Sequence[Part]:
        """The problems, `settings` being words of `Problem`."""
        raise NotImplementedError

    def fit(self, data: Labelled, settings: Mapping[str, Any], ask: Ask) -> Models:
        """Fits all models."""
        return solve_models(self.parts(data, settings), data.X.shape[1], ask)

    def subjects(self, classes: Sequence[Any]) -> list[tuple[Any, int]]:
        """What the models are about, each with the number of the solution that tells of it."""
        return [(one, number) for number, one in enumerate(classes)]

    def decision(self, scores: Table, n_classes: int) -> Vector | Table:
        """What `decision_function` returns: one column per class, or one value per row for two classes."""
        return scores

    def predict(self, scores: Table, n_classes: int) -> NDArray[np.intp]:
        """The number of each row's class."""
        return np.asarray(np.argmax(self.decision(scores, n_classes), axis=1))

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """One column per class, for models fitted with the logistic loss; votes, for one, are no probabilities."""
        raise NotImplementedError


def sigmoid(scores: Table) -> Table:
    """1 / (1 + e^-score)"""
    from scipy.special import expit  # not before somebody wants probabilities

    return np.asarray(expit(scores))
