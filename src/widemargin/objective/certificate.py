"""The certificate: how far a point can be from the best possible, proven by weak duality.

    primal   P(w, b) = R(w) + sum_i C_i loss(y_i, x_i . w + b)
    dual     D(v)    = -R*(X^T v) - sum_i C_i conjugate(-v_i / C_i, y_i)      and  sum_i v_i = 0  for a free intercept

For every w and every dual point v, D(v) <= min P <= P(w, b). A solver may offer its own v (with penalty l2, w = X^T v
at the optimum); otherwise v_i = -C_i loss'(x_i . w + b) is taken. Either way the point is first made feasible here:

 1. free intercept: b is replaced by the minimiser of P(w, .), and the heavier side of v is scaled down to sum v = 0;
 2. l1: v is scaled into |X^T v|_inf <= 1.

Scaling towards zero never leaves the domain of a conjugate, because each contains 0 and is convex.

What a gap is measured by: the objective or, where it is smaller, what the best model can gain over w = 0 with its best
intercept, with a floor for either. At a small C the objective is almost the losses at w = 0, and a small share of it
may be as much as all that the model achieves; with l2, |w - w*|^2 <= 2 gap, so measured by the gain w is right to a
share of its own length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..vectors import Vector
from .points import Point

if TYPE_CHECKING:
    from .problem import Problem

# Sums whose difference is this share of them differ by the rounding of their own terms.
ROUNDING = 1e-15
# A gain over w = 0 below this share of the objective is no measure any more: with a large l1, w = 0 is the optimum.
LEAST_GAIN = 1e-3
# An objective below this share of that at w = 0 is a fit without any loss worth telling: where predictions are exact to
# the last digits of float64, what is left of the objective is made of their rounding.
LEAST_SIZE = 1e-13


@dataclass(frozen=True)
class Certificate:
    """The objective, a lower bound on the best possible one, and the gap between them.

    Examples
    --------
    >>> from widemargin import Certificate
    >>> Certificate(primal=100.0, dual=99.9)
    Certificate(primal=100, dual=99.9, gap=0.1, relative_gap=0.001)
    """

    primal: float
    dual: float
    at_zero: float = np.inf  # the objective at w = 0 with its best intercept, if that is known

    @property
    def gap(self) -> float:
        """primal - dual, never below zero; infinite where either is not a number."""
        difference = self.primal - self.dual
        return np.inf if np.isnan(difference) else max(0.0, difference)

    @property
    def relative_gap(self) -> float:
        """The gap beside |primal| or the gain over w = 0, whichever is smaller: what `tol` is compared with."""
        return relative(self.gap, measure(self.primal, self.dual, self.at_zero))

    def __repr__(self) -> str:
        return (
            f"Certificate(primal={self.primal:.10g}, dual={self.dual:.10g}, "
            f"gap={self.gap:.3g}, relative_gap={self.relative_gap:.3g})"
        )


def measure(primal: float, dual: float, at_zero: float) -> float:
    """What a gap is measured by: |primal|, or what can be gained over w = 0 if that is less."""
    size = abs(primal)
    size = min(size, max(at_zero - dual, LEAST_GAIN * size))
    return max(size, LEAST_SIZE * at_zero) if at_zero < np.inf else size


@dataclass(frozen=True)
class Goal:
    """Which gap is small enough: `tol` times what gaps are measured by."""

    tol: float
    at_zero: float = np.inf

    def wanted(self, primal: float, gap: float) -> float:
        """The gap that would be small enough at that objective, of which so large a gap is known."""
        return self.tol * measure(primal, primal - gap, self.at_zero)

    def is_met(self, gap: float, primal: float) -> bool:
        """Whether that gap is small enough at that objective."""
        return gap <= self.wanted(primal, gap)


def relative(gap: float, size: float) -> float:
    """gap / size; a gap of zero is zero whatever it is measured by."""
    if gap == 0:
        return 0.0
    return gap / size if size != 0 and np.isfinite(size) else np.inf


@dataclass(frozen=True)
class Certified:
    """A certificate and the point that it holds for: its best intercept, its feasible dual point, its products."""

    certificate: Certificate
    point: Point


def certify(problem: Problem, point: Point) -> Certified:
    """The certificate of a point of a linear problem, with the point's dual if there is one."""
    z = point.z
    if z is None:
        z = problem.X.matvec(point.w, n_jobs=problem.n_jobs)
    elif point.intercept != 0:
        z = z - point.intercept
    b = problem.best_intercept(z, point.intercept) if problem.intercept == "free" else point.intercept
    primal = problem.penalty_value(point.w, b) + problem.loss_sum(z, b)
    z = z + b if b != 0 else z
    given = -problem.loss_derivatives(z)[0] if point.dual is None else point.dual
    v, pull, dual = feasible_dual(problem, given, point.pull)
    own = v is given and (point.dual is None or (point.own_dual and b == point.intercept))
    return Certified(Certificate(primal, dual, problem.at_zero), Point(point.w, b, v, z, pull, own))


def feasible_dual(problem: Problem, v: Vector, pull: Vector | None = None) -> tuple[Vector, Vector | None, float]:
    """v made dual feasible by scaling, X^T of it, and the dual value there; `pull` is X^T v, if it is known."""
    if problem.intercept == "free":
        given, v = v, balanced(v)
        pull = pull if v is given else None
    # With l1, terms a billion times larger cancel to |x_j . v| <= rho: the last digits of float64 would decide.
    X, l1 = problem.X, problem.penalty.rho > 0
    if pull is None or l1:
        pull = X.rmatvec(v, accurate=l1, n_jobs=problem.n_jobs)
    g_b = problem.intercept_scale * float(v.sum())
    g = np.append(pull, g_b) if problem.intercept == "regularized" else pull
    scale = problem.penalty.dual_scale(g)
    if scale < 1:
        v, g, pull = scale * v, scale * g, scale * pull
    return v, pull, -problem.penalty.conjugate(g) - problem.conjugate_sum(-v)


def balanced(v: Vector) -> Vector:
    """v with its heavier side scaled down so that it sums to zero."""
    positive, negative = float(v[v > 0].sum()), -float(v[v < 0].sum())
    if abs(positive - negative) <= ROUNDING * positive:
        return v
    if positive > negative:
        return np.where(v > 0, v * (negative / positive), v)
    return np.where(v < 0, v * (positive / negative), v)
