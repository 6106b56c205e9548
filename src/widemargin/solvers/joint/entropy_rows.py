"""The rows of the multinomial logistic loss: v = C (e_y - p) at the optimum, p the probabilities; no bound is reached.

A step brings v to the slopes at the predictions, to first order: v + dv = C (e_y - p) - D dz. Kept for itself it is
known more exactly than predictions over long features could tell it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...data.rows import Table
from ...vectors import Vector
from ..interior.pairs import Pair
from .class_curvature import ClassCurvature

if TYPE_CHECKING:
    from ...objective.maximum_entropy import MaximumEntropyProblem

# Classes with less than this probability count as having this much: their curvature is nothing beside the others'.
LEAST_PROBABILITY = 1e-14


class EntropyRows:
    """The dual variables of a MaximumEntropyProblem whose weights are all above zero."""

    def __init__(self, problem: MaximumEntropyProblem, z: Table) -> None:
        self._problem = problem
        self.pairs: list[Pair] = []
        self._keeps_v = False
        self.measure(z)

    def measure(self, z: Table) -> None:
        p = self._problem.probabilities(z)
        self._slopes = self._problem.clipped_dual(-self._problem.weights[:, np.newaxis] * p)
        self._d = self._problem.weights[:, np.newaxis] * np.maximum(p, LEAST_PROBABILITY)
        if not self._keeps_v:
            self.v, self._keeps_v = self._slopes, True

    def curvature(self) -> ClassCurvature:
        return ClassCurvature(self._d)

    def pull(self, targets: Sequence[Vector | float]) -> Table:
        return self._slopes - self.v

    def answer(self, dz: Table, dv: Table) -> list[Vector]:
        return []

    def moved(self, dv: Table) -> None:
        self.v = self._problem.clipped_dual(self.v + dv)

    def begin_anew(self) -> None:
        self._keeps_v = False
