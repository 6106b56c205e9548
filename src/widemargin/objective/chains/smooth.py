"""The chain CRF as Newton-type methods see it.

    f(x) = r/2 |x|^2 + sum_i C_i (log Z_i - s_i(y_i))      r = 1 with l2, and 1 - l1_ratio where l1 is elsewhere

Scores travel with x, so that a step along a known direction never touches the data. Products with the Hessian are
covariances of features with the change of scores along the direction, summed by forward and backward recursions:
Vishwanathan, Schraudolph, Schmidt, Murphy (2006).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ... import _core
from ...data.rows import Table
from ...vectors import Vector, inner
from ..points import Point

if TYPE_CHECKING:
    from .crf import ChainCRFProblem


@dataclass(frozen=True)
class Expected:
    """The losses at given scores, and C_i times the marginals there."""

    losses: float
    mu: Table = field(repr=False)  # tokens x labels
    edges: Table = field(repr=False)  # labels x labels, summed over sequences


@dataclass(frozen=True)
class ChainAt:
    """A point with what is known there."""

    x: Vector = field(repr=False)
    z: Table = field(repr=False)  # scores, tokens x labels
    value: float
    gradient: Vector = field(repr=False)
    expected: Expected = field(repr=False)
    steps: int = 0  # steps that were added to z since it was made from x

    @property
    def n_active(self) -> int:
        """All tokens."""
        return len(self.z)


class ChainSmooth:
    """f with its gradient, Hessian products and restriction to rays."""

    diagonal_share = 0.1
    accuracy = 0.3
    n_blocks = 1  # labels are bound together by transitions

    def __init__(self, problem: ChainCRFProblem) -> None:
        self.problem = problem
        self.n_rows, self.features = problem.X.shape
        self.ridge = 1.0 - problem.penalty.rho

    @property
    def size(self) -> int:
        """Number of variables."""
        return self.problem.size

    def start(self, point: Point | None) -> ChainAt:
        """That point evaluated, or zero."""
        if point is None:
            x, z = np.zeros(self.size), np.zeros((self.n_rows, self.problem.n_classes))
        else:
            x, z = point.w, self.problem.scores(point.w) if point.z is None else point.z
        return self.evaluated(x, z, self.expected(z, self.problem.pairs.edge_table(x)), 0)

    def expected(self, z: Table, edge: Table) -> Expected:
        """Losses and marginals at those scores: no look at the data."""
        problem, k = self.problem, self.problem.n_classes
        log_z, mu, edges = np.empty(problem.n_sequences), np.empty((len(z), k)), np.empty((k, k))
        flat = np.ascontiguousarray(edge).reshape(-1)
        _core.chain_expectations(
            problem.chains,
            problem.weights,
            np.ascontiguousarray(z).reshape(-1),
            flat,
            log_z,
            mu.reshape(-1),
            edges.reshape(-1),
            problem.n_jobs,
        )
        return Expected(problem.loss_sum(log_z, z, edge), mu, edges)

    def evaluated(self, x: Vector, z: Table, expected: Expected, steps: int) -> ChainAt:
        """The point x with scores z: half a pass."""
        gradient = self.ridge * x - self.problem.pull_of(expected.mu.copy(), expected.edges)
        return ChainAt(x, z, expected.losses + 0.5 * self.ridge * inner(x, x), gradient, expected, steps)

    def ray(self, at: ChainAt, d: Vector) -> ChainRay:
        """The ray from `at` along d."""
        return ChainRay(self, at, d)

    def hess_vec(self, at: ChainAt, v: Vector) -> Vector:
        """The Hessian times v: one pass."""
        problem, k = self.problem, self.problem.n_classes
        a, b = problem.scores(v), np.ascontiguousarray(problem.pairs.edge_table(v))
        change, edge_change = np.empty_like(a), np.empty((k, k))
        _core.chain_tangent(
            problem.chains,
            problem.weights,
            at.z.reshape(-1),
            np.ascontiguousarray(problem.pairs.edge_table(at.x)).reshape(-1),
            a.reshape(-1),
            b.reshape(-1),
            change.reshape(-1),
            edge_change.reshape(-1),
            problem.n_jobs,
        )
        product: Vector = self.ridge * v + problem.adjoint(change, edge_change)
        return product

    def hess_diagonal(self, at: ChainAt) -> Vector:
        """About the Hessian's diagonal: as if the labels of a sequence were independent of one another."""
        problem, C = self.problem, self.problem.token_weights[:, None]
        safe = np.where(C > 0, C, 1.0)
        h = at.expected.mu * (1 - at.expected.mu / safe)
        table = problem.X.class_column_sqnorms(h, n_jobs=problem.n_jobs)
        edges = at.expected.edges
        total = max(float(edges.sum()), np.finfo(float).tiny)
        return self.ridge + problem.pairs.joined(table, edges * (1 - edges / total))

    def block_curvatures(self, at: ChainAt) -> Table:
        """The curvatures of one block for each token, were labels independent."""
        raise NotImplementedError("the Hessian of a chain does not fall into blocks")

    def gap(self, at: ChainAt) -> float:
        """1/2 |gradient|^2: with penalty l2, the duality gap of the model's own marginals."""
        return 0.5 * inner(at.gradient, at.gradient)

    def point(self, at: ChainAt) -> Point:
        """The point in the problem's terms."""
        return Point(at.x.copy(), z=at.z if at.steps <= 1 else None)

    def settled(self, at: ChainAt, certified: Point) -> ChainAt:
        """The point itself: the certificate moves nothing."""
        return at


class ChainRay:
    """phi(t) = f(x + t d), with the scores z + t dz at hand. The last t that was looked at is kept."""

    def __init__(self, f: ChainSmooth, at: ChainAt, d: Vector) -> None:
        self._f, self._at, self._d = f, at, d
        self._dz, self._edge = f.problem.scores(d), f.problem.pairs.edge_table(at.x)
        self._dedge = f.problem.pairs.edge_table(d)
        self._b, self._c = f.ridge * inner(at.x, d), f.ridge * inner(d, d)
        self._seen: tuple[float, Expected] = 0.0, at.expected
        problem = f.problem
        tokens = np.arange(len(self._dz))
        self._truth = float(problem.token_weights @ self._dz[tokens, problem.codes])
        self._truth += float((problem.truth_edges * self._dedge).sum())
        self.start_value = at.value
        self.start_slope = inner(at.gradient, d)

    def _look(self, t: float) -> Expected:
        if self._seen[0] != t:
            found = self._f.expected(self._at.z + t * self._dz, self._edge + t * self._dedge)
            self._seen = t, found
        return self._seen[1]

    def value(self, t: float) -> float:
        """phi(t)"""
        ridge = 0.5 * self._f.ridge * inner(self._at.x, self._at.x)
        return self._look(t).losses + ridge + t * (self._b + 0.5 * t * self._c)

    def slope(self, t: float) -> tuple[float, float]:
        """phi'(t), and the mean of phi'' between 0 and t: one recursion tells both."""
        found = self._look(t)
        expected = inner(found.mu.reshape(-1), self._dz.reshape(-1)) + float((found.edges * self._dedge).sum())
        slope = expected - self._truth + self._b + t * self._c
        return slope, max((slope - self.start_slope) / t, self._c) if t > 0 else self._c

    def moved(self, t: float) -> ChainAt:
        """The point x + t d: half a pass."""
        at = self._at
        return self._f.evaluated(at.x + t * self._d, at.z + t * self._dz, self._look(t), at.steps + 1)
