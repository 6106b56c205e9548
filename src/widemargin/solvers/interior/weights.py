"""The weights' side of the interior-point method: the two halves of each weight with their slacks, or w alone for l2.

With l1 or the elastic net w = a - c, and at the optimum

    s = rho + (1 - rho) w - X^T v >= 0,   t = rho - (1 - rho) w + X^T v >= 0,   a, c >= 0,    a_j s_j = c_j t_j = 0

With l2 alone there are no bounds: w = X^T v. Either way a step answers  E dw - X^T dv = right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ...vectors import Vector
from .pairs import Pair

# The slacks may be wrong by this share of rho: one that is smaller would stop every step.
MOST_NOISE = 0.1
# What the last digits of v make of x_j . v, in units of the rounding of the sum itself.
ULPS = 20


class Weights(Protocol):
    """What the method asks of the weights."""

    pairs: list[Pair]
    first: Vector  # the weights to begin with

    def measure(self, w: Vector, g: Vector, noise: Vector) -> None:
        """Takes notice of new weights, of g = X^T v, and of the rounding in it."""

    def curvature(self) -> Vector:
        """E"""

    def right(self, targets: Sequence[Vector | float]) -> Vector:
        """What E dw - X^T dv is to be, for those products of the pairs."""

    def answer(self, dw: Vector) -> list[Vector]:
        """dy of the pairs for a step in w that answers the last right-hand side."""

    def slacks(self) -> Vector:
        """How far each slope is from the bound on the side of its weight; zero where there is no bound."""


def make_weights(rho: float, g: Vector, mu: float, meets_ridge: bool) -> Weights:
    """The side of the weights at the start, where X^T v = g."""
    return SplitWeights(rho, g, mu, meets_ridge) if rho > 0 else PlainWeights(g, meets_ridge)


def first_weights(rho: float, g: Vector) -> Vector:
    """The w that makes every slack rho: it meets all conditions but the products, whatever the features' scales."""
    return g / (1 - rho)


class SplitWeights:
    """w = a - c. w itself is kept beside them, since their difference would lose the digits of a small one."""

    def __init__(self, rho: float, g: Vector, mu: float, meets_ridge: bool) -> None:
        self._rho, self._ridge = rho, 1 - rho
        self.first = first_weights(rho, g) if meets_ridge else np.zeros_like(g)
        slack = np.full_like(g, rho) if meets_ridge else rho + np.abs(g)
        half = np.maximum(mu / slack, np.abs(self.first).max(initial=0.0))
        self._a = Pair(half + np.maximum(self.first, 0.0), slack)
        self._c = Pair(half + np.maximum(-self.first, 0.0), slack.copy())
        self.pairs = [self._a, self._c]

    def measure(self, w: Vector, g: Vector, noise: Vector) -> None:
        self._w, floor = w, np.minimum(noise, MOST_NOISE * self._rho)
        bend = self._ridge * w
        self._s_residual = _settled(self._a, self._rho + bend - g, floor, ULPS * noise)
        self._t_residual = _settled(self._c, self._rho - bend + g, floor, ULPS * noise)

    def curvature(self) -> Vector:
        a, c = self._a, self._c
        self._bend = a.x / a.y + c.x / c.y
        return 1 / self._bend + self._ridge

    def right(self, targets: Sequence[Vector | float]) -> Vector:
        a, c = self._a, self._c
        gains = a.answer(targets[0], self._s_residual) - c.answer(targets[1], self._t_residual)
        gains -= self._w - (a.x - c.x)
        self._gains = gains
        return gains / self._bend

    def answer(self, dw: Vector) -> list[Vector]:
        # (1 - rho) dw - X^T dv, by the equation that dw solves: the product itself may be lost in rounding.
        turn = (self._gains - dw) / self._bend
        return [turn + self._s_residual, self._t_residual - turn]

    def slacks(self) -> Vector:
        return np.where(self._w > 0, self._a.y, self._c.y)


class PlainWeights:
    """w = X^T v"""

    def __init__(self, g: Vector, meets_ridge: bool) -> None:
        self.pairs: list[Pair] = []
        self.first = g if meets_ridge else np.zeros_like(g)
        self._ones = np.ones(len(g))

    def measure(self, w: Vector, g: Vector, noise: Vector) -> None:
        self._lacking = _visible(g - w, ULPS * noise)

    def curvature(self) -> Vector:
        return self._ones

    def right(self, targets: Sequence[Vector | float]) -> Vector:
        return self._lacking

    def answer(self, dw: Vector) -> list[Vector]:
        return []

    def slacks(self) -> Vector:
        return np.zeros_like(self._ones)


def _settled(pair: Pair, slack: Vector, floor: Vector, invisible: Vector) -> Vector:
    """What the slacks lack of their true values, after none is left below the floor; nothing where digits end."""
    pair.y = np.maximum(pair.y, floor)
    return _visible(slack - pair.y, invisible)


def _visible(lacking: Vector, invisible: Vector) -> Vector:
    """What is lacking, or nothing where it is no more than the last digits of v make: no step could mend that."""
    return np.where(np.abs(lacking) <= invisible, 0.0, lacking)
