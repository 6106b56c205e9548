"""Proximal Newton for smooth losses with l1 or the elastic net, where the support is small.

Problem   min over w, b   rho |w|_1 + (1 - rho)/2 |w|^2 + sum_i C_i loss(y_i, x_i . w + b)
Dual      max over u      -R*(X^T u) - sum_i C_i conjugate(-u_i / C_i, y_i);      u_i = -C_i loss' is scaled into it

newGLMNET (newglmnet.py) minimises its Newton models by passes over the columns of the data. Where few columns take part
the model fits in memory as a small dense matrix: it is then minimised to the end, by dense coordinate descent and exact
steps on the support, and the data are read once per outer step. Blind to the scales of the features, with a
superlinear end: the method for badly scaled data and large C, where coordinate descent over columns crawls.

Steps are halved until the objective falls enough; the model is damped as in the method of Levenberg and Marquardt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...objective.losses import SMOOTH_LOSSES
from ...vectors import Vector
from ..base import Point, Run, Solver, Step, Steps
from .dense_model import DenseModel

if TYPE_CHECKING:
    from ...objective.problem import Problem

SUFFICIENT_DECREASE = 1e-4
FIRST_DAMPING = 1e-6
LEAST_DAMPING = 1e-12
LEAST_STEP = 1e-8
IDLE_STEPS = 5


@dataclass(frozen=True)
class ProxNewton(Solver):
    """Proximal Newton with dense models on a working set of columns.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import ProxNewton
    >>> problem = Problem([[0.0], [1000.0], [3000.0]], [-1, -1, 1], loss="logistic", penalty="l1", intercept="free")
    >>> solve(problem, ProxNewton(), tol=1e-8).converged
    True
    """

    name: ClassVar[str] = "prox_newton"
    summary: ClassVar[str] = "proximal Newton with dense models, for few or few nonzero features"
    losses = SMOOTH_LOSSES
    penalties: ClassVar[frozenset[str]] = frozenset({"l1", "elasticnet", "l2"})

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = _State(problem, run)
        iteration = 0
        while True:
            state.look()
            yield state.step(iteration, looks_done=run.goal.is_met(state.gap, state.objective))
            if not state.newton_step():
                return
            iteration += 1


class _State:
    """The iterate with its predictions, slopes and objective."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self._run = problem, run
        self.w, self.b = np.zeros(problem.X.shape[1]), 0.0
        if run.start is not None:
            self.w, self.b = run.start.w.copy(), run.start.intercept
        self.z = problem.X.matvec(self.w, self.b, n_jobs=problem.n_jobs)
        self.passes = 1.0
        self.damping = FIRST_DAMPING
        self._model = DenseModel(problem, lambda: not run.should_stop())
        self._straight = problem.loss.straight_share
        self._best_dual = -np.inf
        self._idle = 0

    def look(self) -> None:
        """Slopes, curvatures, objective, and the gap of the scaled dual point."""
        problem = self.problem
        slopes, self.curvature = np.empty_like(self.z), np.empty_like(self.z)
        value = problem.losses_along(self.z, self.z, 0.0, (np.empty_like(self.z), slopes, self.curvature))
        self.u = -slopes
        self.correlations = problem.X.rmatvec(self.u, n_jobs=problem.n_jobs)
        self.passes += 1
        if self._straight > 0:
            self.curvature = np.maximum(self.curvature, self._straight * np.abs(self.u))
        self.objective = problem.penalty_value(self.w, self.b) + value
        self._best_dual = max(self._best_dual, self._scaled_dual())
        self.gap = self.objective - self._best_dual

    def _scaled_dual(self) -> float:
        """The dual value at u scaled into the feasible set; for a free intercept only up to its balance."""
        problem, g = self.problem, self.correlations
        if problem.intercept == "regularized":
            g = np.append(g, problem.intercept_scale * float(self.u.sum()))
        scale = problem.penalty.dual_scale(g)
        return -problem.penalty.conjugate(scale * g) - problem.conjugate_sum(-scale * self.u)

    def step(self, iteration: int, looks_done: bool) -> Step:
        return Step(
            iteration=iteration,
            passes=self.passes + self._model.passes,
            point=lambda: Point(self.w, self.b),
            objective=self.objective,
            dual=self._best_dual,
            gap=self.gap,
            looks_done=looks_done,
            n_active=int(np.count_nonzero(self.w)),
        )

    def newton_step(self) -> bool:
        """To the model's minimum, or as far towards it as the objective falls; False where it falls no more."""
        problem = self.problem
        while True:
            ridge = self.damping * float(self.curvature.max(initial=0.0))
            w, b, gained = self._model.minimise(self.w, self.b, self.u, self.correlations, self.curvature, ridge)
            z = problem.X.matvec(w, b, n_jobs=problem.n_jobs)
            self.passes += 1
            share = self._search(w, b, z, gained)
            # The gap falls in proportion to the step, the objective to its square: a few steps whose gain rounding
            # hides may still close the gap.
            self._idle = self._idle + 1 if gained <= 1e-15 * abs(self.objective) else 0
            if self._idle > IDLE_STEPS:
                return False
            if share > 0:
                break
            if self._run.should_stop():
                return True  # from where it stood: the driver has the last word
            if self.damping >= 1:
                return False
            self.damping = min(1.0, 100 * self.damping)
        self.damping = max(self.damping / 10, LEAST_DAMPING) if share == 1 else min(10 * self.damping, 1.0)
        self._straight *= 0.1 if share == 1 else 1.0
        self.w, self.b = (1 - share) * self.w + share * w, (1 - share) * self.b + share * b
        self.z = (1 - share) * self.z + share * z
        return True

    def _search(self, w: Vector, b: float, z: Vector, gained: float) -> float:
        """The largest halving of the whole step after which the objective has fallen enough; 0 where none is."""
        problem, share = self.problem, 1.0
        rounding = 1e-14 * abs(self.objective)
        while share > LEAST_STEP:
            w_t, z_t = (1 - share) * self.w + share * w, (1 - share) * self.z + share * z
            value = problem.penalty_value(w_t, (1 - share) * self.b + share * b) + problem.loss_sum(z_t)
            if value <= self.objective - SUFFICIENT_DECREASE * share * gained + rounding:
                return share
            share *= 0.5
        return 0.0
