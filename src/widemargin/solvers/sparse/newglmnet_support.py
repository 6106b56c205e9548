"""The Newton step on the support of newGLMNET's model, where its coordinate descent is slow.

With the signs of the nonzero weights w + d fixed, the model of an outer step is a smooth quadratic in them,

    Q(p) = g . p + 1/2 (X p) . H (X p) + ridge/2 |p|^2,        g = slope of the model there,   p = change of d

and l1 keeps the support small: a linear system finds in one step what coordinate descent needs many passes for. A small
support is solved exactly, through its dense matrix; a larger one by preconditioned conjugate gradients on the support's
columns, a free intercept minimised out. Weights that would change their sign stop at zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.matrix import stored
from ...vectors import Vector, inner
from ..linalg.cg import ResidualRule, truncated_cg
from .support_step import LARGEST_DENSE, minimise_on_support

if TYPE_CHECKING:
    from ...objective.problem import Problem

# The dense matrix of a support is solved where that costs little, or where conjugate gradients did not finish. Per cube
# of the support's size, measured against a pass over one entry.
DENSE_WORK = 0.3
CHEAP = 5.0
LEAST_BUDGET = 5.0
MOST_PER_ROW = 1.5
MOST_HALVINGS = 8
RESIDUAL_SHARE = 0.01
MOST_PRODUCTS = 1000
DAMPING = 1e-8


@dataclass
class ModelPoint:
    """The model's weights, the loss's slopes at the outer iterate, the curvatures, and t = X d with the rows' H."""

    columns: NDArray[np.uint32]
    w: Vector
    slope: Vector
    curvature: Vector
    intercept: float
    intercept_slope: float
    h: Vector
    t: Vector


