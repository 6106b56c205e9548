"""The best epoch of a stochastic run: what such a run answers with.

At the end of an epoch w is where the last few rows have pulled it. Its objective may be tens of per cent above that of
the epoch before, and the losses that were met during the epoch do not show it: they are those of other points. So a
fixed sample of rows judges the end of every epoch, at the price of a small part of a pass:

    R(w) + sum over the sample of c_i loss(y_i, x_i . w + b),      c_i = C_i sum of all C_j / sum of the sample's C_j

All epochs have the same judges, so that what one has over another, sum_i c_i (loss_i - loss'_i), is known far better
than either objective: to about DOUBT standard deviations of that sum. A later epoch is on the whole the better one; it
is passed over where the sample leaves no doubt that it is not. Where the sample is all of the rows there is none.

What the sample has not seen may still weigh more than all that it has, a few rows far longer than others. So the answer
is looked at with all rows when it is asked for: one that is worse than w = 0, or not finite, gives way to w = 0. The
predictions are made once, for the certificate needs them as well.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...vectors import Vector
from ..base import Point

if TYPE_CHECKING:
    from ...objective.problem import Problem

SAMPLE = 4_000
DOUBT = 2.0
# The bound of the dual point zero: a conjugate is zero there.
NO_DUAL_POINT = 0.0


class BestEpoch:
    """The end of the best epoch and the best dual point, each as it was then; both are finite whatever is offered.

    What the driver has verified it keeps itself: `forget` lets the epochs after a verdict compete among themselves, so
    that judges who were mistaken in one are not mistaken for ever.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        rows, columns = problem.X.shape
        self._judges = Judges(problem, seed)
        self._w, self._intercept, self._v = np.zeros(columns), 0.0, np.zeros(rows)
        self._next_w, self._next_v = np.empty(columns), np.empty(rows)
        self._bound = NO_DUAL_POINT
        self._problem = problem

    @property
    def room(self) -> tuple[Vector, Vector]:
        """Where the next w and the next dual point are to be written before they are offered."""
        return self._next_w, self._next_v

    def forget(self) -> None:
        """Lets whatever is offered next be the best, if it is finite."""
        self._judges.forget()
        self._bound = NO_DUAL_POINT

    def offer(self, intercept: float) -> None:
        """The w that stands in the room, with that intercept: kept unless the judges know a better one."""
        if self._judges.accept(self._next_w, intercept):
            self._w, self._next_w = self._next_w, self._w
            self._intercept = intercept

    def offer_dual(self, bound: float) -> None:
        """The dual point that stands in the room, kept if its bound is the highest."""
        if bound > self._bound:
            self._bound = bound
            self._v, self._next_v = self._next_v, self._v

    def offer_latest_dual(self) -> None:
        """The dual point that stands in the room, kept because it is the latest: where no bound is known."""
        if math.isfinite(float(self._next_v.sum())):
            self._v, self._next_v = self._next_v, self._v

    def point(self) -> Point:
        """The best w with the best dual point: copies, for what is kept is written over."""
        return Point(self._w.copy(), self._intercept, self._v.copy())

    def answer(self) -> Point:
        """The best point with its predictions, or w = 0 where that is better."""
        problem, point, nothing = self._problem, self.point(), np.zeros_like(self._v)
        z = problem.X.matvec(point.w, point.intercept, n_jobs=problem.n_jobs)
        if problem.penalty_at(point) + problem.loss_sum(z) <= problem.loss_sum(nothing):
            return replace(point, z=z)
        return Point(np.zeros_like(point.w), 0.0, point.dual, nothing)


class Judges:
    """A fixed sample of rows, and its losses at the end of the epoch that they liked best."""

    def __init__(self, problem: Problem, seed: int) -> None:
        counted = np.flatnonzero(problem.weights > 0)
        self._problem = sampled(problem, counted, seed) if len(counted) > SAMPLE else problem
        self._unseen = max(0.0, 1 - SAMPLE / len(counted))  # without replacement a sum varies that much less
        self.forget()

    def forget(self) -> None:
        """Lets the next epoch be the one liked best."""
        self._objective, self._losses = math.inf, np.zeros(self._problem.X.shape[0])

    def accept(self, w: Vector, intercept: float) -> bool:
        """Whether w is not worse, beyond doubt, than the best that was seen; never where it is not finite."""
        problem = self._problem
        with np.errstate(over="ignore", invalid="ignore"):  # of a w that is not accepted
            z = problem.X.matvec(w, intercept, n_jobs=problem.n_jobs)
            losses = problem.weights * problem.loss.value(z, problem.y)
            objective = problem.penalty_value(w, intercept) + float(losses.sum())
        if not math.isfinite(objective):
            return False
        accepted = objective <= self._objective + DOUBT * self._deviation(losses)
        if objective <= self._objective:
            self._objective, self._losses = objective, losses
        return accepted

    def _deviation(self, losses: Vector) -> float:
        """The standard deviation of the difference between this epoch and the one liked best."""
        if self._unseen == 0:
            return 0.0
        return math.sqrt(self._unseen * len(losses)) * float(np.std(losses - self._losses))


def sampled(problem: Problem, counted: NDArray[np.intp], seed: int) -> Problem:
    """The problem as a random sample of the rows that count sees it."""
    chosen = np.sort(np.random.default_rng(seed).choice(counted, SAMPLE, replace=False))
    return problem.taken(chosen, stands_for=problem.weights.sum() / problem.weights[chosen].sum())
