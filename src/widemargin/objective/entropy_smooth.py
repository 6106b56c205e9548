"""The maximum entropy problem as Newton-type methods see it.

    f(x) = 1/2 sum_j r_j x_j^2 + sum_i C_i (log sum_m exp(z_im) - z_iy),     Z = [X s] W,  x = W feature by feature

r is 1, and 0 for free intercepts. Z travels with x, so a step along a known direction never touches the data. The
Hessian is singular along constants added to all free intercepts, where the gradient is zero too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..data.rows import Table
from ..vectors import Vector, inner
from .points import Point

if TYPE_CHECKING:
    from .maximum_entropy import MaximumEntropyProblem


@dataclass(frozen=True)
class EntropyAt:
    """A point with what is known there."""

    x: Vector = field(repr=False)
    z: Table = field(repr=False)  # scores, rows x classes
    p: Table = field(repr=False)  # probabilities
    value: float
    gradient: Vector = field(repr=False)
    steps: int = 0  # steps that were added to z since it was made from x

    @property
    def n_active(self) -> int:
        """All rows."""
        return len(self.z)


class EntropySmooth:
    """f with its gradient, Hessian products and restriction to rays."""

    diagonal_share = 0.1
    accuracy = 0.3

    def __init__(self, problem: MaximumEntropyProblem) -> None:
        self.problem = problem
        self.n_rows, self.features = problem.X.shape
        self.n_penalised = problem.n_penalised
        self.constant = problem.constant
        self.free = problem.intercept == "free"

    @property
    def size(self) -> int:
        """Number of variables."""
        return self.problem.size

    @property
    def n_blocks(self) -> int:
        """One block of the Hessian per class."""
        return self.problem.n_classes

    def start(self, point: Point | None) -> EntropyAt:
        """That point evaluated, or zero."""
        if point is None:
            x, z = np.zeros(self.size), np.zeros((self.n_rows, self.problem.n_classes))
        else:
            x, z = point.w, self.problem.scores(point.w) if point.z is None else point.z
        return self.evaluated(x, z, 0)

    def evaluated(self, x: Vector, z: Table, steps: int) -> EntropyAt:
        """The point x with scores z: half a pass."""
        value, _, _, p = self.along(z, np.zeros_like(z), 0.0)
        u = self.problem.weights[:, None] * p
        u[np.arange(len(u)), self.problem.codes] -= self.problem.weights
        gradient = self.problem.adjoint(u)
        held = x[: self.n_penalised]
        gradient[: self.n_penalised] += held
        return EntropyAt(x, z, p, value + 0.5 * inner(held, held), gradient, steps)

    def along(self, z: Table, dz: Table, t: float) -> tuple[float, float, float, Table]:
        """The losses at scores z + t dz with two derivatives in t, and the probabilities there."""
        problem, p = self.problem, np.empty_like(z)
        value, slope, curvature = _core.entropy_ray(
            problem.codes,
            problem.weights,
            problem.n_classes,
            z.reshape(-1),
            dz.reshape(-1),
            t,
            p.reshape(-1),
            problem.n_jobs,
        )
        return value, slope, curvature, p

    def ray(self, at: EntropyAt, d: Vector) -> EntropyRay:
        """The ray from `at` along d."""
        return EntropyRay(self, at, d)

    def hess_vec(self, at: EntropyAt, v: Vector) -> Vector:
        """The Hessian times v: one pass."""
        problem, features = self.problem, self.features
        V = v.reshape(-1, problem.n_classes)
        shift = self.constant * V[features] if self.constant else 0.0
        g, total = problem.X.class_hess_vec(at.p, problem.weights, V[:features], shift, n_jobs=problem.n_jobs)
        product = v.copy()
        product[self.n_penalised :] = 0.0
        table = product.reshape(V.shape)
        table[:features] += g
        if self.constant:
            table[features] += self.constant * total
        return product

    def hess_diagonal(self, at: EntropyAt) -> Vector:
        """The Hessian's diagonal."""
        problem, h = self.problem, self.block_curvatures(at)
        d = np.zeros(self.size)
        d[: self.n_penalised] = 1.0
        table = d.reshape(-1, problem.n_classes)
        table[: self.features] += problem.X.class_column_sqnorms(h, n_jobs=problem.n_jobs)
        if self.constant:
            table[self.features] += self.constant**2 * h.sum(axis=0)
        return d

    def block_curvatures(self, at: EntropyAt) -> Table:
        """C_i p_im (1 - p_im): the curvatures of each class's own block."""
        return self.problem.weights[:, None] * at.p * (1 - at.p)

    def gap(self, at: EntropyAt) -> float:
        """1/2 |gradient|^2: the duality gap, up to what free intercepts can still gain."""
        g = at.gradient[: self.n_penalised]
        return 0.5 * inner(g, g)

    def point(self, at: EntropyAt) -> Point:
        """The point in the problem's terms."""
        return Point(at.x.copy(), z=at.z if at.steps <= 1 else None)

    def settled(self, at: EntropyAt, certified: Point) -> EntropyAt:
        """The point itself: the certificate moves no intercept."""
        return at


class EntropyRay:
    """phi(t) = f(x + t d), with the scores z + t dz at hand."""

    def __init__(self, f: EntropySmooth, at: EntropyAt, d: Vector) -> None:
        self._f, self._at, self._d = f, at, d
        self._dz = f.problem.scores(d)
        x, held = at.x[: f.n_penalised], d[: f.n_penalised]
        self._a, self._b, self._c = 0.5 * inner(x, x), inner(x, held), inner(held, held)
        self.start_value = at.value
        self.start_slope = inner(at.gradient, d)

    def value(self, t: float) -> float:
        """phi(t)"""
        return self._f.along(self._at.z, self._dz, t)[0] + self._a + t * (self._b + 0.5 * t * self._c)

    def slope(self, t: float) -> tuple[float, float]:
        """phi'(t) and phi''(t)"""
        _, first, second, _ = self._f.along(self._at.z, self._dz, t)
        return first + self._b + t * self._c, second + self._c

    def moved(self, t: float) -> EntropyAt:
        """The point x + t d: half a pass."""
        at = self._at
        return self._f.evaluated(at.x + t * self._d, at.z + t * self._dz, at.steps + 1)