class ModelStep:
    """Steps on the supports of one run."""

    def __init__(self, problem: Problem, keep_going: Callable[[], bool]) -> None:
        self._problem = problem
        self._keep_going = keep_going
        self._columns = stored(problem.X).native_columns
        self._constant = problem.constant
        self._free = problem.intercept == "free"
        self._unfinished = False
        self._least = LEAST_BUDGET

    def take(self, at: ModelPoint, budget: float) -> tuple[bool, float]:
        """Moves the model's weights, intercept and t to a lower point, where it finds one, and tells the cost.

        Both the budget and the cost are counted in passes over the data.
        """
        on = np.flatnonzero(at.w)
        on = on[np.argsort(at.columns[on])]
        # Many more weights than rows that hold them: not yet the support of a minimum.
        if budget < self._least or len(on) == 0 or len(on) > MOST_PER_ROW * np.count_nonzero(at.h):
            return False, 0.0
        A = _core.take_rows(self._columns, at.columns[on].astype(np.int64))
        entries = max(1, self._problem.X.nnz)
        dense_cost = 1 + DENSE_WORK * len(on) ** 3 / entries
        if dense_cost <= budget and (dense_cost <= CHEAP or self._unfinished) and len(on) <= LARGEST_DENSE:
            return self._move(at, on, A, *self._dense(at, on, A)), dense_cost
        product = 2 * A.nnz / entries
        p, q, products = self._by_cg(at, on, A, int(min(budget / product, MOST_PRODUCTS)))
        return self._move(at, on, A, p, q), (products + 2) * product

    def _slopes(self, at: ModelPoint, on: NDArray[np.intp], A: _core.Rows) -> Vector:
        """The slopes of the loss's model at the present point, without the penalty."""
        g = np.empty(len(on))
        _core.matvec(A, at.h * at.t, 0.0, g, 1)
        return g + at.slope[on]

    def _moves_intercept(self, at: ModelPoint) -> bool:
        return self._constant != 0 and (self._free or at.intercept != 0 or self._problem.penalty.rho == 0)

    def _dense(self, at: ModelPoint, on: NDArray[np.intp], A: _core.Rows) -> tuple[Vector, float]:
        """The exact minimum, weight after weight leaving at zero."""
        X, rho, n = self._problem.X, self._problem.penalty.rho, len(on)
        constant = self._constant if self._moves_intercept(at) else 0.0
        size = n + (constant != 0)
        hessian = X.sandwich(at.h, at.columns[on], constant, n_jobs=self._problem.n_jobs)
        w, slope = np.empty(size), np.empty(size)
        w[:n], slope[:n] = at.w[on], self._slopes(at, on, A)
        penalised, bend = np.full(size, rho), np.full(size, 1 - rho)
        if constant != 0:
            w[n], slope[n] = at.intercept / constant, at.intercept_slope + constant * inner(at.h, at.t)
            if self._free:
                penalised[n] = bend[n] = 0.0
        end = w.copy()
        minimise_on_support(hessian, slope, end, penalised, bend)
        return end[:n] - w[:n], constant * float(end[n] - w[n]) if constant != 0 else 0.0

    def _by_cg(self, at: ModelPoint, on: NDArray[np.intp], A: _core.Rows, most: int) -> tuple[Vector, float, int]:
        """Conjugate gradients; an intercept that can move is minimised out, so that shifted features do no harm."""
        rho, c = self._problem.penalty.rho, self._constant if self._moves_intercept(at) else 0.0
        total, first = 0.0, 0.0
        if c != 0:
            bend = 0.0 if self._free else 1 - rho
            total = c * c * float(at.h.sum()) + bend
            b = at.intercept / c
            pull = at.intercept_slope + c * inner(at.h, at.t) + bend * b + (0.0 if self._free else rho * np.sign(b))
            first = -pull / total if total > 0 else 0.0
        z, product = np.empty(len(at.h)), np.empty(len(on))

        def shift(p: Vector) -> float:
            """The intercept's answer to p; leaves X p in z."""
            z.fill(0.0)
            _core.rmatvec(A, p, z, 1)
            return -c * inner(at.h, z) / total if total > 0 else 0.0

        def times(p: Vector) -> Vector:
            q = shift(p)
            _core.matvec(A, at.h * (z + c * q), 0.0, product, 1)
            return product + (1 - rho) * p + DAMPING * M * p

        moved = at.t + c * first
        g = np.empty(len(on))
        _core.matvec(A, at.h * moved, 0.0, g, 1)
        g += at.slope[on] + (1 - rho) * at.w[on] + rho * np.sign(at.w[on])
        M = at.curvature[on]
        products = 0
        if total > 0:
            _core.matvec(A, at.h, 0.0, product, 1)
            M = np.maximum(M - (c * product) ** 2 / total, 1e-6 * M)

        def keep_going() -> bool:
            nonlocal products
            products += 1
            return products < most and self._keep_going()

        step = truncated_cg(times, g, M, np.inf, ResidualRule(RESIDUAL_SHARE), keep_going)
        self._unfinished = step.n_products >= most
        # What was cut short is tried again when it can be done at twice the length.
        self._least = 2 * self._least if self._unfinished else LEAST_BUDGET
        return step.s, c * (first + shift(step.s)), step.n_products

    def _move(self, at: ModelPoint, on: NDArray[np.intp], A: _core.Rows, p: Vector, q: float) -> bool:
        """Takes p with the signs kept, or the half of it, or ..., as soon as the model falls."""
        rho, w, g = self._problem.penalty.rho, at.w[on], self._slopes(at, on, A)
        Xp = np.empty(len(at.h))
        for _ in range(MOST_HALVINGS):
            end = w + p
            end[end * w < 0] = 0.0
            d = end - w
            Xp.fill(0.0)
            _core.rmatvec(A, d, Xp, 1)
            Xp += q
            change = inner(g, d) + 0.5 * inner(Xp, at.h * Xp) + 0.5 * (1 - rho) * (inner(end, end) - inner(w, w))
            change += rho * float(np.abs(end).sum() - np.abs(w).sum())
            change += self._intercept_change(at, q)
            if change < 0:
                at.w[on], at.intercept = end, at.intercept + q
                at.t += Xp
                return True
            p, q = 0.5 * p, 0.5 * q
        return False

    def _intercept_change(self, at: ModelPoint, q: float) -> float:
        if q == 0:
            return 0.0
        change = (at.intercept_slope / self._constant + inner(at.h, at.t)) * q
        if self._free:
            return change
        penalty = self._problem.penalty
        before, after = at.intercept / self._constant, (at.intercept + q) / self._constant
        return change + penalty.value(np.array([after])) - penalty.value(np.array([before]))
