"""Pegasos: projected subgradient descent, on all rows or on a random subsample per step.

Problem   min over w, b   f(w) = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (x_i . w + b))
Dual      max over v      sum_i alpha_i - 1/2 |X^T v|^2,    v_i = y_i alpha_i,   0 <= alpha_i <= C_i

Shalev-Shwartz, Singer, Srebro, "Pegasos: Primal Estimated sub-GrAdient SOlver for SVM" (2007; with Cotter 2011);
survey Algorithm 1. With lambda = 1 / sum_i C_i (the papers' 1/(C l)) the method minimises lambda f with the step
1/(lambda k), which is the step 1/k on f itself. (The survey writes the step C l / k beside the subgradient of f: one
of the two must be divided by C l.)

Step k    w <- w - 1/k subgradient of f at w;    w <- min(1, 1 / (sqrt(lambda) |w|)) w

The answer is the mean of the iterates since the last power of two, so that early ones are forgotten. On all rows the
mean subgradient is a dual point: v <- (1 - 1/k) v - 1/k u, u_i = C_i loss'(z_i), scaled with w where w is projected,
keeps w = X^T v inside the box, and the gap costs no pass. With subsamples alpha_i is C_i times the share of row i's
draws that were margin errors, and of the means after each pass the best one is offered (best_epoch.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...data.rows import IN_ORDER, VERBS
from ...vectors import Vector, inner
from ..base import Point, Run, Solver, Step, Steps
from .best_epoch import BestEpoch

if TYPE_CHECKING:
    from ...objective.any_problem import AnyProblem
    from ...objective.problem import Problem


@dataclass(frozen=True)
class Pegasos(Solver):
    """Pegasos (Shalev-Shwartz et al. 2007) for the hinge loss and penalty l2.

    Parameters
    ----------
    subsample : int or None
        Rows drawn at random per step; None for all rows in every step, which is deterministic.
    average : bool
        Answer with the mean of the iterates instead of the last one.

    Notes
    -----
    A warm start is verified and returned if nothing better is found, but the iteration does not begin there: its first
    step has length one, w <- (1 - 1/1) w - ..., and forgets whatever w was.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import Pegasos
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, Pegasos(subsample=None), tol=1e-2).coef.round(1)
    array([0.3])
    """

    name: ClassVar[str] = "pegasos"
    summary: ClassVar[str] = "projected stochastic subgradient descent (Shalev-Shwartz et al. 2007)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    losses: ClassVar[frozenset[str]] = frozenset({"hinge"})
    intercepts: ClassVar[frozenset[str]] = frozenset({"none", "regularized"})

    subsample: int | None = 1
    average: bool = True

    def accepts(self, problem: AnyProblem) -> bool:
        return self.lacks(problem) == frozenset() and self.declares(problem)

    def lacks(self, problem: AnyProblem) -> frozenset[str]:
        # All rows in every step is a pass, which rows make by themselves wherever they are.
        return super().lacks(problem) if self.subsample is not None else frozenset({VERBS}) - problem.X.offers

    def iterate(self, problem: Problem, run: Run) -> Steps:
        if self.subsample is None:
            return self._on_all_rows(problem, run)
        return self._on_subsamples(problem, run)

    def _on_all_rows(self, problem: Problem, run: Run) -> Steps:
        here = _Iterate.zero(problem)
        mean = here
        n_averaged = 0
        best = _Best()
        for iteration in count(1):
            at = problem.loss_pass(here.w, here.intercept)
            here = here.with_predictions(at.z)
            if self.average:
                n_averaged = 1 if iteration & (iteration - 1) == 0 else n_averaged + 1
                mean = mean.towards(here, 1 / n_averaged)
            answer = mean if self.average else here
            best.offer(answer, *answer.values(problem))
            gap = best.primal - best.dual
            done = run.goal.is_met(gap, best.primal)
            yield Step(iteration, float(iteration), best.point, best.primal, best.dual, gap, done, problem.X.shape[0])
            here = here.descended(problem, at.u, at.gradient, 1 / iteration)

    def _on_subsamples(self, problem: Problem, run: Run) -> Steps:
        assert self.subsample is not None
        native = _core.Pegasos(
            stored(problem.X).native_rows, problem.y, problem.weights, problem.intercept_scale, run.seed
        )
        best = BestEpoch(problem, run.seed)
        trust = 1.0
        for iteration in count(1):
            if (iteration - 1) & (iteration - 2) == 0:
                native.restart_mean()
            report = native.one_pass(self.subsample)
            w, v = best.room
            best.offer(native.weights(w, self.average))
            native.dual(v)
            primal = 0.5 * report.sqnorm + report.loss
            # As if w = X^T v, which holds in the limit: an estimate, for the verdict costs a pass.
            gap = primal + 0.5 * report.sqnorm - inner(problem.y, v)
            best.offer_latest_dual()
            verdict = yield Step(
                iteration=iteration,
                passes=float(iteration),
                point=best.answer,
                objective=primal,
                dual=primal - gap,
                gap=gap,
                looks_done=trust * gap <= run.goal.wanted(primal, gap),
                n_active=problem.X.shape[0],
            )
            if verdict is not None:
                trust = float(np.clip(verdict.certificate.gap / gap if gap > 0 else 10.0, 0.1, 10.0))
                best.forget()


@dataclass(frozen=True)
class _Iterate:
    """A point with its dual point and its predictions; all three are linear in each other, so means are too."""

    w: Vector
    intercept: float
    v: Vector
    z: Vector

    @classmethod
    def zero(cls, problem: Problem) -> _Iterate:
        rows, columns = problem.X.shape
        return cls(np.zeros(columns), 0.0, np.zeros(rows), np.zeros(rows))

    def with_predictions(self, z: Vector) -> _Iterate:
        return _Iterate(self.w, self.intercept, self.v, z)

    def towards(self, other: _Iterate, share: float) -> _Iterate:
        """(1 - share) self + share other"""
        return _Iterate(
            self.w + share * (other.w - self.w),
            self.intercept + share * (other.intercept - self.intercept),
            self.v + share * (other.v - self.v),
            self.z + share * (other.z - self.z),
        )

    def descended(self, problem: Problem, u: Vector, gradient: Vector, step: float) -> _Iterate:
        """(18) and (19) of the survey: a subgradient step, then the projection."""
        constant = problem.intercept_scale**2 * float(u.sum())
        next_ = self.towards(_Iterate(-gradient, -constant, -u, self.z), step)
        norm = np.sqrt(2 * problem.penalty_value(next_.w, next_.intercept))
        longest = np.sqrt(problem.weights.sum())
        if norm <= longest:
            return next_
        shrunk = float(longest / norm)
        return _Iterate(shrunk * next_.w, shrunk * next_.intercept, shrunk * next_.v, next_.z)

    def values(self, problem: Problem) -> tuple[float, float]:
        """The objective and the dual value, without a pass over the data."""
        half_sqnorm = problem.penalty_value(self.w, self.intercept)
        return half_sqnorm + problem.loss_sum(self.z), -half_sqnorm - problem.conjugate_sum(-self.v)


@dataclass
class _Best:
    """The iterate with the lowest objective and the one with the highest bound, of those whose values are known."""

    lowest: _Iterate | None = None
    highest: _Iterate | None = None
    primal: float = math.inf
    dual: float = -math.inf

    def offer(self, iterate: _Iterate, primal: float, dual: float) -> None:
        if self.lowest is None or primal < self.primal:
            self.lowest, self.primal = iterate, primal
        if self.highest is None or dual > self.dual:
            self.highest, self.dual = iterate, dual

    def point(self) -> Point:
        assert self.lowest is not None and self.highest is not None
        return Point(self.lowest.w, self.lowest.intercept, self.highest.v)
