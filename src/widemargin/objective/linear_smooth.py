"""A smooth problem of one prediction per row, as Newton-type methods see it.

    f(x) = 1/2 sum_j r_j x_j^2 + sum_i C_i loss(y_i, z_i),     z = [X s] x,     x = (w, t),     intercept b = s t

The constant column s and the penalty r of t say which intercept it is: none (no t), regularized (s = its scaling,
r = 1), free (s = 1, r = 0). z travels with x, so a step along a known direction never touches the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..data.rows import Table
from ..vectors import Vector, inner
from .points import Point
from .rows_in_play import RowsInPlay

if TYPE_CHECKING:
    from .problem import Problem


@dataclass(frozen=True)
class LinearAt:
    """A point with what is known there."""

    x: Vector = field(repr=False)
    z: Vector = field(repr=False)  # predictions
    value: float  # f
    gradient: Vector = field(repr=False)
    h: Vector = field(repr=False)  # C_i loss''
    in_play: RowsInPlay = field(repr=False)
    steps: int = 0  # steps that were added to z since it was made from x

    @property
    def n_active(self) -> int:
        """Rows with curvature."""
        return self.in_play.count


class LinearSmooth:
    """f with its gradient, Hessian products and restriction to rays."""

    diagonal_share = 0.01
    accuracy = 0.1
    n_blocks = 1

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n_rows, self.features = problem.X.shape
        self.constant = problem.constant
        self.free = problem.intercept == "free"
        self.penalised = np.ones(self.features + (self.constant != 0))  # r
        if self.free:
            self.penalised[-1] = 0.0

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.penalised)

    def start(self, point: Point | None) -> LinearAt:
        """That point evaluated, or w = 0; a free intercept begins at its best value."""
        problem = self.problem
        x = np.zeros(self.size)
        z = np.zeros(self.n_rows)
        b = 0.0
        if point is not None:
            x[: self.features], b = point.w, point.intercept
            z = problem.X.matvec(point.w, n_jobs=problem.n_jobs) if point.z is None else point.z - b
        known = point is not None and point.own_dual and point.z is not None
        if self.free and not known:
            b = problem.best_intercept(z, b)
        if self.constant:
            x[-1] = b / self.constant
            z = z + b
        return self._evaluated(x, z, np.zeros_like(z), 0.0, 0, point.pull if known and point is not None else None)

    def product(self, d: Vector) -> Vector:
        """[X s] d: how the predictions change along d."""
        shift = self.constant * d[-1] if self.constant else 0.0
        return self.problem.X.matvec(d[: self.features], shift, n_jobs=self.problem.n_jobs)

    def adjoint(self, u: Vector, pull: Vector | None = None) -> Vector:
        """[X s]^T u; `pull` is -X^T u, if it is known."""
        g = self.problem.X.rmatvec(u, n_jobs=self.problem.n_jobs) if pull is None else -pull
        return np.append(g, self.constant * u.sum()) if self.constant else g

    def ray(self, at: LinearAt, d: Vector) -> LinearRay:
        """The ray from `at` along d."""
        return LinearRay(self, at, d)

    def _evaluated(
        self, x: Vector, z: Vector, dz: Vector, t: float, steps: int, pull: Vector | None = None
    ) -> LinearAt:
        return self.completed(x, *self.losses(z, dz, t), steps, pull)

    def losses(self, z: Vector, dz: Vector, t: float) -> tuple[float, Vector, Vector, Vector]:
        """At predictions z + t dz: the losses' sum, the predictions, C_i loss' and C_i loss''."""
        there, u, h = np.empty_like(z), np.empty_like(z), np.empty_like(z)
        return self.problem.losses_along(z, dz, t, (there, u, h)), there, u, h

    def completed(
        self, x: Vector, value: float, there: Vector, u: Vector, h: Vector, steps: int, pull: Vector | None = None
    ) -> LinearAt:
        """The point at x, from what the losses tell there; `pull` is -X^T u, if it is known."""
        shrunk = self.penalised * x
        gradient = self.adjoint(u, pull)
        gradient += shrunk
        in_play = RowsInPlay(self.problem.X, h)
        return LinearAt(x, there, value + 0.5 * inner(shrunk, x), gradient, h, in_play, steps)

    def hess_vec(self, at: LinearAt, v: Vector) -> Vector:
        """The Hessian times v: one pass over the rows with h_i != 0."""
        shift = self.constant * v[-1] if self.constant else 0.0
        g, total = at.in_play.hess_vec(v[: self.features], shift, self.problem.n_jobs)
        product = self.penalised * v
        product[: self.features] += g
        if self.constant:
            product[-1] += self.constant * total
        return product

    def hess_diagonal(self, at: LinearAt) -> Vector:
        """The Hessian's diagonal."""
        d = self.penalised.copy()
        d[: self.features] += self.problem.X.column_sqnorms(at.h, n_jobs=self.problem.n_jobs)
        if self.constant:
            d[-1] += self.constant**2 * at.h.sum()
        return d

    def block_curvatures(self, at: LinearAt) -> Table:
        """h, for the one block."""
        return at.h[:, None]

    def gap(self, at: LinearAt) -> float:
        """1/2 |gradient|^2: the duality gap, up to what a free intercept can still gain (see certificate.py)."""
        g = at.gradient[: self.features] if self.free else at.gradient
        return 0.5 * inner(g, g)

    def point(self, at: LinearAt) -> Point:
        """The point in the problem's terms."""
        b = self.constant * float(at.x[-1]) if self.constant else 0.0
        return Point(at.x[: self.features].copy(), b, z=at.z if at.steps <= 1 else None)

    def settled(self, at: LinearAt, certified: Point) -> LinearAt:
        """The same weights with the certificate's intercept, where it is free."""
        if not self.free:
            return at
        x = at.x.copy()
        shift = certified.intercept - self.constant * x[-1]
        x[-1] = certified.intercept / self.constant
        return self._evaluated(x, at.z, np.full_like(at.z, shift), 1.0, at.steps)


