"""Maximum entropy over candidates as Newton-type methods see it.

f(w) = r/2 |w|^2 + sum_g C_g (log sum_{i in g} exp(z_i) - sum_i q_i z_i),    z = X w      r = 1 - rho
H    = r I + sum_g C_g X_g^T (diag(p_g) - p_g p_g^T) X_g
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...data.rows import Table
from ...vectors import Vector, inner
from ..points import Point

if TYPE_CHECKING:
    from .problem import CandidatesProblem


@dataclass(frozen=True)
class CandidatesAt:
    """A point with what is known there."""

    x: Vector = field(repr=False)
    z: Vector = field(repr=False)
    p: Vector = field(repr=False)
    value: float
    gradient: Vector = field(repr=False)
    steps: int = 0  # steps that were added to z since it was made from x

    @property
    def n_active(self) -> int:
        """All candidates."""
        return len(self.z)


class CandidatesSmooth:
    """f with its gradient, Hessian products and restriction to rays."""

    diagonal_share = 0.1
    accuracy = 0.3
    n_blocks = 1

    def __init__(self, problem: CandidatesProblem) -> None:
        self.problem = problem
        self.n_rows, self.features = problem.X.shape
        self.ridge = 1.0 - problem.penalty.rho

    @property
    def size(self) -> int:
        """Number of variables."""
        return self.problem.size

    def start(self, point: Point | None) -> CandidatesAt:
        """That point evaluated, or zero."""
        if point is None:
            return self.evaluated(np.zeros(self.size), np.zeros(self.n_rows), 0)
        return self.evaluated(point.w, self.problem.scores(point.w) if point.z is None else point.z, 0)

    def evaluated(self, x: Vector, z: Vector, steps: int) -> CandidatesAt:
        """The point x with scores z: half a pass."""
        losses, p = self.problem.losses(z)
        gradient = self.ridge * x - self.problem.pull(p)
        return CandidatesAt(x, z, p, losses + 0.5 * self.ridge * inner(x, x), gradient, steps)

    def covariance(self, p: Vector, a: Vector) -> Vector:
        """C_g (diag(p_g) - p_g p_g^T) a, group by group."""
        groups = self.problem.groups
        return np.asarray(self.problem.row_weights * p * (a - groups.sums(p * a)[groups.number]))

    def ray(self, at: CandidatesAt, d: Vector) -> CandidatesRay:
        """The ray from `at` along d."""
        return CandidatesRay(self, at, d)

    def hess_vec(self, at: CandidatesAt, v: Vector) -> Vector:
        """The Hessian times v: one pass."""
        X, n_jobs = self.problem.X, self.problem.n_jobs
        change = self.covariance(at.p, X.matvec(v, n_jobs=n_jobs))
        return np.asarray(self.ridge * v + X.rmatvec(change, n_jobs=n_jobs))

    def hess_diagonal(self, at: CandidatesAt) -> Vector:
        """About the Hessian's diagonal: as if the candidates of a group were not bound together."""
        h = self.problem.row_weights * at.p * (1 - at.p)
        return np.asarray(self.ridge + self.problem.X.column_sqnorms(h, n_jobs=self.problem.n_jobs))

    def block_curvatures(self, at: CandidatesAt) -> Table:
        """The Hessian has no blocks."""
        raise NotImplementedError("the Hessian of candidates does not fall into blocks")

    def gap(self, at: CandidatesAt) -> float:
        """1/2 |gradient|^2: with penalty l2, the duality gap of the model's own probabilities."""
        return 0.5 * inner(at.gradient, at.gradient)

    def point(self, at: CandidatesAt) -> Point:
        """The point in the problem's terms."""
        return Point(at.x.copy(), z=at.z if at.steps <= 1 else None)

    def settled(self, at: CandidatesAt, certified: Point) -> CandidatesAt:
        """The point itself: the certificate moves nothing."""
        return at


class CandidatesRay:
    """phi(t) = f(x + t d), with the scores z + t dz at hand."""

    def __init__(self, f: CandidatesSmooth, at: CandidatesAt, d: Vector) -> None:
        self._f, self._at, self._d = f, at, d
        self._dz = f.problem.scores(d)
        self._a, self._b = 0.5 * f.ridge * inner(at.x, at.x), f.ridge * inner(at.x, d)
        self._c = f.ridge * inner(d, d)
        self.start_value = at.value
        self.start_slope = inner(at.gradient, d)

    def value(self, t: float) -> float:
        """phi(t)"""
        losses, _ = self._f.problem.losses(self._at.z + t * self._dz)
        return losses + self._a + t * (self._b + 0.5 * t * self._c)

    def slope(self, t: float) -> tuple[float, float]:
        """phi'(t) and phi''(t)"""
        f, problem = self._f, self._f.problem
        _, p = problem.losses(self._at.z + t * self._dz)
        first = inner(problem.row_weights * (p - problem.chosen), self._dz)
        return first + self._b + t * self._c, inner(f.covariance(p, self._dz), self._dz) + self._c

    def moved(self, t: float) -> CandidatesAt:
        """The point x + t d: half a pass."""
        at = self._at
        return self._f.evaluated(at.x + t * self._d, at.z + t * self._dz, at.steps + 1)
