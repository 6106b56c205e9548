"""The equations of a step for ordinal regression: z_is = x_i . w - b_s, x = (w, b).

A^T D A = [ X^T diag(sum_s d_s) X    -X^T [d_1 ... d_t]  ]          D diagonal, rows x thresholds
          [                          diag(sum_i d_is)    ]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...data.matrix import stored
from ...data.rows import Table
from ...vectors import Vector
from ..linalg.orthogonal import Dense, dense
from .system import JointSystem

if TYPE_CHECKING:
    from ...objective.ordinal import OrdinalProblem


class OrdinalSystem(JointSystem):
    """The equations of an OrdinalProblem."""

    def __init__(self, problem: OrdinalProblem) -> None:
        super().__init__()
        self._problem, self._n = problem, problem.X.shape[1]
        self.n_values = problem.X.shape[0] * problem.n_thresholds
        self.held = np.ones(problem.size)
        if problem.free:
            self.held[self._n :] = 0.0

    def matvec(self, x: Vector) -> Table:
        z = self._problem.X.matvec(x[: self._n], n_jobs=self._problem.n_jobs)
        table: Table = z[:, np.newaxis] - x[self._n :]
        return table

    def rmatvec(self, v: Table, *, accurate: bool = True) -> Vector:
        g = self._problem.X.rmatvec(v.sum(axis=1), accurate=accurate, n_jobs=self._problem.n_jobs)
        return np.append(g, -v.sum(axis=0))

    def take(self, curvature: Table) -> None:
        self._d = curvature

    def curved(self, dz: Table) -> Table:
        return self._d * dz

    def _matrix(self) -> Dense:
        X, n, n_jobs = self._problem.X, self._n, self._problem.n_jobs
        matrix = np.zeros((self.order, self.order))
        matrix[:n, :n] = X.sandwich(self._d.sum(axis=1), n_jobs=n_jobs)
        matrix[:n, n:] = -X.rmatmat(self._d, n_jobs=n_jobs)
        places = np.arange(n, self.order)
        matrix[places, places] = self._d.sum(axis=0)
        matrix[np.diag_indices(self.order)] += self.held
        return matrix

    def _data(self) -> Dense:
        X, n = dense(stored(self._problem.X)), self._n
        rows, roots = len(X), np.sqrt(self._d)
        B = np.zeros((self.n_values + self.order, self.order))
        for s in range(roots.shape[1]):
            part = slice(s * rows, (s + 1) * rows)
            B[part, :n] = roots[:, s, np.newaxis] * X
            B[part, n + s] = -roots[:, s]
        B[self.n_values + np.arange(self.order), np.arange(self.order)] = np.sqrt(self.held)
        return B
