"""The losses, as a reader wants them: value, derivative, curvature and conjugate, in NumPy.

A loss is data. Every one but the logistic is, in the residual r,

    loss(r) = max over a in [lower, upper] of  a r - bend a^2 - zone |a|

and loss_table.py holds the four numbers of each. z is the prediction x . w + b. Labels y are -1 or +1, and r = 1 - y z;
for regression y is the target, and r = y - z. The maximiser a is the row's dual variable, v = C a on the label's side
(v = y C a) or C a itself. Pieces with bend > 0 are parabolas, the others straight lines.

    conjugate(u, y) = sup over z of  u z - value(z, y)        (infinite outside its domain)

These are the definitions. `native/core/losses/losses.hpp` repeats them for passes over the data, and the tests hold the
two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..vectors import Vector
from .loss_table import LOSSES as LOSSES


class Loss:
    """A convex loss of the prediction: what solvers may ask of it, whatever it is."""

    name: str
    classification: bool = True
    bend: float = 0.0  # curvature of the conjugate, halved
    zone: float = 0.0  # residuals within cost nothing
    lower: float = -np.inf  # where the dual variable's share a may lie, on the label's side
    upper: float = np.inf
    piecewise: bool = False  # whether it is made of parabolas and straight lines
    probabilities: bool = False  # whether its scores are log odds

    @property
    def smooth(self) -> bool:
        """Whether the loss has a derivative everywhere."""
        return True

    @property
    def quadratic(self) -> bool:
        """Whether the loss is one parabola."""
        return False

    @property
    def most_curvature(self) -> float:
        """The largest second derivative in a prediction; zero where there are corners alone, or none is known."""
        return 0.0

    @property
    def straight_share(self) -> float:
        """The largest curvature, in |slope| of the straight piece if there is one."""
        return 0.0

    @property
    def most_straight_share(self) -> float:
        """The largest curvature in |slope| of a piece that is straight, or nearly so far out."""
        return self.straight_share

    @property
    def native(self) -> _core.Loss:
        """The loss as the native passes are told of it."""
        raise NotImplementedError

    def side(self, y: Vector) -> Vector | float:
        """The sign with which a row's share enters its dual variable: the label, or 1 for targets."""
        return y if self.classification else 1.0

    def dual_bounds(self, y: Vector) -> tuple[Vector, Vector]:
        """Where -u must lie for the conjugate to be finite: on the label's side for classification."""
        lower, upper = np.full_like(y, self.lower), np.full_like(y, self.upper)
        if self.classification:
            return np.where(y > 0, lower, -upper), np.where(y > 0, upper, -lower)
        return lower, upper

    def clipped_dual(self, v: Vector, y: Vector, C: Vector) -> Vector:
        """v between its bounds, C_i times those of the share; zero where C_i is."""
        alpha = self.side(y) * v
        if np.isfinite(self.lower):
            np.maximum(alpha, self.lower * C, out=alpha)
        if np.isfinite(self.upper):
            np.minimum(alpha, self.upper * C, out=alpha)
        alpha[C == 0] = 0.0
        alpha *= self.side(y)
        return alpha

    def of_residual(self, r: Vector) -> Vector:
        """loss(r), of a loss made of pieces."""
        raise NotImplementedError

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


