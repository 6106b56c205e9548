"""Curvatures of a row in its scores: D = diag(d) - d d^T / sum(d), d > 0, one d for every class.

Both losses of several classes have it: d = C p for the multinomial logistic loss with probabilities p, d = q / lam for
the interior points of Crammer and Singer's. D 1 = 0: what all scores have in common has no say. Where one class, the
leading one, outweighs the others by far, its own line of D would be lost in rounding: it is made from theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...data.rows import Table
from ...vectors import Vector

Cube = NDArray[np.float64]


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

    def roots(self) -> Cube:
        """F with F^T F = D, rows x classes x classes, the leading class's line zero.

        In the differences z_m - z_leading D is S (I - u u^T) S, S = diag(sqrt d), u = sqrt(d / sum d) over the other
        classes, and (I - g u u^T)^2 = I - u u^T for g = 1 / (1 + sqrt(d_leading / sum d)): nothing cancels.
        """
        s = np.sqrt(self.d)
        s[self.leading] = 0.0
        u = s / np.sqrt(self.total)[:, np.newaxis]
        g = 1 / (1 + np.sqrt(self.d[self.leading] / self.total))
        F: Cube = -(g[:, np.newaxis] * u)[:, :, np.newaxis] * (u * s)[:, np.newaxis, :]
        classes = np.arange(s.shape[1])
        F[:, classes, classes] += s
        F[self.leading[0], :, self.leading[1]] = -F.sum(axis=2)
        return F
