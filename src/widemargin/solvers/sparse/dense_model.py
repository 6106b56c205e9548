"""The quadratic model of a Newton step, dense on a working set of columns, with the penalty kept as it is.

    min over w', b'   -u . X (w' - w) + 1/2 (w' - w)^T X^T D X (w' - w) + R(w')          u = -loss', D = loss''

Only columns that have a weight, or whose slope is near the l1 bound, take part; only rows with curvature are read.
Dense coordinate descent and exact steps on the support minimise it without touching the data again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...blas import limit_blas
from ...vectors import Vector
from ..costs import BLAS, FACTOR, KEPT_FEATURES, PASS, gram_cost
from ..linalg.gram import Gram
from .support_step import LARGEST_DENSE, minimise_on_support

if TYPE_CHECKING:
    from ...objective.problem import Problem

# Columns within this distance of their bound take part in a Newton step: nearest first, so many or twice the support,
# and never more than LARGEST_DENSE.
NEAR_BOUND = 0.2
FIRST_MODEL = 200
# A Newton model is minimised until a round gains less than this share of what all rounds gained.
MODEL_SHARE = 1e-3
MODEL_PASSES = 20
MODEL_ROUNDS = 10
# The intercept is hardly damped: where features lie far from zero it must follow every step of theirs.
INTERCEPT_SHARE = 1e-6


class DenseModel:
    """Builds and minimises the models of one run; `keep_going` is asked after each round of minimising one."""

    def __init__(self, problem: Problem, keep_going: Callable[[], bool]) -> None:
        limit_blas()
        self.problem = problem
        self._keep_going = keep_going
        self.constant = problem.constant
        self._lengths = _column_lengths(problem)
        self._gram = Gram(problem.X, self.constant, problem.n_jobs) if problem.X.shape[1] <= KEPT_FEATURES else None
        self.passes = 0.0  # what the models have cost, in passes over the data

    def minimise(
        self, w: Vector, b: float, u: Vector, correlations: Vector, curvature: Vector, ridge: float
    ) -> tuple[Vector, float, float]:
        """Where the model is smallest, and by how much it falls.

        correlations = X^T u; `ridge` times the columns' squared lengths is added to the diagonal.
        """
        rho = self.problem.penalty.rho
        working = self._working_set(w, correlations)
        n = len(working) + (self.constant != 0)
        if n == 0:
            return w, b, 0.0
        penalised, bend = np.full(n, rho), np.full(n, 1 - rho)
        slope, part = np.empty(n), np.empty(n)
        part[: len(working)], slope[: len(working)] = w[working], -correlations[working]
        if self.constant != 0:
            part[-1], slope[-1] = b / self.constant, -self.constant * float(u.sum())
        if self.problem.intercept == "free":
            penalised[-1] = bend[-1] = 0.0
        hessian = self._kept(curvature, working) if self._gram is not None else self._built(curvature, working)
        damping = np.zeros(n)
        damping[: len(working)] = self._lengths[working]
        if self.constant != 0:
            damping[-1] = INTERCEPT_SHARE * self.constant**2 * len(u)
        hessian[:: n + 1] += ridge * np.maximum(damping, 1e-12 * float(damping.max()))
        gained, work = (_minimise if rho > 0 else _solve)(hessian, slope, part, penalised, bend, self._keep_going)
        self._count(work)
        whole = w.copy()
        whole[working] = part[: len(working)]
        return whole, self.constant * float(part[-1]) if self.constant != 0 else 0.0, gained

    def _working_set(self, w: Vector, correlations: Vector) -> NDArray[np.intp]:
        nearness = np.where(w != 0, np.inf, np.abs(correlations))
        working = np.flatnonzero(nearness > (1 - NEAR_BOUND) * self.problem.penalty.rho)
        most = min(LARGEST_DENSE, max(FIRST_MODEL, 2 * int(np.count_nonzero(w))))
        return working if len(working) <= most else np.sort(np.argpartition(-nearness, most)[:most])

    def _kept(self, curvature: Vector, working: NDArray[np.intp]) -> Vector:
        assert self._gram is not None
        self._count(self._gram.cost_of_update(curvature))
        self._gram.update(curvature)
        columns = np.append(working, self.problem.X.shape[1]) if self.constant != 0 else working
        upper = np.triu(self._gram.matrix[np.ix_(columns, columns)])
        return np.ascontiguousarray(upper + np.triu(upper, 1).T).ravel()

    def _count(self, nanoseconds: float) -> None:
        self.passes += nanoseconds / (PASS * max(1, self.problem.X.nnz))

    def _built(self, curvature: Vector, working: NDArray[np.intp]) -> Vector:
        rows, columns = self.problem.X.shape
        in_play = self.problem.X.nnz * np.count_nonzero(curvature) * len(working) / (rows * columns)
        self._count(gram_cost(rows, len(working), max(1, int(in_play))))
        return self.problem.X.sandwich(curvature, working, self.constant, n_jobs=self.problem.n_jobs).ravel()


def _column_lengths(problem: Problem) -> Vector:
    """sum_i x_ij^2 per column; about the column's mean where the intercept is free, which makes shifts harmless."""
    rows = problem.X.shape[0]
    sums = problem.X.column_sqnorms(n_jobs=problem.n_jobs)
    if problem.intercept == "free":
        sums = np.maximum(0.0, sums - problem.X.rmatvec(np.ones(rows), n_jobs=problem.n_jobs) ** 2 / rows)
    return sums


def _solve(
    hessian: Vector, slope: Vector, w: Vector, rho: Vector, bend: Vector, keep_going: Callable[[], bool]
) -> tuple[float, float]:
    """Without l1 the model is a parabola: one linear system. How far it falls, and the nanoseconds that it takes."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    n = len(w)
    downhill = -(slope + bend * w)
    H = hessian.reshape(n, n)
    H[np.diag_indices(n)] += bend
    try:
        d = cho_solve(cho_factor(H, check_finite=False), downhill, check_finite=False)
    except LinAlgError:
        H[np.diag_indices(n)] -= bend
        return _minimise(hessian, slope, w, rho, bend, keep_going)
    w += d
    return 0.5 * float(d @ downhill), FACTOR * float(n) ** 3


def _minimise(
    hessian: Vector, slope: Vector, w: Vector, rho: Vector, bend: Vector, keep_going: Callable[[], bool]
) -> tuple[float, float]:
    """Passes of coordinate descent and exact steps on the support, in turn, until neither gains.

    How far the model falls, and about how many nanoseconds that takes.
    """
    n, gained, work = len(w), 0.0, 0.0
    for _ in range(MODEL_ROUNDS):
        before, slope_before = w.copy(), slope.copy()
        _core.quadratic_passes(hessian, rho, bend, slope, w, MODEL_SHARE, MODEL_PASSES)
        work += BLAS * MODEL_PASSES * n * n + FACTOR * minimise_on_support(hessian.reshape(n, n), slope, w, rho, bend)
        d = w - before
        # The quadratic's own decrease: its slope is linear, so the mean of both ends is exact.
        gain = -0.5 * float(d @ (slope + slope_before)) + float(rho @ (np.abs(before) - np.abs(w)))
        gain += 0.5 * float(bend @ (before * before - w * w))
        gained += gain
        if gain <= MODEL_SHARE * gained or not keep_going():
            break
    return gained, work
