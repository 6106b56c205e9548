"""The sequential dual method for Crammer and Singer's multi-class SVM.

Problem   min over W, b   1/2 |W|^2 + sum_i C_i max_m (z_im + 1[m != y_i] - z_iy)
Dual      min over alpha  1/2 |X^T alpha|^2 + sum_im 1[m != y_i] alpha_im
          sum_m alpha_im = 0,  alpha_im <= C_i if m = y_i, else <= 0;   W = X^T alpha

Keerthi, Sundararajan, Chang, Hsieh, Lin, "A Sequential Dual Method for Large Scale Multi-Class Linear SVMs" (2008);
LIBLINEAR paper, Appendix E. One row's k variables are solved for exactly at a time (native/core/crammer_singer.hpp).
Classes that a bound holds firmly are left out row by row, and a row of which only its own class is left altogether.

Free intercepts: their constraints sum_i alpha_im = 0 are met by the method of multipliers, as in dual_cd.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .base import Point, Run, Solver, Step, Steps
from .pass_plan import PassPlan

if TYPE_CHECKING:
    from ..multiclass.crammer_singer import CrammerSingerProblem
    from ..objective.problem import Problem

Vector = NDArray[np.float64]

# A run that takes more passes than this is worth learning the rows' frequencies.
SHORT_RUN = 10


@dataclass(frozen=True)
class CrammerSinger(Solver):
    """Sequential dual method (Keerthi et al. 2008) for `CrammerSingerProblem`.

    Parameters
    ----------
    order : {"auto", "permuted", "cyclic", "permuted_once", "random", "adaptive"}
        Which row next; "auto" is permuted first and adaptive when the run turns out to be long.
    shrinking : bool
        Leave out classes and rows that their bounds hold firmly.

    Examples
    --------
    >>> from widemargin import CrammerSinger, CrammerSingerProblem, solve
    >>> problem = CrammerSingerProblem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 2, 3], intercept="free")
    >>> solve(problem, CrammerSinger(shrinking=False), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "crammer_singer"
    summary: ClassVar[str] = "sequential dual method for Crammer and Singer's SVM (Keerthi et al. 2008)"
    kind: ClassVar[str] = "crammer_singer"
    losses: ClassVar[frozenset[str]] = frozenset({"crammer_singer"})

    order: str = "auto"
    shrinking: bool = True

    def iterate(self, problem: Problem, run: Run) -> Steps:
        # No other problem has the loss declared above.
        state = _State(cast("CrammerSingerProblem", problem), run, self)
        plan = PassPlan(one_by_one=run.every_step or problem.intercept == "free")
        iteration, passes = 0, 0.0
        trust, learning = 1.0, False
        rows = problem.X.shape[0]
        while True:
            report = state.run_passes(trust, plan.next_call(run.max_iter - iteration))
            iteration += report.passes
            passes += report.steps / rows
            looks_done = report.looks_done or report.n_active == 0
            plan.made(report.passes, finished=looks_done)
            verdict = yield Step(
                iteration=iteration,
                passes=passes,
                point=state.point,
                objective=report.dual + report.gap,
                dual=report.dual,
                gap=report.gap,
                looks_done=looks_done,
                n_active=report.n_active,
                by_the_clock=plan.midway,
            )
            if not plan.midway and iteration >= SHORT_RUN and self.order == "auto" and not learning:
                state.native.become_adaptive()
                learning = True
            if verdict is not None:
                # The estimate said done and was wrong: the more often, the less it is believed.
                trust = max(1.5 * trust, min(10.0 * trust, verdict.certificate.gap / max(report.gap, 1e-300)))
                state.native.restore()


class _State:
    """alpha, W = X^T alpha and the intercepts; free ones are centre + mu sum_i alpha_i within a pass."""

    def __init__(self, problem: CrammerSingerProblem, run: Run, settings: CrammerSinger) -> None:
        self.problem, self._run = problem, run
        self._free = problem.intercept == "free"
        self._mu = 0.1 * _mean_sqnorm(problem) if self._free else 0.0
        self._centre = np.zeros(problem.n_classes)
        self.native = _core.CrammerSinger(
            problem.X.rows,
            problem.codes,
            problem.weights,
            problem.n_classes,
            np.sqrt(self._mu) if self._free else problem.constant,
            "permuted" if settings.order == "auto" else settings.order,
            settings.shrinking,
            run.seed,
        )
        if run.start is not None:
            self._begin_at(run.start)

    def _begin_at(self, start: Point) -> None:
        problem, k = self.problem, self.problem.n_classes
        slopes = -problem.loss_slopes(problem.scores(start.w)) if start.dual is None else start.dual
        v = problem.feasible(slopes)
        table = problem.adjoint(v).reshape(-1, k)
        features = problem.X.shape[1]
        self.native.set_dual(v.reshape(-1))
        self.native.set_weights(np.ascontiguousarray(table[:features]).reshape(-1))
        if self._free:
            self._centre = start.w.reshape(-1, k)[features].copy()  # v is balanced: nothing to add
            self.native.set_intercepts(self._centre)
        elif problem.constant:
            self.native.set_intercepts(problem.constant * table[features])
        self.native.dual_value = problem.dual_value(v)

    def run_passes(self, trust: float, max_passes: int) -> _core.SequentialReport:
        """Native passes until the estimated gap is small enough, or the slice of time is used up."""
        report = self.native.run(self._run.tol, trust, max_passes, self._run.slice())
        if self._free:
            self._move_centre()
        return report

    def _move_centre(self) -> None:
        """The multipliers' step: the centre moves to where the intercepts are, and they as far again."""
        b = self._intercepts()
        step = b - self._centre  # mu sum_i alpha_i
        self._centre = b
        self.native.set_intercepts(b + step)
        self.native.dual_value -= float(step @ step) / self._mu

    def _intercepts(self) -> Vector:
        b = np.empty(self.problem.n_classes)
        self.native.intercepts(b)
        return b

    def point(self) -> Point:
        """Where the descent stands."""
        problem, k = self.problem, self.problem.n_classes
        coef, alpha = np.empty(problem.n_coefficients), np.empty(problem.X.shape[0] * k)
        weights = coef[: problem.X.shape[1] * k]
        self.native.weights(weights)
        self.native.dual(alpha)
        if problem.constant:
            coef[-k:] = self._centre if self._free else self._intercepts() / problem.constant
        return Point(coef, 0.0, alpha.reshape(-1, k))


def _mean_sqnorm(problem: CrammerSingerProblem) -> float:
    sqnorms = np.empty(problem.X.shape[0])
    _core.row_sqnorms(problem.X.rows, sqnorms)
    return float(np.mean(sqnorms)) or 1.0
