"""The state of dual coordinate descent: native passes, the intercept, the precision, the form of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...vectors import Vector
from ..base import Point, Run
from .row_layout import Layout, first_layout, lasting_layout
from .rules import SINGLE_TOL, intercept_step

if TYPE_CHECKING:
    from ...objective.certificate import Certified
    from ...objective.problem import Problem


class DualState:
    """v, w = X^T v and b, moved by native passes.

    Free intercept: b = centre + mu sum v within a pass; after it the centre moves by mu sum v (method of multipliers).
    """

    def __init__(self, problem: Problem, run: Run, order: str, shrinking: bool) -> None:
        self.problem = problem
        self._run = run
        self._shrinking = shrinking
        self._free = problem.intercept == "free"
        self._single = problem.X.dtype == np.float32 and run.tol >= SINGLE_TOL
        self._mu = intercept_step(stored(problem.X)) if self._free else 0.0
        self._order = order
        self._last_gap = np.inf  # of the last verdict
        self._build(first_layout(problem))
        if run.start is not None:
            self._begin_at(run.start)

    def _build(self, layout: Layout) -> None:
        problem = self.problem
        self._layout = layout
        self._native = _core.DualCD(
            layout.rows,
            problem.loss.native,
            problem.y,
            problem.weights,
            layout.private_part,
            np.sqrt(self._mu) if self._free else problem.intercept_scale,
            self._order,
            layout.block,
            self._shrinking,
            self._run.seed,
            self._single,
        )

    def _begin_at(self, start: Point) -> None:
        problem = self.problem
        v = start.dual
        if v is None:
            z = problem.X.matvec(start.w, start.intercept, n_jobs=problem.n_jobs)
            v = -problem.loss_derivatives(z)[0]
        v = problem.clipped_dual(v)  # which a change of C may have moved
        total = float(v.sum())
        self._native.set_dual(v)
        w = self._refresh_weights()
        self._native.intercept = start.intercept if self._free else problem.intercept_scale**2 * total
        penalty = 0.5 * float(w @ w) + 0.5 * (problem.intercept_scale * total) ** 2
        self._native.dual_value = -penalty - problem.conjugate_sum(-v)

    def run_passes(self, trust: float, max_passes: int) -> _core.DualReport:
        """Native passes until the estimated gap is small enough, or the slice of time is used up."""
        report = self._native.run(self._run.tol, self._run.at_zero, trust, max_passes, self._run.slice())
        if self._free:
            step = self._mu * float(self.dual().sum())
            self._native.intercept += step
            self._native.dual_value -= step * step / self._mu
        return report

    def learn_frequencies(self) -> None:
        """From now on the order is adaptive."""
        self._native.become_adaptive()

    def prepare_for_long_run(self) -> None:
        """Rows get the form that many passes deserve."""
        layout = lasting_layout(stored(self.problem.X), self._layout)
        if layout is self._layout:
            return
        before = self._native
        self._build(layout)
        self._native.go_on_from(before)
        self._refresh_weights()

    def _refresh_weights(self) -> Vector:
        """w = X^T v anew from the dual variables, in the layout's columns."""
        if self._layout.is_compact:
            w = np.zeros(self._layout.rows.n_cols)
            _core.rmatvec(self._layout.rows, self.dual(), w)
        else:
            w = self.problem.X.rmatvec(self.dual(), n_jobs=self.problem.n_jobs)
        self._native.set_weights(w)
        return w

    def dual(self) -> Vector:
        """The dual variables v."""
        v = np.empty(self.problem.X.shape[0])
        self._native.dual(v)
        return v

    def point(self) -> Point:
        """Where the descent stands."""
        v = self.dual()
        if self._layout.is_compact:
            w = self.problem.X.rmatvec(v, n_jobs=self.problem.n_jobs)
        else:
            w = np.empty(self.problem.X.shape[1])
            self._native.weights(w)
        return Point(w, self._native.intercept, v)

    def resume(self, verdict: Certified) -> None:
        """All variables return; a float32 w starts anew from the dual variables.

        A free intercept moves to its best value for w, as long as that helps: where all variables are at their bounds,
        it would be the same again, and only the multiplier's own steps lead away.
        """
        self._native.restore()
        if self._single:
            self._refresh_weights()
        if self._free and verdict.certificate.gap < 0.9 * self._last_gap:
            self._native.intercept = verdict.point.intercept
        self._last_gap = verdict.certificate.gap
