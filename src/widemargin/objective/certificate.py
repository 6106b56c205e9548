"""The certificate: how far a point can be from the best possible, proven by weak duality.

    primal   P(w, b) = R(w) + sum_i C_i loss(y_i, x_i . w + b)
    dual     D(v)    = -R*(X^T v) - sum_i C_i conjugate(-v_i / C_i, y_i)      and  sum_i v_i = 0  for a free intercept

For every w and every dual point v, D(v) <= min P <= P(w, b). A solver may offer its own v (with penalty l2, w = X^T v
at the optimum); otherwise v_i = -C_i loss'(x_i . w + b) is taken. Either way the point is first made feasible here:

 1. free intercept: b is replaced by the minimiser of P(w, .), and the heavier side of v is scaled down to sum v = 0;
 2. l1: v is scaled into |X^T v|_inf <= 1.

Scaling towards zero never leaves the domain of a conjugate, because each contains 0 and is convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..vectors import Vector

if TYPE_CHECKING:
    from .problem import Problem


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

    @property
    def gap(self) -> float:
        """primal - dual, never below zero; infinite where either is not a number."""
        difference = self.primal - self.dual
        return np.inf if np.isnan(difference) else max(0.0, difference)

    @property
    def relative_gap(self) -> float:
        """gap / |primal|: what `tol` is compared with."""
        return relative(self.gap, self.primal)

    def __repr__(self) -> str:
        return (
            f"Certificate(primal={self.primal:.10g}, dual={self.dual:.10g}, "
            f"gap={self.gap:.3g}, relative_gap={self.relative_gap:.3g})"
        )


def relative(gap: float, primal: float) -> float:
    """gap / |primal|; a gap of zero is zero whatever the objective."""
    if gap == 0:
        return 0.0
    return gap / abs(primal) if primal != 0 and np.isfinite(primal) else np.inf


@dataclass(frozen=True)
class Certified:
    """A point with its certificate: what `certify` made feasible, and found."""

    certificate: Certificate
    intercept: float
    dual: Vector


def certify(problem: Problem, w: Vector, intercept: float, v: Vector | None = None) -> Certified:
    """The certificate of (w, intercept), with the dual point v if the solver has one."""
    z = problem.X.matvec(w, n_jobs=problem.n_jobs)
    b = problem.best_intercept(z, intercept) if problem.intercept == "free" else intercept
    primal = problem.penalty_value(w, b) + problem.loss_sum(z, b)
    if v is None:
        v = -problem.loss_derivatives(z, b)[0]
    v, dual = feasible_dual(problem, v)
    return Certified(Certificate(primal, dual), b, v)


def feasible_dual(problem: Problem, v: Vector) -> tuple[Vector, float]:
    """v made dual feasible by scaling, and the dual value there."""
    if problem.intercept == "free":
        v = balanced(v)
    # With l1, terms a billion times larger cancel to |x_j . v| <= rho: the last digits of float64 would decide.
    X, l1 = problem.X, problem.penalty.rho > 0
    g = X.rmatvec(v, accurate=l1, n_jobs=problem.n_jobs)
    g_b = problem.intercept_scale * float(v.sum())
    g = np.append(g, g_b) if problem.intercept == "regularized" else g
    scale = problem.penalty.dual_scale(g)
    if scale < 1:
        v, g = scale * v, scale * g
    return v, -problem.penalty.conjugate(g) - problem.conjugate_sum(-v)


def balanced(v: Vector) -> Vector:
    """v with its heavier side scaled down so that it sums to zero."""
    positive, negative = float(v[v > 0].sum()), -float(v[v < 0].sum())
    if positive == negative:
        return v
    if positive > negative:
        return np.where(v > 0, v * (negative / positive), v)
    return np.where(v < 0, v * (positive / negative), v)
