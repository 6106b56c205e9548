"""A smooth problem in one vector x = (w, t): what the Newton-type solvers minimise.

    f(x) = 1/2 sum_j r_j x_j^2 + sum_i C_i loss(y_i, z_i),     z = [X s] x,     intercept b = s t

The constant column s and the penalty r of t say which intercept it is: none (no t), regularized (s = its scaling,
r = 1), free (s = 1, r = 0). z travels with x, so a step along a known direction never touches the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ... import _core
from ...vectors import Vector, inner
from ..base import Point
from .line_search import Ray, exact
from .rows_in_play import RowsInPlay

if TYPE_CHECKING:
    from ...objective.problem import Problem


@dataclass(frozen=True)
class Iterate:
    """A point with what is known there."""

    x: Vector = field(repr=False)
    z: Vector = field(repr=False)  # predictions
    value: float  # f
    gradient: Vector = field(repr=False)
    h: Vector = field(repr=False)  # C_i loss''


class SmoothObjective:
    """f with its gradient, Hessian products and restriction to rays."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.features = problem.X.shape[1]
        self.constant = problem.constant
        self.free = problem.intercept == "free"
        self.penalised = np.ones(self.features + (self.constant != 0))  # r
        if self.free:
            self.penalised[-1] = 0.0
        self._in_play = RowsInPlay(problem.X)

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.penalised)

    def start(self, point: Point | None) -> Iterate:
        """The iterate at that point, or at w = 0; a free intercept begins at its best value."""
        problem = self.problem
        x = np.zeros(self.size)
        z = np.zeros(problem.X.shape[0])
        if point is not None:
            x[: self.features] = point.w
            z = problem.X.matvec(point.w, n_jobs=problem.n_jobs)
        b = 0.0 if point is None else point.intercept
        if self.free:
            b = problem.best_intercept(z, b)
        if self.constant:
            x[-1] = b / self.constant
            z += b
        return self._evaluate(x, z, np.zeros_like(z), 0.0)

    def product(self, d: Vector) -> Vector:
        """[X s] d: how the predictions change along d."""
        shift = self.constant * d[-1] if self.constant else 0.0
        return self.problem.X.matvec(d[: self.features], shift, n_jobs=self.problem.n_jobs)

    def adjoint(self, u: Vector) -> Vector:
        """[X s]^T u"""
        g = np.empty(self.size)
        g[: self.features] = self.problem.X.rmatvec(u, n_jobs=self.problem.n_jobs)
        if self.constant:
            g[-1] = self.constant * u.sum()
        return g

    def searched(self, at: Iterate, d: Vector) -> Iterate:
        """The iterate at the minimum of the ray from `at` along d.

        The whole step is tried first, at its end everything is worked out that is needed if it stays.
        """
        dz = self.product(d)
        ray = Ray(self, at, d, dz)
        if not ray.start_slope < 0:
            return at
        value, there, u, h = self._losses(at.z, dz, 1.0)
        t = exact(ray, first=ray.with_penalty(1.0, inner(u, dz), inner(h, dz * dz)))
        if t == 1.0:
            return self._complete(at.x + d, value, there, u, h)
        return self.moved(at, d, dz, t)

    def moved(self, at: Iterate, d: Vector, dz: Vector, t: float) -> Iterate:
        """The iterate at x + t d, dz = product(d)."""
        return self._evaluate(at.x + t * d, at.z, dz, t)

    def with_intercept(self, at: Iterate, b: float) -> Iterate:
        """The same w with another intercept."""
        x = at.x.copy()
        shift = b - self.constant * x[-1]
        x[-1] = b / self.constant
        return self._evaluate(x, at.z, np.full_like(at.z, shift), 1.0)

    def _evaluate(self, x: Vector, z: Vector, dz: Vector, t: float) -> Iterate:
        return self._complete(x, *self._losses(z, dz, t))

    def _losses(self, z: Vector, dz: Vector, t: float) -> tuple[float, Vector, Vector, Vector]:
        """At predictions z + t dz: the losses' sum, the predictions, C_i loss' and C_i loss''."""
        there, u, h = np.empty_like(z), np.empty_like(z), np.empty_like(z)
        return self.problem.losses_along(z, dz, t, (there, u, h)), there, u, h

    def _complete(self, x: Vector, value: float, there: Vector, u: Vector, h: Vector) -> Iterate:
        shrunk = self.penalised * x
        return Iterate(x, there, value + 0.5 * inner(shrunk, x), self.adjoint(u) + shrunk, h)

    def hess_vec(self, h: Vector, v: Vector) -> Vector:
        """The Hessian at curvatures h, times v: one pass over the rows with h_i != 0."""
        shift = self.constant * v[-1] if self.constant else 0.0
        product = self.penalised * v
        n = self.features
        X, h, room = self._in_play.of(h)
        intercept_part = _core.hess_vec(X, h, v[:n], shift, room, product[:n], self.problem.n_jobs)
        if self.constant:
            product[-1] += self.constant * intercept_part
        return product

    def hess_diagonal(self, h: Vector) -> Vector:
        """The Hessian's diagonal."""
        d = self.penalised.copy()
        d[: self.features] += self.problem.X.column_sqnorms(h, n_jobs=self.problem.n_jobs)
        if self.constant:
            d[-1] += self.constant**2 * h.sum()
        return d

    def gap(self, at: Iterate) -> float:
        """1/2 |gradient|^2: the duality gap, up to what a free intercept can still gain (see certificate.py)."""
        g = at.gradient[: self.features] if self.free else at.gradient
        return 0.5 * inner(g, g)

    def point(self, at: Iterate) -> Point:
        """The iterate as the driver wants it."""
        b = self.constant * float(at.x[-1]) if self.constant else 0.0
        return Point(at.x[: self.features].copy(), b)


class Claim:
    """When an estimated gap is worth an exact check: below the tolerance, and well below what was last refuted."""

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._below = np.inf

    def looks_done(self, gap: float, objective: float) -> bool:
        """Whether to ask for the exact certificate."""
        return gap <= min(self.tol * abs(objective), self._below)

    def refuted(self, gap: float) -> None:
        """The estimate was too good."""
        self._below = 0.5 * gap


class RoundingFloor:
    """Ends a run that rounding holds: several steps in a row that promise nothing and bring nothing."""

    def __init__(self, patience: int = 5) -> None:
        self.patience = patience
        self._best = np.inf
        self._idle = 0

    def reached(self, gap: float, promised: float, objective: float) -> bool:
        """`promised` is the decrease that the step's model foresaw."""
        if gap <= 0.5 * self._best or promised > 1e-12 * abs(objective):
            self._best, self._idle = min(gap, self._best), 0
            return gap == 0 and promised == 0
        self._idle += 1
        return self._idle >= self.patience
