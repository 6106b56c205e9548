"""The rows' side of the interior-point method: dual variables alpha with their bounds, or none where none are needed.

A row's dual variable is made of one or two arms, v_i = sum_k sign_k alpha_k with 0 <= alpha_k <= cap_k, so that its
conjugate is a parabola of each,

    C_i conjugate(-v_i / C_i) = sum_k  tilt_k alpha_k + bend/2 alpha_k^2

    hinge, squared_hinge, modified_huber    one arm, sign y_i, tilt -1
    the two epsilon-insensitive losses      two arms, signs 1 and -1, tilts epsilon - y_i and epsilon + y_i
    squared                                 the same with epsilon = 0

bend is 1 / (2 C_i) for the squared losses, else 0. At the optimum  tilt + bend alpha + sign z - lam + kap = 0  with the
multipliers lam of alpha >= 0 and kap of alpha <= cap. The slopes of the logistic loss never reach a bound: there v is
the slope at z itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...vectors import Vector

if TYPE_CHECKING:
    from ...objective.problem import Problem

# A row with less curvature than this share of C_i is as good as straight.
LEAST_CURVATURE = 1e-12


class Pair:
    """Vectors x, y > 0 whose products x_j y_j go to zero together; x moves with the model, y with the dual point."""

    def __init__(self, x: Vector, y: Vector) -> None:
        self.x, self.y = x, y

    @property
    def product(self) -> float:
        return float(np.sum(self.x * self.y))

    def pull(self, target: Vector | float) -> Vector:
        """What x would gain if y stood still and x y became the target."""
        return target / self.y - self.x

    def answer(self, target: Vector | float, dy: Vector) -> Vector:
        """dx for which, to first order, (x + dx) (y + dy) is the target."""
        return (target - self.x * dy) / self.y - self.x


class Rows(Protocol):
    """What the method asks of the rows."""

    v: Vector
    pairs: list[Pair]
    linear: bool  # whether the conjugate is: no bends

    def measure(self, z: Vector) -> None:
        """Takes notice of new predictions."""

    def weights(self) -> Vector:
        """-dv/dz"""

    def pull(self, targets: Sequence[Vector | float]) -> Vector:
        """dv where z stands still and the products of the pairs go to the targets."""

    def answer(self, dz: Vector) -> tuple[Vector, list[Vector]]:
        """dv, and dy of the pairs, for the last pull and a change of the predictions."""

    def moved(self) -> None:
        """Takes notice of pairs that have moved."""


def make_rows(problem: Problem) -> Rows:
    """The rows of a problem whose weights are all above zero, at the start of the method."""
    return SmoothRows(problem) if problem.loss.name == "logistic" else BoundedRows(problem)


class SmoothRows:
    """v = -C loss'(z)"""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.pairs: list[Pair] = []
        self.linear = False
        rows = np.zeros(problem.X.shape[0])
        self.measure(rows + (problem.best_intercept(rows) if problem.intercept == "free" else 0.0))

    def measure(self, z: Vector) -> None:
        u, self._curvature = self._problem.loss_derivatives(z)
        self.v = -u

    def weights(self) -> Vector:
        return np.maximum(self._curvature, LEAST_CURVATURE * self._problem.weights)

    def pull(self, targets: Sequence[Vector | float]) -> Vector:
        return np.zeros_like(self.v)

    def answer(self, dz: Vector) -> tuple[Vector, list[Vector]]:
        return -self.weights() * dz, []

    def moved(self) -> None:
        """v follows from z alone."""


class BoundedRows:
    """Arms between their bounds, one line of each matrix per arm."""

    def __init__(self, problem: Problem) -> None:
        loss, y, C = problem.loss, problem.y, problem.weights
        if loss.classification:
            self._sign, self._tilt = y[np.newaxis], np.full((1, len(y)), -1.0)
            unit = 1.0
        else:
            self._sign = np.repeat([[1.0], [-1.0]], len(y), axis=1)
            self._tilt = (0.0 if loss.name == "squared" else loss.epsilon) - self._sign * y
            unit = float(y.std()) or 1.0
        self._bend = np.zeros_like(C) if not loss.smooth else 0.5 / C
        self.linear = not loss.smooth
        self._alpha = np.ones_like(self._sign) * self._first(problem, unit)
        tilt = self._tilt + self._bend * self._alpha
        lam = np.maximum(tilt, 0.0) + unit
        self.pairs = [Pair(lam, self._alpha)]
        self._sides = [1.0]
        if np.isfinite(loss.dual_reach):
            self.pairs.append(Pair(lam - tilt, loss.dual_reach * C - self._alpha))
            self._sides.append(-1.0)
        self.measure(np.zeros_like(C))

    @staticmethod
    def _first(problem: Problem, unit: float) -> Vector:
        """In the middle of the bounds, or where a loss without an upper one stands for |residual| = 1.5; balanced."""
        C, reach = problem.weights, problem.loss.dual_reach
        if not problem.loss.classification:
            return C * (min(0.5 * reach, unit))
        first = C * (3.0 if np.isinf(reach) else 0.5 * reach)
        if problem.intercept != "free":
            return first
        positive = problem.y > 0
        above, below = float(C[positive].sum()), float(C[~positive].sum())
        if not (above > 0 and below > 0):  # rows of one class alone count: there is nothing to balance
            return first
        return first * np.where(positive, min(1.0, below / above), min(1.0, above / below))

    def measure(self, z: Vector) -> None:
        self.v = np.sum(self._sign * self._alpha, axis=0)
        self._slope = self._tilt + self._bend * self._alpha + self._sign * z
        self._slope -= sum(side * pair.x for side, pair in zip(self._sides, self.pairs, strict=True))
        with np.errstate(over="ignore"):  # a variable on its bound does not move, and 1 / infinity says so
            self._curvature = self._bend + sum(pair.x / pair.y for pair in self.pairs)

    def weights(self) -> Vector:
        weights: Vector = np.sum(1 / self._curvature, axis=0)
        return weights

    def pull(self, targets: Sequence[Vector | float]) -> Vector:
        self._force = -self._slope
        for side, pair, target in zip(self._sides, self.pairs, targets, strict=True):
            self._force += side * pair.pull(target)
        pulled: Vector = np.sum(self._sign * self._force / self._curvature, axis=0)
        return pulled

    def answer(self, dz: Vector) -> tuple[Vector, list[Vector]]:
        change = (self._force - self._sign * dz) / self._curvature
        return np.sum(self._sign * change, axis=0), [side * change for side in self._sides]

    def moved(self) -> None:
        self._alpha = self.pairs[0].y
