"""The equations of a step for one weight vector per class: Z = [X s] W, x = W feature by feature.

The matrix is sum_i D_i (x) x_i x_i^T + E, in blocks of one pair of classes each, class by class. A constant added to
all free intercepts changes nothing; that the matrix be regular, a multiple of 1 1^T is added in their places, of which
neither side of the equations knows anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...data.matrix import stored
from ...data.rows import Table
from ...vectors import Vector
from ..linalg.orthogonal import Dense, dense
from .class_curvature import ClassCurvature
from .system import JointSystem, upper_and_lower

if TYPE_CHECKING:
    from ...objective.multiclass import MulticlassProblem


class ClassSystem(JointSystem):
    """The equations of a MulticlassProblem."""

    def __init__(self, problem: MulticlassProblem) -> None:
        super().__init__()
        self._problem, self._k = problem, problem.n_classes
        self.n_values = problem.X.shape[0] * self._k
        self.held = np.zeros(problem.size)
        self.held[: problem.n_penalised] = 1.0
        self._free = problem.intercept == "free"

    def matvec(self, x: Vector) -> Table:
        return self._problem.scores(x)

    def rmatvec(self, v: Table, *, accurate: bool = True) -> Vector:
        if not accurate:
            return self._problem.adjoint(v)
        X = self._problem.X
        table = np.stack([X.rmatvec(np.ascontiguousarray(part), accurate=True) for part in v.T], axis=1)
        constant = self._problem.constant
        return np.append(table, constant * v.sum(axis=0)) if constant else table.reshape(-1)

    def take(self, curvature: ClassCurvature) -> None:
        self._D = curvature

    def curved(self, dz: Table) -> Table:
        return self._D.apply(dz)

    def _in(self, x: Vector) -> Vector:
        return x.reshape(-1, self._k).T.reshape(-1)

    def _out(self, x: Vector) -> Vector:
        table = x.reshape(self._k, -1).T.copy()
        if self._free:
            table[-1] -= table[-1].mean()
        return table.reshape(-1)

    def _matrix(self) -> Dense:
        problem, k, n = self._problem, self._k, self.order // self._k
        matrix = np.zeros((self.order, self.order))
        for m in range(k):
            for other in range(m, k):
                h = self._D.entry(m, other)
                block = problem.X.sandwich(h, constant=problem.constant, n_jobs=problem.n_jobs)
                matrix[m * n : (m + 1) * n, other * n : (other + 1) * n] = upper_and_lower(block)
        matrix[np.diag_indices(self.order)] += self._in(self.held)
        if self._free:
            matrix[n - 1 :: n, n - 1 :: n] += self._common()
        return matrix

    def _common(self) -> float:
        """What stands in for the curvature along constants added to all free intercepts."""
        return float(self._D.total.mean()) / self._k

    def _data(self) -> Dense:
        X, constant, k = dense(stored(self._problem.X)), self._problem.constant, self._k
        if constant:
            X = np.column_stack([X, np.full(len(X), constant)])
        s, u = self._D.root()
        rows, n = X.shape
        B = np.zeros((rows * k + self.order + 1, self.order))
        for m in range(k):
            for other in range(k):
                factor = (float(m == other) - u[:, m] * u[:, other]) * s[:, other]
                B[m * rows : (m + 1) * rows, other * n : (other + 1) * n] = factor[:, np.newaxis] * X
        B[rows * k + np.arange(self.order), np.arange(self.order)] = np.sqrt(self._in(self.held))
        if self._free:
            B[-1, n - 1 :: n] = np.sqrt(self._common())
        return B
