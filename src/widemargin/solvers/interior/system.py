"""The linear equations of an interior-point step, on the smaller side of the data.

    E dw - X^T dv = right            E, D > 0 diagonal
    dv + D (X dw + db) = pull        sum dv = imbalance, for a free intercept

Where features are fewer, dv is eliminated and (X^T D X + E) dw = right + X^T pull is solved; where rows are fewer, dw,
and (X E^-1 X^T + D^-1) dv = D^-1 pull - X E^-1 right. A regularized intercept is one more feature, the last one; a free
one is a feature with E = 0, or a border of the rows' matrix. The matrix is scaled to a unit diagonal, so that the
features' scales do not matter, factorised once and used for several right-hand sides, with steps of refinement each.
Where these leave too much, the matrix has lost what matters, and from then on the factor comes from the data themselves
(linalg/orthogonal.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...blas import limit_blas
from ...data.matrix import stored
from ...vectors import Vector
from ..linalg.gram import Gram
from ..linalg.orthogonal import Orthogonal, dense, is_affordable

if TYPE_CHECKING:
    from ...objective.problem import Problem

Square = NDArray[np.float64]
Step = tuple[Vector, float, Vector, Vector]

# Added to the unit diagonal; grows until the factorisation succeeds.
LEAST_DAMPING, MOST_DAMPING = 1e-14, 1e-4
# Steps of refinement, and what may be left of the right-hand side after them.
REFINEMENTS, MOST_LEFT = 3, 1e-6
# Rows and features with less than this count as having this much, the largest number whose square is one.
LEAST = 1e-150


class System:
    """The equations of one run: `factorise` for each step, then `solve` for each right-hand side."""

    def __init__(self, problem: Problem, through_features: bool = False) -> None:
        limit_blas()
        self.problem = problem
        rows, columns = problem.X.shape
        self._free = problem.intercept == "free"
        self._n_penalised = columns + (problem.intercept == "regularized")
        self._by_features = through_features or self._n_penalised <= rows
        # Through more features than rows the product would be singular.
        self._needs_orthogonal = self._n_penalised > rows and self._by_features
        products = self._by_features and not self._needs_orthogonal
        self._gram = Gram(problem.X, problem.constant, problem.n_jobs) if products else None
        small = (self._n_penalised if self._by_features else rows) + self._free
        self._may_be_orthogonal = is_affordable(rows + self._n_penalised, small)
        self._orthogonal: Orthogonal | None = None

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
        self._D, self._E = np.maximum(D, LEAST), np.maximum(E, LEAST)
        if not (np.isfinite(self._D).all() and np.isfinite(self._E).all()):
            return False
        if self._needs_orthogonal or self._orthogonal is not None or not self._factorise_product():
            return self._factorise_data()
        return True

    def _factorise_data(self) -> bool:
        """The factor from the data themselves, if that is affordable."""
        if not self._may_be_orthogonal:
            return False
        self._orthogonal = Orthogonal(self._features_data() if self._by_features else self._rows_data())
        return self._orthogonal.is_regular

    def _features_data(self) -> Square:
        """A with A^T A = X^T D X + E, a constant column last where there is an intercept."""
        X, (rows, columns) = dense(stored(self.problem.X)), self.problem.X.shape
        constant, n = self.problem.constant, self._n_penalised
        A = np.zeros((rows + n, columns + (constant != 0)))
        A[:rows, :columns] = X
        A[:rows, columns:] = constant
        A[:rows] *= np.sqrt(self._D)[:, np.newaxis]
        A[rows + np.arange(n), np.arange(n)] = np.sqrt(self._E)
        return A

    def _rows_data(self) -> Square:
        """A with A^T A = X E^-1 X^T + D^-1."""
        X, (rows, columns) = dense(stored(self.problem.X)), self.problem.X.shape
        A = np.zeros((self._n_penalised + rows, rows))
        A[:columns] = X.T
        A[columns : self._n_penalised] = self.problem.intercept_scale
        A[: self._n_penalised] /= np.sqrt(self._E)[:, np.newaxis]
        A[self._n_penalised + np.arange(rows), np.arange(rows)] = 1 / np.sqrt(self._D)
        return A

    def _border(self) -> None:
        """What a free intercept adds to the rows' equations."""
        if self._free and not self._by_features:
            self._ones = self._back(np.ones(len(self._D)))

    def _factorise_product(self) -> bool:
        """The factor of the product of the data with themselves."""
        from scipy.linalg.lapack import dpotrf

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
                self._border()
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

    def solve(self, right: Vector, pull: Vector, imbalance: float) -> Step:
        """dw, db, dz = X dw + db and dv."""
        if self._orthogonal is None:
            refined = self._by_features_refined if self._by_features else self._by_rows_refined
            found, left = refined(right, pull, imbalance)
            if left <= MOST_LEFT or not self._factorise_data():
                return found
        return (self._features_squares if self._by_features else self._rows_squares)(right, pull, imbalance)

    def _features_squares(self, right: Vector, pull: Vector, imbalance: float) -> Step:
        """dw, db by least squares: D^1/2 (X dw + db) near D^-1/2 pull, and E^1/2 dw near E^-1/2 right."""
        assert self._orthogonal is not None
        D, E, n = np.sqrt(self._D), np.sqrt(self._E), self._n_penalised
        if self._free:  # sum dv = imbalance: what each row gives to it is taken back from the features
            share = imbalance * self._D / float(self._D.sum())
            right, pull = right + self.accurate_rmatvec(share), pull - share
        else:
            share = np.zeros_like(pull)
        dw, db, dz, dv = np.zeros(n), 0.0, np.zeros_like(pull), pull
        for _ in range(REFINEMENTS):
            x = self._orthogonal.solve(np.concatenate([dv / D, (right - self._E * dw) / E]))
            more, shift = x[:n], float(x[n]) if self._free else 0.0
            dw, db, moved = dw + more, db + shift, self.matvec(more, shift)
            dz, dv = dz + moved, dv - self._D * moved
        return dw, db, dz, dv + share

    def _rows_squares(self, right: Vector, pull: Vector, imbalance: float) -> Step:
        """dv by least squares: E^-1/2 X^T dv near -E^-1/2 right, and D^-1/2 dv near D^-1/2 pull, less D^1/2 db."""
        assert self._orthogonal is not None
        D, E = np.sqrt(self._D), np.sqrt(self._E)
        ones = self._orthogonal.solve(np.concatenate([np.zeros(len(E)), D])) if self._free else np.zeros(len(D))
        dv, db, dw = np.zeros(len(D)), 0.0, right / self._E
        for _ in range(REFINEMENTS):
            more = self._orthogonal.solve(np.concatenate([-E * dw, (pull - dv) / D - D * db]))
            if self._free:
                shift = (float(dv.sum() + more.sum()) - imbalance) / float(ones.sum())
                more, db = more - shift * ones, db + shift
            dv = dv + more
            dw = (right + self.accurate_rmatvec(dv)) / self._E
        return dw, db, (pull - dv) / self._D, dv

    def _by_features_refined(self, right: Vector, pull: Vector, imbalance: float) -> tuple[Step, float]:
        """The step, and the share of the right-hand side that it leaves."""
        dw, db, dz, dv = np.zeros_like(right), 0.0, np.zeros_like(pull), pull
        sizes = []
        for _ in range(REFINEMENTS):
            residual = right - self._E * dw + self.accurate_rmatvec(dv)
            sizes.append(self._size(residual))
            more, shift = self._solve_features(residual, float(dv.sum()) - imbalance)
            dw, db = dw + more, db + shift
            # Step by step: the whole of D (X dw + db) would hide in its rounding what the last steps set right.
            moved = self.matvec(more, shift)
            dz, dv = dz + moved, dv - self._D * moved
        sizes.append(self._size(right - self._E * dw + self.accurate_rmatvec(dv)))
        return (dw, db, dz, dv), _share(sizes)

    def _size(self, residual: Vector) -> float:
        return float(np.abs(residual * self._lengths()).max(initial=0.0))

    def _lengths(self) -> Vector:
        """What makes residuals of all equations comparable: one over the root of the matrix's diagonal."""
        return self._scale[: self._n_penalised] if self._by_features else self._scale

    def _solve_features(self, right: Vector, total: float) -> tuple[Vector, float]:
        if not self._free:
            return self._back(right), 0.0
        found = self._back(np.append(right, total))
        return found[:-1], float(found[-1])

    def _by_rows_refined(self, right: Vector, pull: Vector, imbalance: float) -> tuple[Step, float]:
        """The step, and the share of the right-hand side that it leaves."""
        dv, db, dw = np.zeros_like(pull), 0.0, right / self._E
        sizes = []
        for _ in range(REFINEMENTS):
            residual = (pull - dv) / self._D - self.matvec(dw, db)
            sizes.append(self._size(residual))
            more, shift = self._solve_rows(residual, imbalance - float(dv.sum()))
            dv, db = dv + more, db + shift
            dw = (right + self.accurate_rmatvec(dv)) / self._E
        sizes.append(self._size((pull - dv) / self._D - self.matvec(dw, db)))
        return (dw, db, (pull - dv) / self._D, dv), _share(sizes)

    def _solve_rows(self, right: Vector, imbalance: float) -> tuple[Vector, float]:
        dv = self._back(right)
        if not self._free:
            return dv, 0.0
        db = (float(dv.sum()) - imbalance) / float(self._ones.sum())
        return dv - db * self._ones, db


def _share(sizes: list[float]) -> float:
    """What the last residual is of the first."""
    return sizes[-1] / sizes[0] if sizes[0] > 0 else 0.0