@dataclass(frozen=True)
class Piecewise(Loss):
    """max over a in [lower, upper] of  a r - bend a^2 - zone |a|,  0 being one of those a."""

    name: str
    classification: bool
    bend: float = 0.0
    zone: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf

    piecewise = True

    @property
    def smooth(self) -> bool:
        return self.bend > 0

    @property
    def quadratic(self) -> bool:
        return self.smooth and self.zone == 0 and bool(np.isinf([self.lower, self.upper]).all())

    @property
    def steepness(self) -> float:
        """The curvature of the parabolas; zero where there are none."""
        return 0.5 / self.bend if self.bend > 0 else 0.0

    @property
    def most_curvature(self) -> float:
        return self.steepness

    @property
    def straight_share(self) -> float:
        slopes = [abs(bound) for bound in (self.lower, self.upper) if bound != 0 and np.isfinite(bound)]
        return self.steepness / min(slopes) if slopes else 0.0

    @property
    def native(self) -> _core.Loss:
        return _core.Loss(self.classification, self.bend, self.zone, self.lower, self.upper)

    def residual(self, z: Vector, y: Vector) -> Vector:
        """r: how far the margin is below 1, or the prediction below the target."""
        return 1 - y * z if self.classification else y - z

    def share(self, r: Vector) -> Vector:
        """The maximiser a, which is d loss / d r; at a kink the smallest of them."""
        beyond = self._beyond_zone(r)
        if self.smooth:
            return np.clip(self.steepness * beyond, self.lower, self.upper)
        return np.where(beyond > 0, self.upper, np.where(beyond < 0, self.lower, 0.0))

    def of_residual(self, r: Vector) -> Vector:
        a = self.share(r)
        return a * (self._beyond_zone(r) - self.bend * a)

    def _beyond_zone(self, r: Vector) -> Vector:
        return np.sign(r) * np.maximum(np.abs(r) - self.zone, 0.0)

    def value(self, z: Vector, y: Vector) -> Vector:
        return self.of_residual(self.residual(z, y))

    def derivative(self, z: Vector, y: Vector) -> Vector:
        return -self.side(y) * self.share(self.residual(z, y))

    def curvature(self, z: Vector, y: Vector) -> Vector:
        beyond = self._beyond_zone(self.residual(z, y))
        wanted = self.steepness * beyond
        slanted = (wanted > self.lower) & (wanted <= self.upper) & ((beyond != 0) | (self.zone == 0))
        return np.where(slanted, self.steepness, 0.0)

    def conjugate(self, u: Vector, y: Vector) -> Vector:
        a = -self.side(y) * u
        target = 1.0 if self.classification else y
        inside = a * (self.bend * a - target) + self.zone * np.abs(a)
        return np.where((a < self.lower) | (a > self.upper), np.inf, inside)


class Logistic(Loss):
    """log(1 + exp(-y z))"""

    name = "logistic"
    lower, upper = 0.0, 1.0
    probabilities = True

    @property
    def most_curvature(self) -> float:
        return 0.25

    @property
    def most_straight_share(self) -> float:
        return 0.5  # far on the wrong side its curvature vanishes although its slope pulls

    @property
    def native(self) -> _core.Loss:
        return _core.Loss.logistic()

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


class LossesThat(Set[str]):
    """The names of the losses for which something is true: of those in `LOSSES` now, and of those that will be.

    Examples
    --------
    >>> from widemargin.objective.losses import LossesThat
    >>> sorted(LossesThat(lambda loss: loss.probabilities))
    ['logistic']
    """

    def __init__(self, fits: Callable[[Loss], bool], also: tuple[str, ...] = ()) -> None:
        self._fits = fits
        self._also = also  # losses of problems that are not of one prediction per row

    @classmethod
    def _from_iterable(cls, names: Iterable[Any]) -> Set[Any]:
        """What intersections and unions with other sets are: plain sets of names."""
        return frozenset(names)

    def __contains__(self, name: object) -> bool:
        return name in self._also or (name in LOSSES and self._fits(LOSSES[str(name)].usual))

    def __iter__(self) -> Iterator[str]:
        return (name for name in (*LOSSES, *self._also) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"{{{', '.join(self)}}}"


ALL_LOSSES = LossesThat(lambda loss: True)
SMOOTH_LOSSES = LossesThat(lambda loss: loss.smooth)


def make_loss(name: str, **parameters: float) -> Loss:
    """The loss of that name; `parameters` are its own, such as epsilon, delta or q, and no others.

    Examples
    --------
    >>> from widemargin.objective.losses import make_loss
    >>> make_loss("quantile", q=0.9).upper
    0.9
    """
    if not isinstance(name, str) or name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}: use one of {', '.join(LOSSES)}")
    return LOSSES[name](**parameters)
