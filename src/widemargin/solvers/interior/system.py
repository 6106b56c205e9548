"""The linear equations of an interior-point step, on the smaller side of the data.

    E dw - X^T dv = right            E, D > 0 diagonal
    dv + D (X dw + db) = pull        sum dv = imbalance, for a free intercept

Where features are fewer, dv is eliminated and (X^T D X + E) dw = right + X^T pull is solved; where rows are fewer, dw,
and (X E^-1 X^T + D^-1) dv = D^-1 pull - X E^-1 right. A regularized intercept is one more feature, the last one; a free
one is a feature with E = 0, or a border of the rows' matrix. The matrix is scaled to a unit diagonal, so that the
features' scales do not matter, factorised once and used for several right-hand sides, with one step of refinement each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...blas import limit_blas
from ...data.matrix import stored
from ...vectors import Vector
from ..linalg.gram import Gram

if TYPE_CHECKING:
    from ...objective.problem import Problem

Square = NDArray[np.float64]

# Added to the unit diagonal; grows until the factorisation succeeds.
LEAST_DAMPING, MOST_DAMPING = 1e-14, 1e-4


class System:
    """The equations of one run: `factorise` for each step, then `solve` for each right-hand side."""

    def __init__(self, problem: Problem) -> None:
        limit_blas()
        self.problem = problem
        rows, columns = problem.X.shape
        self._free = problem.intercept == "free"
        self._n_penalised = columns + (problem.intercept == "regularized")
        self._by_features = self._n_penalised <= rows
        self._gram = Gram(problem.X, problem.constant, problem.n_jobs) if self._by_features else None

    def matvec(self, w: Vector, b: float) -> Vector:
        """X w + b, where a regularized intercept is the last weight."""
        X, n_jobs = self.problem.X, self.problem.n_jobs
        if len(w) == X.shape[1]:
            return X.matvec(w, b, n_jobs=n_jobs)
        return X.matvec(w[:-1], self.problem.intercept_scale * float(w[-1]), n_jobs=n_jobs)

    def rmatvec(self, v: Vector) -> Vector:
        """X^T v, the constant feature's product last."""
        g = self.problem.X.rmatvec(v, n_jobs=self.problem.n_jobs)
        return np.append(g, self.problem.intercept_scale * float(v.sum())) if len(g) < self._n_penalised else g

    def accurate_rmatvec(self, v: Vector) -> Vector:
        """X^T v as if summed in twice the precision, the constant feature's product last."""
        g = self.problem.X.rmatvec(v, accurate=True)
        return np.append(g, self.problem.intercept_scale * float(v.sum())) if len(g) < self._n_penalised else g

    def factorise(self, D: Vector, E: Vector) -> bool:
        """Builds and factorises the matrix; False where it is singular or not finite."""
        from scipy.linalg.lapack import dpotrf

        self._D, self._E = D, E
        matrix = self._features_matrix() if self._by_features else self._rows_matrix()
        diagonal = matrix.diagonal()
        if not (np.isfinite(diagonal).all() and float(diagonal.min()) > 0):
            return False
        self._scale = 1 / np.sqrt(diagonal)
        matrix *= self._scale
        matrix *= self._scale[:, np.newaxis]
        damping = LEAST_DAMPING
        while damping <= MOST_DAMPING:
            np.fill_diagonal(matrix, 1 + damping)
            self._factor, failed = dpotrf(matrix.T, lower=1)  # the upper triangle, as LAPACK counts
            if not failed:
                if self._free and not self._by_features:
                    self._ones = self._back(np.ones(len(D)))
                return True
            damping *= 100
        return False

    def _features_matrix(self) -> Square:
        assert self._gram is not None
        self._gram.update(self._D)
        matrix = self._gram.matrix.copy()
        n = self._n_penalised
        matrix[np.arange(n), np.arange(n)] += self._E
        return matrix

    def _rows_matrix(self) -> Square:
        n, columns = self.problem.X.shape
        inverse = 1 / self._E
        matrix = stored(self.problem.X).outer(inverse[:columns])
        if self._n_penalised > columns:
            matrix += self.problem.intercept_scale**2 * inverse[-1]
        matrix[np.diag_indices(n)] += 1 / self._D
        return matrix

    def _back(self, right: Vector) -> Vector:
        from scipy.linalg.lapack import dpotrs

        found, _ = dpotrs(self._factor, self._scale * right, lower=1)
        solved: Vector = self._scale * found
        return solved

    def solve(self, right: Vector, pull: Vector, imbalance: float) -> tuple[Vector, float, Vector]:
        """dw, db and dz = X dw + db."""
        return (self._by_features_refined if self._by_features else self._by_rows_refined)(right, pull, imbalance)

    def _by_features_refined(self, right: Vector, pull: Vector, imbalance: float) -> tuple[Vector, float, Vector]:
        dw, db = self._solve_features(right + self.rmatvec(pull), float(pull.sum()) - imbalance)
        dv = pull - self._D * self.matvec(dw, db)
        more, shift = self._solve_features(right - self._E * dw + self.rmatvec(dv), float(dv.sum()) - imbalance)
        dw, db = dw + more, db + shift
        return dw, db, self.matvec(dw, db)

    def _solve_features(self, right: Vector, total: float) -> tuple[Vector, float]:
        if not self._free:
            return self._back(right), 0.0
        found = self._back(np.append(right, total))
        return found[:-1], float(found[-1])

    def _by_rows_refined(self, right: Vector, pull: Vector, imbalance: float) -> tuple[Vector, float, Vector]:
        start = right / self._E
        dv, db = self._solve_rows(pull / self._D - self.matvec(start, 0.0), imbalance)
        dw = start + self.rmatvec(dv) / self._E
        residual = (pull - dv) / self._D - self.matvec(dw, db)
        more, shift = self._solve_rows(residual, imbalance - float(dv.sum()))
        dv, db = dv + more, db + shift
        return start + self.rmatvec(dv) / self._E, db, (pull - dv) / self._D

    def _solve_rows(self, right: Vector, imbalance: float) -> tuple[Vector, float]:
        dv = self._back(right)
        if not self._free:
            return dv, 0.0
        db = (float(dv.sum()) - imbalance) / float(self._ones.sum())
        return dv - db * self._ones, db
