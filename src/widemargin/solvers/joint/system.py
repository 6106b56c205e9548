"""The linear equations of a step, with a block of curvatures for every row.

    E dx - A^T dv = right            E diagonal, 1 where the penalty holds a coordinate and 0 where it is free
    dv + D A dx = pull               D one block per row, D_i >= 0

A makes predictions, several for each row, from the coordinates x. dv is eliminated and (A^T D A + E) dx = right +
A^T pull solved, the matrix scaled to a unit diagonal, so that the features' scales do not matter, factorised once and
used for several right-hand sides, with steps of refinement each. Where these leave too much, the matrix has lost what
matters: from then on the factor comes from D^1/2 A itself (linalg/orthogonal.py), if that is affordable, and
products are summed in twice the precision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...blas import limit_blas
from ...data.rows import Table
from ...vectors import Vector
from ..linalg.orthogonal import Dense, Orthogonal

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Added to the unit diagonal; grows until the factorisation succeeds.
LEAST_DAMPING, MOST_DAMPING = 1e-15, 1e-4
# Steps of refinement: two, and more of them while each leaves at most FALLS of the residual before it. Above MOST_LEFT
# of the right-hand side after them, the factor is not good enough.
REFINEMENTS, MOST_REFINEMENTS, FALLS, MOST_LEFT = 2, 6, 0.1, 1e-9
# Entries of D^1/2 A, and of these times its columns, beyond which an orthogonal factorisation takes more than seconds.
MOST_ENTRIES, MOST_WORK = 2e7, 1.5e10


class JointSystem(ABC):
    """The equations of one run: `factorise` for each step, then `solve` for each right-hand side."""

    held: Vector  # E
    n_values: int  # predictions of all rows together

    def __init__(self) -> None:
        limit_blas()
        self._careful = False
        self._orthogonal: Orthogonal | None = None

    # What a kind of problem must say.

    @abstractmethod
    def matvec(self, x: Vector) -> Table:
        """A x, rows x values."""

    @abstractmethod
    def rmatvec(self, v: Table, *, accurate: bool = True) -> Vector:
        """A^T v; accurate: as if summed in twice the precision."""

    @abstractmethod
    def take(self, curvature: Any) -> None:
        """Takes notice of the rows' curvatures D."""

    @abstractmethod
    def curved(self, dz: Table) -> Table:
        """D dz"""

    @abstractmethod
    def _matrix(self) -> Dense:
        """A^T D A + E, the upper triangle at least, in the order of the factor."""

    @abstractmethod
    def _data(self) -> Dense:
        """B with B^T B = A^T D A + E, its columns in the order of the factor."""

    def _in(self, x: Vector) -> Vector:
        """A right-hand side in the order of the factor."""
        return x

    def _out(self, x: Vector) -> Vector:
        """A solution in the order of the coordinates."""
        return x

    # What follows from it.

    @property
    def order(self) -> int:
        """Number of unknowns."""
        return len(self.held)

    @property
    def _may_be_orthogonal(self) -> bool:
        entries = (self.n_values + self.order) * self.order
        return entries <= MOST_ENTRIES and entries * self.order <= MOST_WORK

    def factorise(self, curvature: Any) -> bool:
        """Builds and factorises the matrix; False where it is singular or not finite."""
        self.take(curvature)
        if self._orthogonal is not None or not self._factorise_product():
            return self._factorise_data()
        return True

    def _factorise_product(self) -> bool:
        from scipy.linalg.lapack import dpotrf

        matrix = self._matrix()
        diagonal = matrix.diagonal().copy()
        if not np.isfinite(diagonal).all():
            return False
        self._scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        matrix *= self._scale
        matrix *= self._scale[:, np.newaxis]
        damping = LEAST_DAMPING
        while damping <= MOST_DAMPING:
            np.fill_diagonal(matrix, 1 + damping)
            self._factor, failed = dpotrf(matrix.T, lower=1)  # the upper triangle, as LAPACK counts
            if not failed:
                return True
            damping *= 100
        return False

    def _factorise_data(self) -> bool:
        """The factor from the data themselves, if that is affordable."""
        if not self._may_be_orthogonal:
            return False
        self._careful, self._orthogonal = True, Orthogonal(self._data())
        return self._orthogonal.is_regular

    def _back(self, right: Vector) -> Vector:
        from scipy.linalg.lapack import dpotrs

        right = self._in(right)
        if self._orthogonal is not None:
            return self._out(self._orthogonal.solve_product(right))
        found, _ = dpotrs(self._factor, self._scale * right, lower=1)
        return self._out(self._scale * found)

    def solve(self, right: Vector, pull: Table) -> tuple[Vector, Table, Table]:
        """dx, A dx and dv."""
        found, left = self._refined(right, pull)
        if left > MOST_LEFT and not self._careful:
            self._careful = True
            if self._may_be_orthogonal and not self._factorise_data():
                self._orthogonal = None
            found, _ = self._refined(right, pull)
        return found

    def _refined(self, right: Vector, pull: Table) -> tuple[tuple[Vector, Table, Table], float]:
        """The step, and the share of the right-hand side that it leaves."""
        dx, dz, dv = np.zeros_like(right), np.zeros_like(pull), pull
        sizes = []
        while True:
            residual = right - self.held * dx + self.rmatvec(dv, accurate=self._careful)
            sizes.append(self._size(residual))
            if self._is_refined(sizes):
                return (dx, dz, dv), sizes[-1] / sizes[0] if sizes[0] > 0 else 0.0
            more = self._back(residual)
            # Corrections are added, not made anew from dx: D may be so large that the rounding of A dx would undo them.
            change = self.matvec(more)
            dx, dz, dv = dx + more, dz + change, dv - self.curved(change)

    def _is_refined(self, sizes: list[float]) -> bool:
        """Whether more refinement would not pay, from the residuals' sizes so far."""
        if len(sizes) <= REFINEMENTS:
            return False
        falls = self._careful and sizes[-1] <= FALLS * sizes[-2]
        return not falls or len(sizes) > MOST_REFINEMENTS or sizes[-1] == 0

    def _size(self, residual: Vector) -> float:
        """The largest residual, those of all equations made comparable by the root of the matrix's diagonal."""
        return float(np.abs(self._in(residual) * self._scale).max(initial=0.0))


def upper_and_lower(square: Dense) -> Dense:
    """The symmetric matrix of which the upper triangle is given."""
    upper: NDArray[np.float64] = np.triu(square)
    return upper + np.triu(square, 1).T
