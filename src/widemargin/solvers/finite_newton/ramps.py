"""Losses whose derivative is a clipped ramp: what makes an objective piecewise quadratic.

With the residual r = 1 - y z (regression: r = y - z) such a loss has  d loss / d r = scale * clip(r + shift, lo, hi).
A term is *active* while it is on the slanted part: there it is a square, elsewhere it is linear or zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...vectors import Vector


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


RAMPS = {
    "squared_hinge": Ramp(scale=2.0, shift=0.0, lo=0.0, hi=np.inf),
    "modified_huber": Ramp(scale=2.0, shift=0.0, lo=0.0, hi=2.0),
    "squared": Ramp(scale=2.0, shift=0.0, lo=-np.inf, hi=np.inf),
}


def smoothed_hinge(tau: float) -> Ramp:
    """The hinge with its kink rounded over |r| < tau: tau/2 times the modified Huber loss at r/tau + 1 (section 6)."""
    return Ramp(scale=0.5 / tau, shift=tau, lo=0.0, hi=2 * tau)
