"""Dual coordinate descent.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i loss(y_i, x_i . w + b)
Dual      min over v      1/2 |X^T v|^2 + sum_i C_i conjugate(-v_i / C_i, y_i)
          where w = X^T v; for classification v_i = y_i alpha_i

Survey Algorithm 3; Hsieh, Chang, Lin, Keerthi, Sundararajan, "A Dual Coordinate Descent Method for Large-scale
Linear SVM" (2008). One variable is minimised at a time; w is kept, so a step costs the entries of one row. Shrinking
leaves out variables that a bound holds firmly; all return when the verdict on the whole problem fails.

Free intercept: its dual constraint sum v = 0 is met by the method of multipliers. Between passes b is the multiplier;
within a pass it follows b = centre + mu sum v like the weight of a constant feature sqrt(mu), a proximal step on b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .base import Point, Run, Solver, Step, Steps

if TYPE_CHECKING:
    from ..objective.certificate import Certified
    from ..objective.problem import Problem

Vector = NDArray[np.float64]

# Below this tolerance a float32 w cannot be relied on.
SINGLE_TOL = 1e-5

# A run that takes longer than this learns the coordinates' frequencies from here on.
PERMUTED_PASSES = 10


@dataclass(frozen=True)
class DualCD(Solver):
    """Dual coordinate descent (Hsieh et al. 2008) for penalty l2.

    Parameters
    ----------
    order : {"auto", "permuted", "cyclic", "permuted_once", "random", "adaptive"}
        Which coordinate next; "adaptive" learns the coordinates' frequencies (Glasmachers and Dogan 2013), "auto" is
        permuted for the first passes and adaptive when the run turns out to be long.
    shrinking : bool
        Leave out variables that a bound holds firmly.

    Examples
    --------
    >>> from widemargin import DualCD, Problem, solve
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, DualCD(order="cyclic"), tol=1e-8).coef.round(6)
    array([0.333333])
    """

    name: ClassVar[str] = "dual_cd"
    summary: ClassVar[str] = "dual coordinate descent (Hsieh et al. 2008)"
    losses: ClassVar[frozenset[str]] = frozenset(
        {
            "hinge",
            "squared_hinge",
            "logistic",
            "modified_huber",
            "squared",
            "epsilon_insensitive",
            "squared_epsilon_insensitive",
        }
    )

    order: str = "auto"
    shrinking: bool = True

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = _DualState(self, problem, run)
        iteration, passes, n_calls = 0, 0.0, 0
        trust = 1.0
        rows = problem.X.shape[0]
        while True:
            report = state.run_passes(trust, state.passes_per_call(n_calls, run.max_iter - iteration))
            iteration += report.passes
            passes += report.steps / rows
            n_calls += 1
            verdict = yield Step(
                iteration=iteration,
                passes=passes,
                point=state.point,
                objective=report.dual + report.gap,
                dual=report.dual,
                gap=report.gap,
                looks_done=report.looks_done or report.n_active == 0,
                n_active=report.n_active,
            )
            if self.order == "auto" and iteration >= PERMUTED_PASSES:
                state.become_adaptive()
            if verdict is not None:
                # The estimate said done and was wrong: next time believe it only as far as it was right now.
                trust = float(np.clip(verdict.certificate.gap / max(report.gap, 1e-300), 0.5, 10.0))
                state.resume(verdict)


class _DualState:
    """The native state, with what belongs to the intercept and to the precision."""

    def __init__(self, solver: DualCD, problem: Problem, run: Run) -> None:
        self.problem = problem
        self._run = run
        self.free = problem.intercept == "free"
        self.single = problem.X.dtype == np.float32 and run.tol >= SINGLE_TOL
        self.mu = _mean_sqnorm(problem) if self.free else 0.0
        self.is_adaptive = False
        self.native = _core.DualCD(
            problem.X.rows,
            problem.loss.name,
            problem.loss.epsilon,
            problem.y,
            problem.weights,
            np.zeros(problem.X.shape[0]),
            np.sqrt(self.mu) if self.free else problem.intercept_scale,
            "permuted" if solver.order == "auto" else solver.order,
            solver.shrinking,
            run.seed,
            self.single,
        )
        if run.start is not None:
            self._begin_at(run.start)

    def _begin_at(self, start: Point) -> None:
        v = start.dual
        if v is None:
            z = self.problem.X.matvec(start.w, start.intercept, n_jobs=self.problem.n_jobs)
            v = -self.problem.loss_derivatives(z)[0]
        v = self._inside_domain(v)
        self.native.set_dual(v)
        w = self.problem.X.rmatvec(v, n_jobs=self.problem.n_jobs)
        self.native.set_weights(w)
        self.native.intercept = self.problem.intercept_scale**2 * float(v.sum())
        if self.free:
            self.native.intercept = start.intercept
        self.native.dual_value = -0.5 * float(w @ w) - self.problem.conjugate_sum(-v)

    def _inside_domain(self, v: Vector) -> Vector:
        """v clipped into the domain of this problem's conjugates, which a change of C may have moved."""
        problem = self.problem
        counts = problem.weights > 0
        lower, upper = problem.loss.dual_bounds(problem.y[counts])
        inside = np.zeros_like(v)
        inside[counts] = np.clip(v[counts], lower * problem.weights[counts], upper * problem.weights[counts])
        return inside

    def passes_per_call(self, n_calls: int, left: float) -> int:
        """One pass when somebody watches or the intercept moves between passes; else more and more."""
        if self._run.every_step or self.free:
            return 1
        return int(min(2 ** min(n_calls, 20), left))

    def become_adaptive(self) -> None:
        if not self.is_adaptive:
            self.native.become_adaptive()
            self.is_adaptive = True

    def run_passes(self, trust: float, max_passes: int) -> _core.DualReport:
        report = self.native.run(self._run.tol, trust, max_passes, self._run.slice())
        if self.free:
            self._move_centre()
        return report

    def _move_centre(self) -> None:
        total = float(self.dual().sum())
        self.native.intercept += self.mu * total
        self.native.dual_value -= self.mu * total * total

    def dual(self) -> Vector:
        v = np.empty(self.problem.X.shape[0])
        self.native.dual(v)
        return v

    def point(self) -> Point:
        w = np.empty(self.problem.X.shape[1])
        self.native.weights(w)
        return Point(w, self.native.intercept, self.dual())

    def resume(self, verdict: Certified) -> None:
        """All variables return; a float32 w starts anew from the dual variables."""
        self.native.restore()
        if self.single:
            self.native.set_weights(self.problem.X.rmatvec(self.dual(), n_jobs=self.problem.n_jobs))
        if self.free:
            self.native.intercept = verdict.intercept


def _mean_sqnorm(problem: Problem) -> float:
    sqnorms = np.empty(problem.X.shape[0])
    _core.row_sqnorms(problem.X.rows, sqnorms)
    return float(np.mean(sqnorms)) or 1.0
