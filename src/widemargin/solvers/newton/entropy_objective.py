"""The maximum entropy objective as the Newton-type solvers see it.

    f(x) = 1/2 sum_j r_j x_j^2 + sum_i C_i (log sum_m exp(z_im) - z_iy),     Z = [X s] W,  x = W feature by feature

r is 1, and 0 for free intercepts. Z travels with x, so a step along a known direction never touches the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ... import _core
from ...vectors import Vector, inner
from ..base import Point

if TYPE_CHECKING:
    from ...objective.maximum_entropy import MaximumEntropyProblem


@dataclass(frozen=True)
class EntropyIterate:
    """A point with what is known there."""

    x: Vector = field(repr=False)
    z: Vector = field(repr=False)  # scores, row by row
    p: Vector = field(repr=False)  # probabilities, row by row
    value: float
    gradient: Vector = field(repr=False)


class EntropyObjective:
    """f with its gradient, Hessian products and restriction to rays."""

    def __init__(self, problem: MaximumEntropyProblem) -> None:
        self.problem = problem
        self.n_penalised = problem.n_penalised
        self._classes, self._constant = problem.n_classes, problem.constant
        self._size = problem.X.shape[0] * problem.n_classes
        self._q, self._t = np.empty(self._size), np.empty(self._size)

    def start(self, point: Point | None) -> EntropyIterate:
        """The iterate at that point, or at zero."""
        return self.at(np.zeros(self.problem.n_coefficients) if point is None else point.w)

    def at(self, x: Vector) -> EntropyIterate:
        """The iterate at x: one pass."""
        still = EntropyIterate(x, self.product(x), self._q, 0.0, x)
        return self.moved(still, np.zeros_like(x), np.zeros(self._size), 0.0)

    def product(self, d: Vector) -> Vector:
        """How the scores change along d."""
        return self.problem.scores(d).reshape(-1)

    def look(self, at: EntropyIterate, d: Vector, dz: Vector, t: float) -> tuple[float, float]:
        """f at x + t d and its slope along d; the probabilities there are left in scratch memory."""
        problem, n = self.problem, self.n_penalised
        value, slope, _ = _core.entropy_ray(
            problem.codes, problem.weights, self._classes, at.z, dz, t, self._q, problem.n_jobs
        )
        x, d = at.x[:n], d[:n]
        xd, dd = inner(x, d), inner(d, d)
        return value + 0.5 * inner(x, x) + t * xd + 0.5 * t * t * dd, slope + xd + t * dd

    def moved(self, at: EntropyIterate, d: Vector, dz: Vector, t: float) -> EntropyIterate:
        """The iterate at x + t d: half a pass."""
        problem = self.problem
        x, z, p = at.x + t * d, at.z + t * dz, np.empty(self._size)
        value, *_ = _core.entropy_ray(problem.codes, problem.weights, self._classes, z, dz, 0.0, p, problem.n_jobs)
        u = problem.weights[:, None] * p.reshape(-1, self._classes)
        u[np.arange(len(u)), problem.codes] -= problem.weights
        return self._with_penalty(x, z, p, value, problem.adjoint(u))

    def _with_penalty(self, x: Vector, z: Vector, p: Vector, value: float, g: Vector) -> EntropyIterate:
        held = x[: self.n_penalised]
        g[: self.n_penalised] += held
        return EntropyIterate(x, z, p, value + 0.5 * inner(held, held), g)

    def hess_vec(self, p: Vector, v: Vector) -> Vector:
        """The Hessian at probabilities p, times v: one pass."""
        problem, n = self.problem, self.n_penalised
        g = np.zeros(len(v))
        g[:n] = v[:n]
        _core.entropy_hess_vec(
            problem.X.native_rows,
            p,
            problem.weights,
            v,
            self._classes,
            self._constant,
            self._q,
            self._t,
            g,
            problem.n_jobs,
        )
        return g

    def hess_diagonal(self, p: Vector) -> Vector:
        """The Hessian's diagonal."""
        problem = self.problem
        d = np.zeros(problem.n_coefficients)
        d[: self.n_penalised] = 1.0
        p = p.reshape(-1, self._classes)
        h = problem.weights[:, None] * p * (1 - p)
        table, features = d.reshape(-1, self._classes), problem.X.shape[1]
        table[:features] += problem.X.class_column_sqnorms(h, n_jobs=problem.n_jobs)
        if self._constant:
            table[features] += self._constant**2 * h.sum(axis=0)
        return d

    def gap(self, at: EntropyIterate) -> float:
        """1/2 |gradient|^2: the duality gap, up to what free intercepts can still gain."""
        g = at.gradient[: self.n_penalised]
        return 0.5 * inner(g, g)

    def point(self, at: EntropyIterate) -> Point:
        """The iterate as the driver wants it."""
        return Point(at.x.copy())
