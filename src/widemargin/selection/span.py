"""The best combination of points that are known already: where a fit at the next C starts.

    min over a    1/2 |sum_k a_k w_k|^2 + sum_i C_i loss(y_i, sum_k a_k z_ik),     z_k = X w_k + b_k

With the predictions z_k at hand a step of Newton's method in a costs O(rows), no pass over the data. Along C the
coefficients move on a smooth curve, of which the last three points span nearly all: the minimum over their span is
often so close to the solution that its certificate needs no further step. A free intercept is one more vector of the
span, constant and not penalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..vectors import Vector

if TYPE_CHECKING:
    from ..objective.points import Point
    from ..objective.problem import Problem

MOST_STEPS = 20
# A step that promises less than this share of the objective is the last.
ENOUGH = 1e-5
# Points of the span that differ by less than this are one.
RANK = 1e-13


def best_in_span(problem: Problem, points: Sequence[Point]) -> tuple[Vector, float]:
    """The combination of the points that minimises the problem: its coefficients and its intercept."""
    span = _Span(problem, points)
    a = np.zeros(span.size)
    a[0] = 1.0
    value, g, H = span.losses(a)
    for _ in range(MOST_STEPS):
        if not (np.isfinite(g).all() and np.isfinite(H).all()):
            return span.point(a)  # beyond the range of floats
        d = -np.linalg.lstsq(H, g, rcond=RANK)[0]
        if -float(g @ d) <= ENOUGH * abs(value):
            return span.point(a + d)  # too little is left to be worth a look
        there = span.losses(a + d)
        while not there[0] <= value:
            d *= 0.25
            if float(np.abs(d).max()) <= RANK * float(np.abs(a).max()):
                return span.point(a)
            there = span.losses(a + d)
        a += d
        value, g, H = there
    return span.point(a)


class _Span:
    """The objective as a function of the points' shares."""

    def __init__(self, problem: Problem, points: Sequence[Point]) -> None:
        self.problem = problem
        self._W = np.array([point.w for point in points])
        self._b = np.array([point.intercept for point in points])
        self._z = [point.z for point in points if point.z is not None]
        self._free = problem.intercept == "free"
        penalty = self._W @ self._W.T
        if problem.intercept == "regularized":
            penalty += np.outer(self._b, self._b) / problem.intercept_scale**2
        if self._free:
            self._z.append(np.ones_like(problem.y))
            penalty = np.pad(penalty, (0, 1))
        self._penalty = penalty

    @property
    def size(self) -> int:
        """Number of shares."""
        return len(self._z)

    def losses(self, a: Vector) -> tuple[float, Vector, Vector]:
        """Objective, gradient and Hessian in the shares."""
        problem = self.problem
        g, H = np.empty(self.size), np.empty(self.size**2)
        value = _core.span_losses(problem.loss.native, self._z, problem.y, problem.weights, a, g, H)
        pull = self._penalty @ a
        return value + 0.5 * float(a @ pull), g + pull, H.reshape(self.size, -1) + self._penalty

    def point(self, a: Vector) -> tuple[Vector, float]:
        """The combination itself."""
        known = len(self._b)
        b = float(a[:known] @ self._b) + (float(a[-1]) if self._free else 0.0)
        return a[:known] @ self._W, b
