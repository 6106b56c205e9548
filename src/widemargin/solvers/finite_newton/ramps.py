"""Losses whose derivative is a clipped ramp: what makes an objective piecewise quadratic.

With the residual r = 1 - y z (regression: r = y - z) such a loss has  d loss / d r = scale * clip(r + shift, lo, hi).
A term is *active* while it is on the slanted part: there it is a square, elsewhere it is linear or zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...vectors import Vector

if TYPE_CHECKING:
    from ...objective.losses import Loss


@dataclass(frozen=True)
class Ramp:
    """A loss of the residual by its derivative, scale * clip(r + shift, lo, hi)."""

    scale: float
    shift: float
    lo: float
    hi: float

    def position(self, r: Vector) -> Vector:
        """r + shift, clipped: the derivative up to its scale."""
        return np.clip(r + self.shift if self.shift else r, self.lo, self.hi)

    def value(self, r: Vector, position: Vector) -> Vector:
        """The loss itself, from the residual and its clipped position."""
        return self.scale * position * ((r + self.shift) - 0.5 * position)

    def active(self, r: Vector) -> NDArray[np.bool_]:
        """Which terms are squares."""
        x = r + self.shift if self.shift else r
        return (x > self.lo) & (x < self.hi)

    def keeps_sets(self, before: Vector, after: Vector, slack: float = 1e-8) -> bool:
        """Whether every term is on the same piece after a move, up to `slack` (Appendix A, step 5, note 17)."""
        x, moved = before + self.shift, after + self.shift
        below, above = x <= self.lo, x >= self.hi
        least = np.where(above, self.hi - slack, np.where(below, -np.inf, self.lo - slack))
        most = np.where(below, self.lo + slack, np.where(above, np.inf, self.hi + slack))
        return bool(np.all((moved >= least) & (moved <= most)))

    @property
    def straight(self) -> bool:
        """Whether terms beyond the slanted part still pull, along a straight line."""
        return any(np.isfinite(end) and end != 0 for end in (self.lo, self.hi))

    @property
    def endless(self) -> bool:
        """Whether there is nothing beyond the slanted part: one parabola."""
        return bool(np.isinf(self.lo) and np.isinf(self.hi))


def has_ramp(loss: Loss) -> bool:
    """Whether the derivative of a loss is a clipped ramp, or a step that stands between two values, which it can round.

    An insensitive zone makes two of them.
    """
    return loss.piecewise and loss.zone == 0


def ramp_of(loss: Loss, width: float = 1.0) -> Ramp:
    """The ramp that a loss is; a step is rounded over |r| < width."""
    if loss.smooth:
        steep = 2 * loss.bend
        return Ramp(scale=1 / steep, shift=0.0, lo=steep * loss.lower, hi=steep * loss.upper)
    return rounded_step(loss, width)


def rounded_step(loss: Loss, width: float) -> Ramp:
    """A loss with a corner, such as the hinge, whose corner is rounded over |r| < width (section 6).

    For the hinge that is width/2 times the modified Huber loss at r/width + 1.
    """
    steep = 2 * width / (loss.upper - loss.lower)
    return Ramp(scale=1 / steep, shift=width + steep * loss.lower, lo=steep * loss.lower, hi=steep * loss.upper)
