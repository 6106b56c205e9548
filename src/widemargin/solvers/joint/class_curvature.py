"""Curvatures of a row in its scores: D = diag(d) - d d^T / sum(d), d > 0, one d for every class.

Both losses of several classes have it: d = C p for the multinomial logistic loss with probabilities p, d = q / lam for
the interior points of Crammer and Singer's. D 1 = 0: what all scores have in common has no say. Where one class, the
leading one, outweighs the others by far, its own line of D would be lost in rounding: it is made from theirs.
"""

from __future__ import annotations

import numpy as np

from ...data.rows import Table
from ...vectors import Vector


class ClassCurvature:
    """D of every row."""

    def __init__(self, d: Table) -> None:
        self.d = d
        self.leading = np.arange(len(d)), d.argmax(axis=1)  # the places of the leading classes
        self.total: Vector = d.sum(axis=1)

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are."""
        return bool(np.isfinite(self.total).all())

    def completed(self, others: Table) -> Table:
        """A table whose rows sum to zero: that of the leading class follows from the others."""
        others[self.leading] = 0.0
        others[self.leading] = -others.sum(axis=1)
        return others

    def apply(self, dz: Table) -> Table:
        """D dz"""
        apart = dz - dz[self.leading][:, np.newaxis]
        mean = (self.d * apart).sum(axis=1) / self.total
        return self.completed(self.d * (apart - mean[:, np.newaxis]))

    def entry(self, m: int, other: int) -> Vector:
        """The entries D_m,other of all rows."""
        if m != other:
            return -self.d[:, m] * (self.d[:, other] / self.total)
        rest = np.delete(self.d, m, axis=1).sum(axis=1)
        found: Vector = self.d[:, m] * (rest / self.total)
        return found

    def root(self) -> tuple[Table, Table]:
        """s and u of D = S (I - u u^T) S, S = diag(s), |u| = 1, in which I - u u^T is its own square."""
        s = np.sqrt(self.d)
        return s, s / np.sqrt(self.total)[:, np.newaxis]
