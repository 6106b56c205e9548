"""The quadratic model of a Newton step, dense on a working set of columns, with the penalty kept as it is.

    min over w', b'   -u . X (w' - w) + 1/2 (w' - w)^T X^T D X (w' - w) + R(w')          u = -loss', D = loss''

Only columns that have a weight, or whose slope is near the l1 bound, take part; only rows with curvature are read.
Dense coordinate descent and exact steps on the support minimise it without touching the data again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .support_step import minimise_on_support

if TYPE_CHECKING:
    from ..objective.problem import Problem

Vector = NDArray[np.float64]

# Columns within this distance of their bound take part in a Newton step: nearest first, so many or twice the support,
# and never more than the largest model.
NEAR_BOUND = 0.2
FIRST_MODEL = 200
LARGEST_MODEL = 1500
# A Newton model is minimised until a round gains less than this share of what all rounds gained.
MODEL_SHARE = 1e-3
MODEL_PASSES = 20
MODEL_ROUNDS = 10


def column_sqnorms(problem: Problem) -> Vector:
    """sum_i x_ij^2 per column."""
    sums = np.zeros(problem.X.shape[1])
    _core.weighted_column_sqnorms(problem.X.rows, np.ones(problem.X.shape[0]), sums)
    return sums


class DenseModel:
    """Builds and minimises the model; `ridge` times the columns' squared lengths is added to its diagonal."""

    def __init__(self, problem: Problem, ridge: float, sqnorms: Vector) -> None:
        self.problem, self.ridge, self.sqnorms = problem, ridge, sqnorms
        self.constant = 1.0 if problem.intercept == "free" else problem.intercept_scale

    def minimise(
        self, w: Vector, b: float, u: Vector, correlations: Vector, curvature: Vector
    ) -> tuple[Vector, float, float]:
        """Where the model is smallest, and by how much it falls; correlations = X^T u."""
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
        gained = _minimise(self._hessian(curvature, working, n), slope, part, penalised, bend)
        whole = w.copy()
        whole[working] = part[: len(working)]
        return whole, self.constant * float(part[-1]) if self.constant != 0 else 0.0, gained

    def _working_set(self, w: Vector, correlations: Vector) -> NDArray[np.intp]:
        nearness = np.where(w != 0, np.inf, np.abs(correlations))
        working = np.flatnonzero(nearness > (1 - NEAR_BOUND) * self.problem.penalty.rho)
        most = min(LARGEST_MODEL, max(FIRST_MODEL, 2 * int(np.count_nonzero(w))))
        return working if len(working) <= most else np.sort(np.argpartition(-nearness, most)[:most])

    def _hessian(self, curvature: Vector, working: NDArray[np.intp], n: int) -> Vector:
        X = self.problem.X
        place = np.full(X.shape[1], -1, dtype=np.int32)
        place[working] = np.arange(len(working), dtype=np.int32)
        hessian = np.zeros(n * n)
        curved = np.flatnonzero(curvature).astype(np.uint32)
        _core.add_outer_products(X.rows, curved, curvature, place, self.constant, n, hessian)
        diagonal = np.full(n, self.constant**2 * X.shape[0])
        diagonal[: len(working)] = self.sqnorms[working]
        hessian[:: n + 1] += self.ridge * np.maximum(diagonal, 1e-12 * float(diagonal.max()))
        return hessian


def _minimise(hessian: Vector, slope: Vector, w: Vector, rho: Vector, bend: Vector) -> float:
    """Passes of coordinate descent and exact steps on the support, in turn, until neither gains."""
    n, gained = len(w), 0.0
    for _ in range(MODEL_ROUNDS):
        before, slope_before = w.copy(), slope.copy()
        _core.quadratic_passes(hessian, rho, bend, slope, w, MODEL_SHARE, MODEL_PASSES)
        minimise_on_support(hessian.reshape(n, n), slope, w, rho, bend)
        d = w - before
        # The quadratic's own decrease: its slope is linear, so the mean of both ends is exact.
        gain = -0.5 * float(d @ (slope + slope_before)) + float(rho @ (np.abs(before) - np.abs(w)))
        gain += 0.5 * float(bend @ (before * before - w * w))
        gained += gain
        if gain <= MODEL_SHARE * gained:
            break
    return gained
