"""newGLMNET: Newton steps whose quadratic model is solved by coordinate descent over columns.

Problem   min over w, b   f(w, b) = R(w) + sum_i C_i loss(y_i, z_i),   z_i = x_i . w + b,   loss smooth
Model     Q(d) = u . X d + 1/2 (X d) . H (X d) + R(w + d) - R(w),      u_i = C_i loss'(z_i),  H = diag(C_i loss''(z_i))
Dual      v = -u, scaled into |X^T v| <= rho where the penalty has no ridge

Yuan, Ho, Lin, "An Improved GLMNET for L1-regularized Logistic Regression" (2012); elastic net after Friedman, Hastie,
Tibshirani (2010). An outer step measures the slopes X^T u, solves the model over the columns that have a weight or a
violation (native, bounded calls), and searches along d with sigma = 0.01, beta = 0.5 in O(rows) per trial, where one
exponential per row gives the loss, its slopes and its curvatures at once. The model's tolerance follows
the outer violation, so it is solved coarsely at first. Columns are shrunk on both levels. Where the passes crawl, as on
badly scaled data or at a large C, Newton steps on the model's support (newglmnet_support.py) do up to half of the work.

The slopes at the outer iterate give the duality gap itself, so a step that looks done is done.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...data.rows import COLUMNS, VERBS
from ...objective.losses import SMOOTH_LOSSES
from ..base import Point, Run, Solver, Step, Steps
from .newglmnet_support import ModelPoint, ModelStep

if TYPE_CHECKING:
    from ...objective.problem import Problem

SIGMA, BETA = 0.01, 0.5
MAX_HALVINGS = 40
ROUNDING = 1e-14

# The model is solved until its violation is this share of the outer one: the better the iterate, the finer the model.
FORCING = 0.3

# All columns are looked at again whenever the active ones' violation fell to this share of the last whole one.
LOOK_AGAIN = 0.1

# A zero weight whose violation is below this share of the largest waits for a later model: most of the columns that
# violate at first are zero again when others have moved. Half as much from model to model: features have scales.
WAITING = 0.3

# Where the passes of an outer step do not solve the model and the support has settled, changing by at most this share,
# a Newton step on the support helps; then the passes go on.
SETTLED = 0.05
ROUNDS = 2

# A loss with a straight piece has no curvature there although its slope pulls: the model would have no minimum. Such
# rows get a share of |slope| as curvature, `Loss.straight_share` at first, less the better the steps succeed. Other
# losses are all but straight only where rows are far on the wrong side: theirs, `Loss.most_straight_share`, is for
# when a search has failed.
FIRST_HELP, LEAST_HELP = 1e-3, 1e-9


@dataclass(frozen=True)
class NewGLMNET(Solver):
    """newGLMNET (Yuan, Ho, Lin 2012) for l1, elastic net and l2.

    Parameters
    ----------
    inner_passes : int
        Most passes over the columns in one outer step.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import NewGLMNET
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="squared_hinge", penalty="l1")
    >>> solve(problem, NewGLMNET(), tol=1e-8).coef.round(6)
    array([0.15])
    """

    name: ClassVar[str] = "newglmnet"
    summary: ClassVar[str] = "Newton steps by coordinate descent over columns (Yuan, Ho, Lin 2012)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, COLUMNS})
    losses = SMOOTH_LOSSES
    penalties: ClassVar[frozenset[str]] = frozenset({"l1", "elasticnet", "l2"})

    inner_passes: int = 8

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = _Outer(problem, run)
        iteration = 0
        while True:
            state.measure()
            verdict = yield state.step(iteration, looks_done=state.looks_done())
            if verdict is not None:
                state.tighten()
            yield from state.solve_model(self.inner_passes, iteration)
            if not state.search() and not state.stiffen() and not state.restore():
                return
            iteration += 1


class _Outer:
    """The outer iterate, with its predictions, slopes, curvatures and objective."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem = problem
        self._run = run
        rows = problem.X.shape[0]
        self.native = _core.NewtonModel(
            stored(problem.X).native_columns,
            problem.penalty.rho,
            problem.constant,
            problem.intercept != "free",
            run.seed,
        )
        self.z, self.t = np.zeros(rows), np.zeros(rows)
        self.u, self.h = np.empty(rows), np.empty(rows)
        self._trial = np.empty(rows), np.empty(rows), np.empty(rows)
        self.forcing, self.whole_violation = FORCING, -np.inf
        self.straight = problem.loss.straight_share
        self._most_straight = problem.loss.most_straight_share
        self.passes, self._n_support, self._settled = 0.0, 0, False
        self._descent, self._newton = 0.0, 0.0  # work of both inner methods, in passes over the data
        self._support = ModelStep(problem, lambda: not run.should_stop())
        if run.start is not None:
            self.native.set_weights(run.start.w, run.start.intercept)
        self._restart()

    def _restart(self) -> None:
        """Predictions and objective anew from the weights."""
        point = self.point()
        z = self.problem.X.matvec(point.w, point.intercept, n_jobs=self.problem.n_jobs)
        loss = self.problem.losses_along(z, np.zeros_like(z), 0.0, self._trial)
        self._accept_trial()
        self.penalty = self.native.penalty()
        self.objective = self.penalty + loss

    def measure(self) -> None:
        """Slopes, violations and the gap at the iterate; once more over all columns when the active ones look done."""
        self.model_h = np.maximum(self.h, self.straight * np.abs(self.u)) if self.straight else self.h
        self.report = self.native.begin(self.u, self.model_h)
        self.passes += self.report.n_active / self.problem.X.shape[1]
        self.gap = self._gap()
        last, self._n_support = self._n_support, self.report.n_support
        self._settled = abs(self._n_support - last) <= SETTLED * self._n_support
        shrunk = self.report.n_active < self.problem.X.shape[1]
        if shrunk and (self.looks_done() or self.report.violation <= LOOK_AGAIN * self.whole_violation):
            self._look_again()
        if not shrunk:
            self.whole_violation = self.report.violation

    def _look_again(self) -> None:
        """The dropped columns' slopes too; those that count return."""
        self.passes += 1 - self.report.n_active / self.problem.X.shape[1]
        self.report = self.native.look_again(self.u)
        self.whole_violation = self.report.violation
        self.gap = self._gap()

    def _gap(self) -> float:
        """The gap of (w, -u): the coordinates' shares, or for l1 alone the gap of the scaled dual point."""
        rho = self.problem.penalty.rho
        if rho < 1:
            return self.report.gap
        scale = min(1.0, rho / max(self.report.largest_slope, 1e-300))
        # To first order in 1 - scale; conjugates take logarithms, so they are asked only where they can end the run.
        estimate = max(0.0, self.report.tilt) + (1 - scale) * self.penalty
        if estimate > 2 * self._run.goal.wanted(self.objective, estimate):
            return estimate
        return max(0.0, self.objective + self.problem.conjugate_sum(scale * self.u))

    def looks_done(self) -> bool:
        return self._run.goal.is_met(self.gap, self.objective)

    def step(self, iteration: int, looks_done: bool) -> Step:
        return Step(
            iteration=iteration,
            passes=self.passes,
            point=self.point,
            objective=self.objective,
            dual=self.objective - self.gap,
            gap=self.gap,
            looks_done=looks_done,
            n_active=self.report.n_active,
        )

    def tighten(self) -> None:
        """The verdict failed: solve the model harder, from predictions without rounding."""
        self.forcing *= 0.5
        self._restart()
        self.measure()
        self._look_again()

    def solve_model(self, max_passes: int, iteration: int) -> Generator[Step, object, None]:
        """Until the model's violation is small against the outer one, or the work spent on it enough."""
        self._n_working = self.native.choose(WAITING * 0.5**iteration * self.report.largest_violation)
        for _ in range(ROUNDS):
            done = yield from self._descend(max_passes, iteration)
            if done or not self._settled or self._run.should_stop() or not self._support_step():
                return

    def _descend(self, max_passes: int, iteration: int) -> Generator[Step, object, bool]:
        """Passes over the model in bounded calls; whether they solved it."""
        made = 0
        while made < max_passes:
            report = self.native.solve(self.forcing * self.report.violation, max_passes - made, self._run.slice())
            made += report.passes
            work = report.entries / max(1, self.problem.X.nnz)
            self.passes += work
            self._descent += work
            if report.done:
                return True
            if made < max_passes:
                yield self.step(iteration, looks_done=False)
        return False

    def _support_step(self) -> bool:
        """A Newton step on the model's support, for what coordinate descent finds slowly."""
        n = self._n_working
        at = ModelPoint(
            columns=np.empty(n, dtype=np.uint32),
            w=np.empty(n),
            slope=np.empty(n),
            curvature=np.empty(n),
            intercept=self.native.model_intercept,
            intercept_slope=self.native.intercept_slope,
            h=self.model_h,
            t=self.t,
        )
        self.native.model(at.columns, at.w, at.slope, at.curvature)
        self.native.direction(self.t)
        # Never more work than coordinate descent: where its passes get on better, little is lost.
        moved, cost = self._support.take(at, budget=self._descent - self._newton)
        self.passes += cost
        self._newton += cost
        if moved:
            self.native.set_model(at.w, at.intercept, at.t)
        return moved

    def search(self) -> bool:
        """Backtracking along d; False where no step decreases the objective any more."""
        self.native.direction(self.t)
        promised = self.native.promised()
        lam = 1.0
        for halvings in range(MAX_HALVINGS):
            penalty = self.penalty + self.native.penalty_change(lam)
            objective = penalty + self.problem.losses_along(self.z, self.t, lam, self._trial)
            # A decrease that rounding hides is believed: the gap falls in proportion to d, the objective to its square.
            if objective - self.objective <= SIGMA * lam * promised + ROUNDING * abs(self.objective):
                self.native.accept(lam)
                self._accept_trial()
                self.penalty, self.objective = penalty, objective
                self.straight *= 0.1 if halvings == 0 else 10.0
                self.straight = min(self.straight, self._most_straight)
                self.straight = self.straight if self.straight > LEAST_HELP else 0.0
                return True
            lam *= BETA
        return False

    def stiffen(self) -> bool:
        """The next model gives straight pieces more curvature; False where they have all of it."""
        if self.straight >= self._most_straight:
            return False
        self.straight = min(self._most_straight, max(10 * self.straight, FIRST_HELP))
        return True

    def restore(self) -> bool:
        """The next step looks at all columns again; False where none was missing."""
        missing = self.report.n_active < self.problem.X.shape[1] and np.isfinite(self.whole_violation)
        self.whole_violation = np.inf
        return missing

    def _accept_trial(self) -> None:
        accepted = self._trial
        self._trial = self.z, self.u, self.h
        self.z, self.u, self.h = accepted

    def point(self) -> Point:
        w = np.empty(self.problem.X.shape[1])
        self.native.weights(w)
        return Point(w, self.native.intercept)
