"""Cutting-plane methods: SVM-perf (one slack) and OCAS.

Problem   min over w, b   1/2 |w|^2 + R(w, b),    R = sum_i C_i max(0, 1 - y_i (x_i . w + b))
Cut       for any set S of rows    R >= sum over S of C_i (1 - y_i (x_i . w + b));  tight where S are the margin errors
Reduced   min over w, b   1/2 |w|^2 + max(0, the cuts so far)
Its dual  max over beta   sum_k beta_k c_k - 1/2 |sum_k beta_k a_k|^2,    beta >= 0,  sum beta <= 1
          c_k = sum over S_k of C_i,   a_k = sum over S_k of C_i y_i x_i

Joachims, "Training Linear SVMs in Linear Time" (2006), and with Finley and Yu, "Cutting-Plane Training of Structural
SVMs" (2009): solve the reduced problem, cut at its solution w_t, repeat. Franc and Sonnenburg, "Optimized Cutting Plane
Algorithm for Support Vector Machines" (2008): keep the best point w_b, move it to the minimum of the true objective on
the line towards w_t, and cut between the two, at (1 - mu) w_b + mu w_t with mu = 0.1.

The certificate comes from the reduced problem: v_i = y_i C_i (sum of beta_k over the cuts that hold row i) lies in the
box because sum beta <= 1, w_t = X^T v, and its dual value is that of the reduced problem. All points are kept by their
v and their predictions z = X w + b; products of two points are v . z. A cut is a set of rows, one bit per row, and
whichever is shorter of a_k and its predictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...vectors import Vector, inner
from ..base import Point, Run, Solver, Step, Steps
from .simplex_qp import solve_simplex_qp

if TYPE_CHECKING:
    from ...objective.problem import Problem

Array = NDArray[np.float64]

# The reduced problem is solved to this share of the tolerance.
REDUCED_TOL = 0.01


@dataclass(frozen=True)
class _Place:
    """A point by its expansion: w = X^T v, and z = X w + b."""

    v: Vector
    z: Vector

    def half_sqnorm(self) -> float:
        return 0.5 * inner(self.v, self.z)

    def towards(self, other: _Place, step: float) -> _Place:
        return _Place(self.v + step * (other.v - self.v), self.z + step * (other.z - self.z))


@dataclass(frozen=True)
class CuttingPlane(Solver):
    """What the cutting-plane methods share: the reduced problem, its bound, and one new cut per step."""

    losses: ClassVar[frozenset[str]] = frozenset({"hinge"})
    intercepts: ClassVar[frozenset[str]] = frozenset({"none", "regularized"})

    patience: int = 50

    def places(self, problem: Problem, best: _Place, reduced: _Place) -> tuple[_Place, _Place]:
        """The point to answer with, and the one to cut at, given the last answer and the reduced solution."""
        raise NotImplementedError

    def iterate(self, problem: Problem, run: Run) -> Steps:
        rows = problem.X.shape[0]
        cuts = _Cuts(problem, self.patience)
        first = _first_place(problem, run.start)
        answer = first or _Place(np.zeros(rows), np.zeros(rows))
        before = 2 if first else 0  # passes: a step makes two, for its cut and for the predictions
        cut_at, gap = answer, np.inf
        for iteration in count(1):
            cuts.add(cut_at.z)
            primal = answer.half_sqnorm() + problem.loss_sum(answer.z)
            cuts.solve(REDUCED_TOL * run.goal.wanted(primal, gap))
            reduced = cuts.place()
            dual = cuts.value(reduced)
            answer, cut_at = self.places(problem, answer, reduced)
            primal = answer.half_sqnorm() + problem.loss_sum(answer.z)
            gap = primal - dual
            yield Step(
                iteration=iteration,
                passes=float(before + 2 * iteration),
                point=partial(_point, problem, answer, reduced),
                objective=primal,
                dual=dual,
                gap=gap,
                looks_done=run.goal.is_met(gap, primal),
                n_active=len(cuts.beta),
            )


@dataclass(frozen=True)
class SvmPerf(CuttingPlane):
    """The one-slack cutting-plane method of SVM-perf (Joachims 2006) for the hinge loss and penalty l2.

    Parameters
    ----------
    patience : int
        A cut that was not used for so many steps is forgotten.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import SvmPerf
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, SvmPerf(), tol=1e-6).coef.round(4)
    array([0.3333])
    """

    name: ClassVar[str] = "svm_perf"
    summary: ClassVar[str] = "one-slack cutting planes (Joachims 2006)"

    def places(self, problem: Problem, best: _Place, reduced: _Place) -> tuple[_Place, _Place]:
        return reduced, reduced


@dataclass(frozen=True)
class Ocas(CuttingPlane):
    """The optimized cutting-plane algorithm (Franc and Sonnenburg 2008) for the hinge loss and penalty l2.

    Parameters
    ----------
    patience : int
        A cut that was not used for so many steps is forgotten.
    mu : float
        Where to cut: 0 at the best point, 1 at the reduced solution.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import Ocas
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, Ocas(), tol=1e-6).coef.round(4)
    array([0.3333])
    """

    name: ClassVar[str] = "ocas"
    summary: ClassVar[str] = "cutting planes with a line search (Franc and Sonnenburg 2008)"

    mu: float = 0.1

    def places(self, problem: Problem, best: _Place, reduced: _Place) -> tuple[_Place, _Place]:
        along = _Place(reduced.v - best.v, reduced.z - best.z)
        slope, curvature = inner(along.v, best.z), max(0.0, inner(along.v, along.z))
        step = _core.hinge_line_search(best.z, along.z, problem.y, problem.weights, slope, curvature)
        best = best.towards(reduced, step)
        return best, best.towards(reduced, self.mu)


class _Cuts:
    """The cuts, their Gram matrix and the reduced problem's solution beta."""

    def __init__(self, problem: Problem, patience: int) -> None:
        self.problem = problem
        self.patience = patience
        self.by_weights = problem.X.shape[1] < problem.X.shape[0]
        self.pull = problem.y * problem.weights
        self.bits: list[NDArray[np.uint8]] = []
        self.kept: list[Vector] = []  # a_k with its intercept's component, or its predictions
        self.G = np.zeros((0, 0))
        self.c = np.zeros(0)
        self.beta = np.zeros(0)
        self.unused = np.zeros(0, dtype=np.int64)  # steps since beta was last above zero

    def add(self, z: Vector) -> None:
        """The cut of the margin errors at z."""
        problem = self.problem
        errors = problem.y * z < 1
        v = np.where(errors, self.pull, 0.0)
        a, scale = problem.X.rmatvec(v, n_jobs=problem.n_jobs), problem.intercept_scale
        total = float(v.sum())
        if self.by_weights:
            keep = against = np.append(a, scale * total)
        else:
            keep, against = problem.X.matvec(a, scale**2 * total, n_jobs=problem.n_jobs), v
        self.kept.append(keep)
        self.bits.append(np.packbits(errors))
        column = np.array([inner(row, against) for row in self.kept])
        self.G = np.block([[self.G, column[:-1, None]], [column[None, :]]])
        self.c = np.append(self.c, float(problem.weights[errors].sum()))
        self.beta = np.append(self.beta, 0.0)
        self.unused = np.append(self.unused, 0)

    def solve(self, tol: float) -> None:
        """Solves the reduced problem from the last solution on; forgets cuts that have long been idle."""
        self.beta = solve_simplex_qp(self.G, self.c, self.beta, tol)
        self.unused = np.where(self.beta > 0, 0, self.unused + 1)
        stay = self.unused <= self.patience
        if not stay.all():
            at = np.flatnonzero(stay)
            self.G, self.c, self.beta = self.G[np.ix_(at, at)], self.c[at], self.beta[at]
            self.unused = self.unused[at]
            self.bits, self.kept = [self.bits[k] for k in at], [self.kept[k] for k in at]

    def place(self) -> _Place:
        """The reduced problem's solution."""
        problem = self.problem
        share = np.zeros(problem.X.shape[0])
        for k in np.flatnonzero(self.beta):
            share += self.beta[k] * np.unpackbits(self.bits[k], count=len(share))
        mixed = np.zeros_like(self.kept[0])
        for k in np.flatnonzero(self.beta):
            mixed += self.beta[k] * self.kept[k]
        if self.by_weights:
            b = problem.intercept_scale * float(mixed[-1])
            mixed = problem.X.matvec(mixed[:-1], b, n_jobs=problem.n_jobs)
        return _Place(self.pull * share, mixed)

    def value(self, place: _Place) -> float:
        """The reduced problem's value, a lower bound on the optimum."""
        return float(self.c @ self.beta) - place.half_sqnorm()


def _point(problem: Problem, answer: _Place, reduced: _Place) -> Point:
    w = problem.X.rmatvec(answer.v, n_jobs=problem.n_jobs)
    return Point(w, problem.intercept_scale**2 * float(answer.v.sum()), reduced.v)


def _first_place(problem: Problem, start: Point | None) -> _Place | None:
    """The warm start, if its dual point is known: then w = X^T v is where it was, up to its accuracy."""
    if start is None or start.dual is None:
        return None
    w = problem.X.rmatvec(start.dual, n_jobs=problem.n_jobs)
    b = problem.intercept_scale**2 * float(start.dual.sum())
    return _Place(start.dual, problem.X.matvec(w, b, n_jobs=problem.n_jobs))
