"""What the dual methods over all classes share: their state and their loop of passes.

    W = X^T v,  v of rows x classes;  one row's k variables are solved for at a time, W is kept

Weights are float32 where the tolerance allows it. They are built anew from v every few passes, so that rounding does
not add up, and when a verdict on the whole problem fails; a long run goes on in float64. Sparse rows are made compact
first where W is large: private features fold into a number per row (native/core/rows/compact.hpp).

A long run also tries the mean of v over its latest passes: rows of great length make the weights tremble from pass to
pass, by which the primal value suffers long after the dual one has settled, and the mean is still. It is as feasible.

Free intercepts: their constraints sum_i v_im = 0 are met by the method of multipliers, as in dual_cd.py. Within a pass
they are centre + mu sum_i v_i, like the weights of a constant feature sqrt(mu).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...vectors import Vector
from ..base import Point, Run, Step, Steps
from .pass_plan import PassPlan
from .row_layout import WIDE, class_block
from .rules import SINGLE_TOL, intercept_step

if TYPE_CHECKING:
    from ...objective.multiclass import MulticlassProblem

Native = _core.CrammerSinger | _core.MultinomialDualCD

# Passes after which float32 weights are made anew, and after which they are given up: on badly scaled data, which take
# long, the scores are large and their rounding hides what is left of the gap.
STALE = 16
LONG_RUN = 100
# The mean of v is looked at when the run is longer by this factor than at the last look.
MORE_RARELY = 1.25
# After so many passes the order learns which rows deserve more visits: 15 % fewer passes on news20 than after 10.
LEARN_AFTER = 5


def descend(problem: MulticlassProblem, run: Run, state: ClassDualState, *, learn: bool) -> Steps:
    """Passes, step by step; with `learn` the order becomes adaptive when the run turns out to be long."""
    plan = PassPlan(one_by_one=run.every_step or problem.intercept == "free")
    iteration, passes = 0, 0.0
    trust = 1.0
    mean: MeanPoint | None = None
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
        if not plan.midway:
            state.renew(iteration)
            if iteration >= LONG_RUN:
                plan = PassPlan(one_by_one=True)
                mean = mean or MeanPoint(state, iteration)
                if mean.is_due(iteration):
                    still = partial(state.point_of, mean.taken())  # may be asked for more than once
                    yield Step(iteration=iteration, passes=passes, point=still, looks_done=True)
        if learn and not plan.midway and iteration >= LEARN_AFTER:
            state.native.become_adaptive()
            learn = False
        if verdict is not None:
            # The estimate said done and was wrong: the more often, the less it is believed.
            trust = max(1.5 * trust, min(10.0 * trust, verdict.certificate.gap / max(report.gap, 1e-300)))
            state.resume()


class ClassDualState:
    """v, W = X^T v and the intercepts, moved by native passes."""

    def __init__(
        self,
        problem: MulticlassProblem,
        run: Run,
        native: type[_core.CrammerSinger] | type[_core.MultinomialDualCD],
        order: str,
        shrinking: bool,
    ) -> None:
        self.problem, self._run = problem, run
        self._free = problem.intercept == "free"
        self._mu = intercept_step(stored(problem.X)) if self._free else 0.0
        self._centre = np.zeros(problem.n_classes)
        self._single = run.tol >= SINGLE_TOL
        self._refuted = 0
        self._fresh = 0  # passes since the weights were last made from v
        rows, private_part = _small_rows(problem)
        self.native: Native = native(
            rows,
            problem.codes,
            problem.weights,
            private_part,
            problem.n_classes,
            np.sqrt(self._mu) if self._free else problem.constant,
            "permuted" if order == "auto" else order,
            class_block(stored(problem.X), problem.codes, problem.n_classes),
            shrinking,
            run.seed,
            self._single,
        )
        if run.start is not None:
            self._begin_at(run.start)

    def _begin_at(self, start: Point) -> None:
        problem, k = self.problem, self.problem.n_classes
        v = problem.feasible(-problem.loss_slopes(problem.scores(start.w)) if start.dual is None else start.dual)
        self.native.set_dual(v.reshape(-1))
        if self._free:
            self._centre = start.w.reshape(-1, k)[-1].copy()  # v is balanced: nothing to add
            self.native.set_intercepts(self._centre)
        elif problem.constant:
            self.native.set_intercepts(problem.constant**2 * v.sum(axis=0))
        self.native.dual_value = problem.dual_value(v)

    def run_passes(self, trust: float, max_passes: int) -> _core.SequentialReport:
        """Native passes until the estimated gap is small enough, or the slice of time is used up."""
        report = self.native.run(self._run.tol, self._run.at_zero, trust, max_passes, self._run.slice())
        self._fresh += report.passes
        if self._free:
            self._move_centre()
        return report

    def _move_centre(self) -> None:
        """The multipliers' step: the centre moves to where the intercepts are, and they as far again."""
        b = np.empty(self.problem.n_classes)
        self.native.intercepts(b)
        step = b - self._centre  # mu sum_i v_i
        self._centre = b
        self.native.set_intercepts(b + step)
        self.native.dual_value -= float(step @ step) / self._mu

    def dual(self) -> Vector:
        """v, row by row."""
        v = np.empty(self.problem.X.shape[0] * self.problem.n_classes)
        self.native.dual(v)
        return v

    def point(self) -> Point:
        """Where the descent stands."""
        return self.point_of(self.dual())

    def point_of(self, v: Vector) -> Point:
        """v with the weights that belong to it, in full precision."""
        problem, k = self.problem, self.problem.n_classes
        coef = problem.adjoint(v)
        if self._free:
            coef[-k:] = self._centre
        return Point(coef, 0.0, v.reshape(-1, k))

    def renew(self, iteration: int) -> None:
        """Float32 weights are made anew after a number of passes. To be called where passes end, not the clock."""
        if self._single and self._fresh >= STALE:
            self._single = iteration < LONG_RUN
            self._rebuild()

    def resume(self) -> None:
        """All rows return, with weights made anew; the second time in double precision."""
        self._refuted += 1
        self._single = self._single and self._refuted < 2
        self.native.restore()
        self._rebuild()

    def _rebuild(self) -> None:
        self.native.rebuild_weights(self._single)
        self._fresh = 0


class MeanPoint:
    """The mean of v over the passes since it was last looked at; that happens ever more rarely."""

    def __init__(self, state: ClassDualState, iteration: int) -> None:
        self._state = state
        self._sum, self._count = np.zeros(state.problem.X.shape[0] * state.problem.n_classes), 0
        self._next = MORE_RARELY * iteration

    def is_due(self, iteration: int) -> bool:
        """Adds the present v; whether it is time for a look."""
        self._sum += self._state.dual()
        self._count += 1
        return iteration >= self._next

    def taken(self) -> Vector:
        """The mean, after which the next one begins."""
        v = self._sum / self._count
        self._sum[:], self._count = 0.0, 0
        self._next *= MORE_RARELY
        return v


def _small_rows(problem: MulticlassProblem) -> tuple[_core.Rows, Vector]:
    X = stored(problem.X)
    if X.is_sparse and X.shape[1] >= WIDE:
        return X.compact_rows
    return X.native_rows, np.zeros(X.shape[0])
