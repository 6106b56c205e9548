"""Primal coordinate descent.

Problem   min over w, b   f(w, b) = R(w) + sum_i C_i loss(y_i, z_i),   z_i = x_i . w + b,   loss smooth
Step      on coordinate j with D(z) = f(w + z e_j): the Newton direction d = -D'(0) / D''(0) (for l1 through the soft
          threshold), then z = d, d/2, d/4, ... until the decrease is sufficient, sigma = 0.01

l2: Chang, Hsieh, Lin, "Coordinate Descent Method for Large-scale L2-loss Linear Support Vector Machines" (2008),
Algorithms 1 to 3 (CD: order cyclic; CDPER: permuted; CDPERONE: permuted_once; online: random) and section 6.2 for the
logistic loss. l1 and elastic net: CDN of Yuan, Chang, Hsieh, Lin, "A Comparison of Optimization Methods and Software
for Large-scale L1-regularized Linear Classification" (2010), with its shrinking of zero weights.

The predictions z and the rows' slopes C_i loss'(z_i) are kept, so a step costs the entries of one column. A bound on D
makes most evaluations of D unnecessary: the curvature is at most H_j = 1 + L sum_i C_i x_ij^2 (Theorem 1, lambda-bar);
for the logistic loss, whose curvature grows by e^a at most while predictions move by a, also a sharper one.

A regularized intercept is one more coordinate; a free one is minimised after each pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...data.rows import COLUMNS, VERBS
from ...objective.losses import SMOOTH_LOSSES
from ..base import Point, Run, Solver, Step, Steps

if TYPE_CHECKING:
    from ...objective.problem import Problem

# Rounding gathers in the kept predictions: they are computed anew after this many passes.
REFRESH_PASSES = 200


@dataclass(frozen=True)
class PrimalCD(Solver):
    """Primal coordinate descent (Chang et al. 2008; for l1 CDN, Yuan et al. 2010).

    Parameters
    ----------
    order : {"permuted", "cyclic", "permuted_once", "random", "adaptive"}
        Which coordinate next; "adaptive" learns the coordinates' frequencies (Glasmachers and Dogan 2013).
    shrinking : bool
        With an l1 part, leave out zero weights whose slope holds them firmly.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import PrimalCD
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="squared_hinge")
    >>> solve(problem, PrimalCD(), tol=1e-8).coef.round(6)
    array([0.190476])
    """

    name: ClassVar[str] = "primal_cd"
    summary: ClassVar[str] = "primal coordinate descent over columns (Chang et al. 2008; CDN, Yuan et al. 2010)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, COLUMNS})
    losses = SMOOTH_LOSSES
    penalties: ClassVar[frozenset[str]] = frozenset({"l2", "l1", "elasticnet"})

    order: str = "permuted"
    shrinking: bool = True

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = _PrimalState(self, problem, run)
        iteration, passes, refreshed = 0, 0.0, 0
        planned, left = 0, 0  # passes of the present call; one that the clock cuts goes on before anything is decided
        trust = 1.0
        columns = problem.X.shape[1]
        while True:
            if left == 0:
                planned = left = state.passes_per_call(planned)
            report = state.run_passes(trust, int(min(left, run.max_iter - iteration)))
            iteration += report.passes
            passes += report.steps / columns
            left = 0 if report.looks_done else left - report.passes
            verdict = yield Step(
                iteration=iteration,
                passes=passes,
                point=state.point,
                objective=report.objective,
                dual=report.objective - report.gap,
                gap=report.gap,
                looks_done=report.looks_done,
                n_active=report.n_active,
                by_the_clock=left > 0,
            )
            if verdict is not None:
                # The estimate said done and was wrong: next time believe it only as far as it was right now.
                trust = float(np.clip(verdict.certificate.gap / max(report.gap, 1e-300), 1.0, 100.0))
                state.native.restore()
            if verdict is not None or (left == 0 and iteration - refreshed >= REFRESH_PASSES):
                state.refresh()
                refreshed = iteration


class _PrimalState:
    """The native state of one run."""

    def __init__(self, solver: PrimalCD, problem: Problem, run: Run) -> None:
        self.problem = problem
        self._run = run
        self.native = _core.PrimalCD(
            stored(problem.X).native_columns,
            problem.loss.native,
            problem.y,
            problem.weights,
            problem.penalty.rho,
            problem.constant,
            problem.intercept != "free",
            solver.order,
            solver.shrinking,
            run.seed,
        )
        if run.start is not None:
            self.native.set_weights(run.start.w, run.start.intercept)
            self.refresh()

    def refresh(self) -> None:
        """Predictions anew from the weights."""
        point = self.point()
        self.native.set_predictions(self.problem.X.matvec(point.w, point.intercept, n_jobs=self.problem.n_jobs))

    def passes_per_call(self, before: int) -> int:
        """One pass when somebody watches; else twice as many as before."""
        return 1 if self._run.every_step else max(1, min(2 * before, 128))

    def run_passes(self, trust: float, max_passes: int) -> _core.PrimalReport:
        return self.native.run(self._run.tol, self._run.at_zero, trust, max_passes, self._run.slice())

    def point(self) -> Point:
        w = np.empty(self.problem.X.shape[1])
        self.native.weights(w)
        return Point(w, self.native.intercept)
