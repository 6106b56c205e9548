"""The rows of ordinal regression: a dual variable for every row and threshold, each bounded by itself.

Rows and thresholds together are the rows of a problem of two classes, sigma_is, with predictions x_i . w - b_s; what
interior/rows.py knows of those serves here as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.rows import Table
from ...vectors import Vector
from ..interior.pairs import Pair
from ..interior.rows import BoundedRows

if TYPE_CHECKING:
    from ...objective.ordinal import OrdinalProblem
    from .ordinal_system import OrdinalSystem


class OrdinalRows:
    """The dual variables of an OrdinalProblem whose weights are all above zero."""

    def __init__(self, problem: OrdinalProblem, system: OrdinalSystem) -> None:
        self._shape = problem.X.shape[0], problem.n_thresholds
        terms: Any = _Terms(problem, system)
        self._terms = BoundedRows(terms, meets_ridge=True)

    @property
    def v(self) -> Table:
        """Rows x thresholds."""
        table: Table = self._terms.v.reshape(self._shape)
        return table

    @property
    def pairs(self) -> list[Pair]:
        """The dual variables and their multipliers, each row's thresholds after one another."""
        return self._terms.pairs

    def measure(self, z: Table) -> None:
        self._terms.measure(z.reshape(-1))

    def curvature(self) -> Table:
        return self._terms.weights().reshape(self._shape)

    def pull(self, targets: Sequence[Vector | float]) -> Table:
        return self._terms.pull(targets).reshape(self._shape)

    def answer(self, dz: Table, dv: Table) -> list[Vector]:
        return self._terms.answer(dz.reshape(-1), dv.reshape(-1))

    def moved(self, dv: Table) -> None:
        self._terms.moved(1.0, dv.reshape(-1))

    def begin_anew(self) -> None:
        """Every step is bounded."""


class _Terms:
    """Rows and thresholds as rows of two classes, with as much as the interior-point method asks of a problem."""

    intercept, intercept_scale, n_jobs = "none", 0.0, 1

    def __init__(self, problem: OrdinalProblem, system: OrdinalSystem) -> None:
        self.loss, self.penalty, self._system = problem.loss, problem.penalty, system
        self.y = np.stack([problem.sides(s) for s in range(problem.n_thresholds)], axis=1).reshape(-1)
        self.weights = np.repeat(problem.weights, problem.n_thresholds)
        self._thresholds = problem.n_thresholds
        self.X = self

    def rmatvec(self, v: Vector, *, n_jobs: int) -> Vector:
        """What the penalty holds of the coefficients that v makes."""
        return self._system.held * self._system.rmatvec(v.reshape(-1, self._thresholds))

    def matvec(self, x: Vector, intercept: float, *, n_jobs: int) -> Vector:
        """The predictions of all rows and thresholds, whose intercepts are among the coefficients."""
        return self._system.matvec(x).reshape(-1)
