"""The Huber loss with its scale: how large an ordinary error is, found together with the model (Huber 1981).

Problem   min over w, b, sigma >= 0   P = 1/2 |w|^2 + sum_i C_i (sigma + sigma H(r_i / sigma))       r = y - X w - b
          H(t) = t^2 for |t| <= epsilon, else 2 epsilon |t| - epsilon^2
Dual      max over v                  D = v . y - 1/2 |X^T v|^2
          where |v_i| <= 2 epsilon C_i, sum_i v_i^2 / C_i <= 4 sum_i C_i, and sum v = 0 for a free intercept

At a given sigma it is our problem with the loss "huber", delta = epsilon sigma and C_i / sigma, whose dual point is a v
that may violate the second condition alone. Given the residuals, the best sigma solves

    sum_i C_i min(r_i^2 / sigma^2, epsilon^2) = sum_i C_i

P is convex in everything, so the sigma that is best for the residuals of its own model is found by a search in one
variable: the root of log(best sigma / sigma), by secants kept inside a bracket. Each model starts from the last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from ..multiclass.solving import Solve
from ..objective.certificate import Certificate, balanced
from ..objective.losses import make_loss
from ..objective.problem import Problem
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution, Status
from ..vectors import Vector, inner

MOST_SCALES = 60
# The scale falls by this factor at most from one model to the next, and to this share of the first at all: residuals of
# zero have none.
FASTEST, LEAST = 1e-3, 1e-12
# Turns of intercept and scale, at most, and a relative change of the scale that ends them.
MOST_TURNS, SETTLED = 50, 1e-15


def best_scale(residuals: Vector, weights: Vector, epsilon: float) -> float:
    """argmin over sigma of  sum_i weights_i (sigma + sigma H(r_i / sigma));  0 where most residuals are zero.

    Examples
    --------
    >>> best_scale(np.array([3.0, -3.0, 3.0]), np.ones(3), 1.35)
    3.0
    """
    order = np.argsort(np.abs(residuals))
    r, s = np.abs(residuals[order]), weights[order]
    inside, total = np.cumsum(s * r * r), float(s.sum())
    outside = total - np.cumsum(s)
    # With sigma = r_k / epsilon the rows up to k are ordinary ones, and the sum of the equation is:
    sums = np.divide(inside, (r / epsilon) ** 2, out=np.zeros_like(r), where=r > 0) + epsilon**2 * outside
    k = int(np.argmax(sums <= total)) if (sums <= total).any() else len(r)
    if k == 0:
        return float(r[0]) / epsilon
    left = total - epsilon**2 * (outside[k - 1] if k < len(r) else 0.0)
    return math.sqrt(float(inside[k - 1]) / left) if left > 0 else 0.0


@dataclass(frozen=True)
class JointScale:
    """The problem with its scale; `problem` is that at sigma = 1."""

    problem: Problem
    epsilon: float

    def at(self, sigma: float) -> Problem:
        """The problem in w and b at that scale."""
        p = self.problem
        weights = p.weights / p.C
        return Problem(
            p.X,
            p.y,
            "huber",
            "l2",
            p.C / sigma,
            intercept=p.intercept,
            sample_weight=weights,
            delta=self.epsilon * sigma,
        )

    def residuals(self, solution: Solution, n_jobs: int) -> Vector:
        """y - X w - b"""
        return self.problem.y - self.problem.X.matvec(solution.coef, solution.intercept, n_jobs=n_jobs)

    def scale(self, residuals: Vector) -> float:
        """The best sigma for those residuals."""
        return best_scale(residuals, self.problem.weights, self.epsilon)

    def settled(self, residuals: Vector) -> tuple[float, Vector]:
        """The best intercept, as a move from where it is, and the residuals there: best together with sigma.

        By turns: of a dual point that is not balanced, D would be right to first order only.
        """
        move, sigma, zero = 0.0, self.scale(residuals), np.zeros_like(residuals)
        if self.problem.intercept != "free":
            return move, residuals
        for _ in range(MOST_TURNS):
            if not sigma > 0:
                break
            loss = make_loss("huber", delta=self.epsilon * sigma)
            move = _core.best_intercept(loss.native, zero, residuals, self.problem.weights, move)
            before, sigma = sigma, self.scale(residuals - move)
            if abs(sigma - before) <= SETTLED * before:
                break
        return move, residuals - move

    def certificate(self, solution: Solution, residuals: Vector, n_jobs: int) -> Certificate:
        """P with the best sigma, and the better D of two dual points: the solution's, and that of sigma and residuals.

        The second meets the condition on the squares exactly, so that D is right to second order.
        """
        w, C, sigma = solution.coef, self.problem.weights, self.scale(residuals)
        primal = 0.5 * inner(w, w) + inner(C, self._losses(residuals, sigma))
        points = [] if solution.dual is None else [solution.dual]
        if sigma > 0:
            points.append(2 * C * np.clip(residuals / sigma, -self.epsilon, self.epsilon))
        return Certificate(primal, max((self._bound(v, n_jobs) for v in points), default=0.0))

    def _bound(self, v: Vector, n_jobs: int) -> float:
        """D at the best multiple of v that is feasible."""
        C, counts = self.problem.weights, self.problem.weights > 0
        v = balanced(v) if self.problem.intercept == "free" else v
        g = self.problem.X.rmatvec(v, n_jobs=n_jobs)
        slope, curvature = inner(v, self.problem.y), inner(g, g)
        size = float(np.sum(v[counts] ** 2 / C[counts]))
        t = min(1.0, math.sqrt(4 * float(C.sum()) / size)) if size > 0 else 0.0
        t = min(t, max(0.0, slope / curvature)) if curvature > 0 else t
        return t * slope - 0.5 * t * t * curvature

    def _losses(self, residuals: Vector, sigma: float) -> Vector:
        """sigma + sigma H(r / sigma), also in the limit of sigma = 0."""
        r = np.abs(residuals)
        beyond = 2 * self.epsilon * r + (1 - self.epsilon**2) * sigma
        within = sigma + r * (r / sigma) if sigma > 0 else beyond
        return np.where(r <= self.epsilon * sigma, within, beyond)


class ScaleSearch:
    """The root of log(best / sigma) in log sigma: secants, inside the bracket known so far."""

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma
        self._least = LEAST * sigma
        self._low, self._high = self._least, math.inf
        self._last: tuple[float, float] | None = None

    def learn(self, best: float) -> bool:
        """Takes notice of the best scale for the residuals at `sigma`, and moves on; False where there is nowhere."""
        best = max(best, FASTEST * self.sigma, self._least)
        x, step = math.log(self.sigma), math.log(best / self.sigma)
        if step > 0:
            self._low = self.sigma
        elif step < 0:
            self._high = self.sigma
        following = best
        if self._last is not None and self._last[1] != step:
            x_last, step_last = self._last
            following = math.exp(min(700.0, x - step * (x - x_last) / (step - step_last)))
        self._last = x, step
        if not self._low < following < self._high:
            following = (
                math.sqrt(self._low * self._high) if math.isfinite(self._high) and self._low > self._least else best
            )
        moved = following != self.sigma
        self.sigma = following
        return moved


def with_scale(solve: Solve, epsilon: float, tol: float) -> Solve:
    """Solves Huber problems together with their scale; what it is given must solve to a gap of tol / 2."""

    def run(model: int, problem: Problem, effort: Effort, start: Solution | None) -> Solution:
        joint, n_jobs = JointScale(problem, epsilon), effort.n_jobs
        at_zero = problem.y - (problem.best_intercept(np.zeros_like(problem.y)) if problem.intercept == "free" else 0.0)
        residuals = at_zero if start is None else joint.residuals(start, n_jobs)
        search = ScaleSearch(joint.scale(residuals) or float(np.abs(residuals).mean()) or 1.0)
        solution, bound, n_iter, seconds = start, 0.0, 0, 0.0
        for _ in range(MOST_SCALES):
            # Without its dual point, which belongs to another scale and could prove a model that this one lacks.
            last = None if solution is None else replace(solution, dual=None)
            solution = solve(model, joint.at(search.sigma), effort, last)
            n_iter, seconds = n_iter + solution.n_iter, seconds + solution.seconds
            move, residuals = joint.settled(joint.residuals(solution, n_jobs))
            solution = replace(solution, intercept=solution.intercept + move)
            found = joint.certificate(solution, residuals, n_jobs)
            bound = max(bound, found.dual)  # what one scale has proven holds for all
            certificate = Certificate(found.primal, bound)
            proven = certificate.relative_gap <= tol
            if proven or not solution.converged or not search.learn(joint.scale(residuals)):
                break
        assert solution is not None
        status = Status.CONVERGED if proven else Status.STALLED if solution.converged else solution.status
        return replace(solution, certificate=certificate, status=status, n_iter=n_iter, seconds=seconds)

    return run
