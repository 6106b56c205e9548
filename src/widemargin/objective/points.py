"""Points: coefficients, the dual point beside them, and what is known of both.

Products with the data are dear. Whoever has made one leaves it in the point, and the certificate, the score and the
next start take it from there. A product belongs in a point only if it was made from these very vectors, or is the sum
of two that were: what many steps have added up is rounded too often for a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..vectors import Vector

# A dual point is what its problem understands: one value per row, rows x classes, marginals, ...
Dual = Any


@dataclass(frozen=True)
class Point:
    """A primal point, with its dual point if there is one.

    `w` are the coefficients as the problem lays them out; `intercept` stands beside them where it is none of them.
    """

    w: Vector = field(repr=False)
    intercept: float = 0.0
    dual: Dual | None = field(default=None, repr=False)
    z: Vector | None = field(default=None, repr=False)  # the predictions at (w, intercept), if they are known
    pull: Vector | None = field(default=None, repr=False)  # X^T dual, if it is known
    own_dual: bool = False  # whether the dual point is that of the primal one: -C_i loss' at z

    def bare(self) -> Point:
        """The point without its products."""
        return Point(self.w, self.intercept, self.dual)

    def without_dual(self) -> Point:
        """The primal point alone."""
        return replace(self, dual=None, pull=None, own_dual=False)
