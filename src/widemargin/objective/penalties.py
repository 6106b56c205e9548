"""The penalties: l2, l1 and their mixture. One formula holds all three.

R(w)  = rho |w|_1 + (1 - rho)/2 |w|^2             rho = 0: l2,   rho = 1: l1
R*(g) = sum_j max(0, |g_j| - rho)^2 / (2 (1 - rho)),   for rho = 1 the indicator of |g|_inf <= 1
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ..vectors import Vector, inner

PENALTIES = ("l2", "l1", "elasticnet")


@dataclass(frozen=True)
class Penalty:
    """rho |w|_1 + (1 - rho)/2 |w|^2"""

    name: str
    rho: float

    @property
    def smooth(self) -> bool:
        """Whether the gradient exists everywhere."""
        return self.rho == 0

    def value(self, w: Vector) -> float:
        """R(w)"""
        total = 0.5 * (1 - self.rho) * inner(w, w) if self.rho < 1 else 0.0
        return total + self.rho * float(np.abs(w).sum()) if self.rho > 0 else total

    def subgradient(self, w: Vector, g: Vector) -> Vector:
        """The shortest element of g + dR(w): zero exactly where w_j is optimal against the slope g_j."""
        slope = g + (1 - self.rho) * w
        if self.rho == 0:
            return slope
        at_zero = np.sign(slope) * np.maximum(0.0, np.abs(slope) - self.rho)
        return np.where(w == 0, at_zero, slope + self.rho * np.sign(w))

    def dual_scale(self, g: Vector) -> float:
        """The largest t <= 1 for which R*(t g) is finite."""
        if self.rho < 1:
            return 1.0
        longest = float(np.abs(g).max(initial=0.0))
        return 1.0 if longest <= 1 else 1.0 / longest

    def conjugate(self, g: Vector) -> float:
        """R*(g)"""
        if self.rho == 0:
            return 0.5 * inner(g, g)
        beyond = np.maximum(0.0, np.abs(g) - self.rho)
        if self.rho < 1:
            return inner(beyond, beyond) / (2 * (1 - self.rho))
        # g was scaled onto the border: what rounding leaves beyond it is not a violation.
        return 0.0 if float(beyond.max(initial=0.0)) <= 1e-12 else np.inf


def make_penalty(name: str, l1_ratio: float) -> Penalty:
    """The penalty of that name; `l1_ratio` is rho of the elastic net."""
    if name not in PENALTIES:
        raise ValueError(f"unknown penalty {name!r}: use one of {', '.join(PENALTIES)}")
    if not (isinstance(l1_ratio, Real) and 0 <= l1_ratio <= 1):
        raise ValueError(f"l1_ratio must be between 0 and 1, got {l1_ratio!r}")
    return Penalty(name, {"l2": 0.0, "l1": 1.0, "elasticnet": float(l1_ratio)}[name])
