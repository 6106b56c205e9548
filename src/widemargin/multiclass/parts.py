"""The problems that a method makes of labels, each made when its turn comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..data.rows import Rows
from ..objective.certificate import Certificate
from ..objective.multiclass import MulticlassProblem
from ..objective.points import Point
from ..objective.problem import Problem
from ..solvers.run.solution import Solution, Status
from ..solvers.run.trace import Trace
from ..vectors import Vector

Positives = NDArray[np.bool_]
OneProblem = Problem | MulticlassProblem
# The score of a side that every row is on: where each loss for labels is zero or below 1e-17.
CERTAIN = 40.0


@dataclass(frozen=True)
class OneSided:
    """No problem at all: every row that counts is on the same side."""

    positive: bool

    def solution(self, n_features: int) -> Solution:
        """The model without features, its score on the safe side."""
        return Solution(
            coef=np.zeros(n_features),
            intercept=CERTAIN if self.positive else -CERTAIN,
            dual=None,
            certificate=Certificate(0.0, 0.0),
            status=Status.CONVERGED,
            n_iter=1,
            seconds=0.0,
            solver="none",
            trace=Trace(),
            point=Point(np.zeros(n_features)),
        )


@dataclass(frozen=True)
class Part:
    """One of a method's problems: how it is made, and what it is about."""

    make: Callable[[], OneProblem | OneSided]
    title: str = ""  # what it is about, where there are others
    classes: tuple[int, ...] = ()  # the numbers of those it speaks for: one, or a pair; none where it speaks for all
    side: Callable[[], Positives] | None = None  # the positive rows, where all take part and weigh as in other parts
    rows: Callable[[], NDArray[np.intp]] | None = None  # the rows that take part; None for all

    def at(self, C: float) -> Self:
        """The part whose problem has another C."""

        def make() -> OneProblem | OneSided:
            made = self.make()
            return made if isinstance(made, OneSided) else made.with_C(C)

        return replace(self, make=make)


def two_sides(
    X: Callable[[], Rows], positive: Positives, weights: Vector | None, settings: Mapping[str, Any]
) -> Problem | OneSided:
    """The problem that tells positive rows from the others; the rows X() are asked for only if there are both."""
    counting = positive if weights is None else positive[weights > 0]
    if counting.all() or not counting.any():
        return OneSided(bool(counting.any()))
    return Problem(X(), np.where(positive, 1.0, -1.0), sample_weight=weights, **settings)
