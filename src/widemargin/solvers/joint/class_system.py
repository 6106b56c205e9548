"""The equations of a step for one weight vector per class: Z = [X s] W, x = W feature by feature.

The matrix is sum_i D_i (x) x_i x_i^T + E, in blocks of one pair of classes each, class by class. A constant added to
the weights of all classes of one feature changes no loss, and at the optimum their sum is zero; E alone knows of that
direction, which is nothing beside the rest where features are long. So all right-hand sides and steps are kept at sums
of zero, and for every feature a multiple of 1 1^T is added to the matrix, which then no equation feels.
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

    def balanced(self, x: Vector) -> Vector:
        """x with sums of zero over the classes: never worse."""
        return self._out(self._in(x))

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
        table = x.reshape(-1, self._k)
        found: Vector = (table - table.mean(axis=1, keepdims=True)).T.reshape(-1)
        return found

    def _out(self, x: Vector) -> Vector:
        table = x.reshape(self._k, -1)
        found: Vector = (table - table.mean(axis=0)).T.reshape(-1)
        return found

    def _matrix(self) -> Dense:
        problem, k, n = self._problem, self._k, self.order // self._k
        matrix = np.zeros((self.order, self.order))
        for m in range(k):
            for other in range(m, k):
                h = self._D.entry(m, other)
                block = problem.X.sandwich(h, constant=problem.constant, n_jobs=problem.n_jobs)
                matrix[m * n : (m + 1) * n, other * n : (other + 1) * n] = upper_and_lower(block)
        matrix[np.diag_indices(self.order)] += self._held_by_class()
        common = matrix.diagonal().reshape(k, n).mean(axis=0)
        for j in range(n):
            matrix[j::n, j::n] += common[j]
        return matrix

    def _held_by_class(self) -> Vector:
        return self.held.reshape(-1, self._k).T.reshape(-1)

    def _data(self) -> Dense:
        X, constant, k = dense(stored(self._problem.X)), self._problem.constant, self._k
        if constant:
            X = np.column_stack([X, np.full(len(X), constant)])
        F = self._D.roots()
        rows, n = X.shape
        B = np.zeros((rows * k + self.order + n, self.order))
        for m in range(k):
            for other in range(k):
                B[m * rows : (m + 1) * rows, other * n : (other + 1) * n] = F[:, m, other, np.newaxis] * X
        B[rows * k + np.arange(self.order), np.arange(self.order)] = np.sqrt(self._held_by_class())
        common = np.linalg.norm(B, axis=0).reshape(k, n).max(axis=0)
        for j in range(n):
            B[j - n, j::n] = common[j]
        return B