class LinearRay:
    """phi(t) = f(x + t d), with the predictions z + t dz at hand: O(rows) per trial.

    At t = 1, where a search begins, everything is worked out that is needed if the step stays.
    """

    def __init__(self, f: LinearSmooth, at: LinearAt, d: Vector) -> None:
        self._f, self._at, self._d = f, at, d
        self._dz = f.product(d)
        problem, shrunk = f.problem, f.penalised * d
        self._where = (problem.loss.native, at.z, self._dz, problem.y, problem.weights)
        # The penalty along the ray: a + b t + c t^2 / 2.
        self._a, self._b, self._c = 0.5 * inner(f.penalised * at.x, at.x), inner(shrunk, at.x), inner(shrunk, d)
        self.start_value = at.value
        self.start_slope = inner(at.gradient, d)
        self._whole: tuple[float, Vector, Vector, Vector] | None = None

    def value(self, t: float) -> float:
        """phi(t)"""
        return self._a + t * (self._b + 0.5 * t * self._c) + _core.ray_value(*self._where, t, self._f.problem.n_jobs)

    def slope(self, t: float) -> tuple[float, float]:
        """phi'(t) and phi''(t)"""
        if t == 1.0:
            _, _, u, h = self._whole = self._f.losses(self._at.z, self._dz, 1.0)
            first, second = inner(u, self._dz), inner(h, self._dz * self._dz)
        else:
            first, second = _core.ray_slope(*self._where, t, self._f.problem.n_jobs)
        return first + self._b + t * self._c, second + self._c

    def moved(self, t: float) -> LinearAt:
        """The point x + t d."""
        at = self._at
        losses = self._whole if t == 1.0 and self._whole is not None else self._f.losses(at.z, self._dz, t)
        return self._f.completed(at.x + t * self._d, *losses, at.steps + 1)
