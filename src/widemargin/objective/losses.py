"""The losses, as a reader wants them: value, derivative, curvature and conjugate, in NumPy.

These are the definitions. `native/core/losses/losses.hpp` repeats them for passes over the data, and the tests hold the
two against each other. z is the prediction x . w + b; y is -1 or +1 for classification, the target for regression.

    conjugate(u, y) = sup over z of  u z - value(z, y)        (infinite outside its domain)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numbers import as_number
from ..vectors import Vector


@dataclass(frozen=True)
class Loss:
    """A convex loss of the prediction."""

    epsilon: float = 0.0

    name: ClassVar[str]
    smooth: ClassVar[bool] = True
    classification: ClassVar[bool] = True
    dual_reach: ClassVar[float] = np.inf  # how far |u| may go before the conjugate is infinite
    straight_share: ClassVar[float] = 0.0  # the largest curvature, in |slope| of the straight piece if there is one

    @property
    def native(self) -> tuple[str, float]:
        """The loss as the native passes are told of it: the first words of their calls."""
        return self.name, self.epsilon

    @property
    def piecewise(self) -> bool:
        """Whether the loss is made of pieces of parabolas and lines."""
        return self.name != "logistic"

    def dual_bounds(self, y: Vector) -> tuple[Vector, Vector]:
        """Where -u must lie for the conjugate to be finite: on the label's side for classification."""
        reach = np.full_like(y, self.dual_reach)
        if self.classification:
            return np.where(y > 0, 0.0, -reach), np.where(y > 0, reach, 0.0)
        return -reach, reach

    def value(self, z: Vector, y: Vector) -> Vector:
        """loss(z, y)"""
        raise NotImplementedError

    def derivative(self, z: Vector, y: Vector) -> Vector:
        """d loss / d z; at a kink, one of the subgradients."""
        raise NotImplementedError

    def curvature(self, z: Vector, y: Vector) -> Vector:
        """d^2 loss / d z^2; at a jump, one of the two sides."""
        raise NotImplementedError

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        """sup over z of u z - loss(z, y)"""
        raise NotImplementedError


class Hinge(Loss):
    """max(0, 1 - y z): the L1-loss of the SVM papers."""

    name = "hinge"
    dual_reach = 1.0
    smooth = False

    def value(self, z: Vector, y: Vector) -> Vector:
        return np.maximum(0.0, 1 - y * z)

    def derivative(self, z: Vector, y: Vector) -> Vector:
        return np.where(y * z < 1, -y, 0.0)

    def curvature(self, z: Vector, y: Vector) -> Vector:
        return np.zeros_like(z)

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        a = -y * u
        return np.where((a < 0) | (a > 1), np.inf, -a)


class SquaredHinge(Loss):
    """max(0, 1 - y z)^2: the L2-loss of the SVM papers."""

    name = "squared_hinge"

    def value(self, z: Vector, y: Vector) -> Vector:
        return np.maximum(0.0, 1 - y * z) ** 2

    def derivative(self, z: Vector, y: Vector) -> Vector:
        return -2 * y * np.maximum(0.0, 1 - y * z)

    def curvature(self, z: Vector, y: Vector) -> Vector:
        return np.where(y * z < 1, 2.0, 0.0)

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        a = -y * u
        return np.where(a < 0, np.inf, a * (a / 4 - 1))


class Logistic(Loss):
    """log(1 + exp(-y z))"""

    name = "logistic"
    dual_reach = 1.0

    def value(self, z: Vector, y: Vector) -> Vector:
        return np.logaddexp(0.0, -y * z)

    def derivative(self, z: Vector, y: Vector) -> Vector:
        return -y * np.exp(-np.logaddexp(0.0, y * z))

    def curvature(self, z: Vector, y: Vector) -> Vector:
        return np.asarray(np.exp(-np.logaddexp(0.0, z) - np.logaddexp(0.0, -z)))

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        a = -y * u
        inside = np.clip(a, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.where(inside > 0, inside * np.log(inside), 0.0)
            entropy += np.where(inside < 1, (1 - inside) * np.log1p(-inside), 0.0)
        return np.where((a < 0) | (a > 1), np.inf, entropy)


class ModifiedHuber(Loss):
    """max(0, 1 - m)^2 while the margin m = y z is at least -1, the line -4 m below."""

    name = "modified_huber"
    dual_reach = 4.0
    straight_share = 0.5

    def value(self, z: Vector, y: Vector) -> Vector:
        m = y * z
        return np.where(m < -1, -4 * m, np.maximum(0.0, 1 - np.maximum(m, -1.0)) ** 2)

    def derivative(self, z: Vector, y: Vector) -> Vector:
        return -2 * y * np.clip(1 - y * z, 0.0, 2.0)

    def curvature(self, z: Vector, y: Vector) -> Vector:
        m = y * z
        return np.where((m < 1) & (m >= -1), 2.0, 0.0)

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        a = -y * u
        return np.where((a < 0) | (a > 4), np.inf, a * (a / 4 - 1))


class Squared(Loss):
    """(z - y)^2"""

    name = "squared"
    classification = False

    def value(self, z: Vector, y: Vector) -> Vector:
        return (z - y) ** 2

    def derivative(self, z: Vector, y: Vector) -> Vector:
        return 2 * (z - y)

    def curvature(self, z: Vector, y: Vector) -> Vector:
        return np.full_like(z, 2.0)

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        return u * (y + u / 4)


class EpsilonInsensitive(Loss):
    """max(0, |z - y| - epsilon)"""

    name = "epsilon_insensitive"
    dual_reach = 1.0
    smooth = False
    classification = False

    def value(self, z: Vector, y: Vector) -> Vector:
        return np.maximum(0.0, np.abs(z - y) - self.epsilon)

    def derivative(self, z: Vector, y: Vector) -> Vector:
        return np.where(np.abs(z - y) > self.epsilon, np.sign(z - y), 0.0)

    def curvature(self, z: Vector, y: Vector) -> Vector:
        return np.zeros_like(z)

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        return np.where(np.abs(u) > 1, np.inf, u * y + self.epsilon * np.abs(u))


class SquaredEpsilonInsensitive(Loss):
    """max(0, |z - y| - epsilon)^2"""

    name = "squared_epsilon_insensitive"
    classification = False

    def value(self, z: Vector, y: Vector) -> Vector:
        return np.maximum(0.0, np.abs(z - y) - self.epsilon) ** 2

    def derivative(self, z: Vector, y: Vector) -> Vector:
        return 2 * np.sign(z - y) * np.maximum(0.0, np.abs(z - y) - self.epsilon)

    def curvature(self, z: Vector, y: Vector) -> Vector:
        return np.where(np.abs(z - y) > self.epsilon, 2.0, 0.0)

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        return u * (y + u / 4) + self.epsilon * np.abs(u)


LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        Hinge,
        SquaredHinge,
        Logistic,
        ModifiedHuber,
        Squared,
        EpsilonInsensitive,
        SquaredEpsilonInsensitive,
    )
}


SMOOTH_LOSSES = frozenset(name for name, loss in LOSSES.items() if loss.smooth)


def make_loss(name: str, epsilon: float) -> Loss:
    """The loss of that name; `epsilon` is the width of the insensitive zone, for the losses that have one."""
    if not isinstance(name, str) or name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}: use one of {', '.join(LOSSES)}")
    return LOSSES[name](epsilon=as_number("epsilon", epsilon, least=0))
