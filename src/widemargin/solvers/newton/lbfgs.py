"""L-BFGS through SciPy.

Problem   min over x = (w, t)   f(x) = 1/2 |w|^2 + r/2 t^2 + sum_i C_i loss(y_i, z_i),     z = [X s] x
Dual      v_i = -C_i loss'(z_i); its gap is 1/2 |gradient f|^2 (see objective/certificate.py)

Liu and Nocedal 1989; the code is SciPy's L-BFGS-B without bounds. One pass over the data per evaluation. The variables
are scaled by the root of the Hessian's diagonal at the start, so that the scale of the features hardly matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...objective.losses import SMOOTH_LOSSES
from ...vectors import Vector, inner
from ..base import Point, Run, Solver, Step, Steps
from .objective import Claim, SmoothObjective
from .scipy_bridge import iterations

if TYPE_CHECKING:
    from ...objective.problem import Problem


@dataclass(frozen=True)
class LBFGS(Solver):
    """L-BFGS (SciPy) for penalty l2 and any smooth loss.

    Parameters
    ----------
    memory : int
        How many past steps the curvature is learnt from.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import LBFGS
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="logistic", intercept="free")
    >>> solve(problem, LBFGS(memory=5), tol=1e-8).coef.round(3)
    array([0.848])
    """

    name: ClassVar[str] = "lbfgs"
    summary: ClassVar[str] = "L-BFGS (SciPy)"
    losses = SMOOTH_LOSSES

    memory: int = 10

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = _Evaluations(problem, run)
        claim = Claim(run.tol)
        yield from self._report(state, claim, 0)
        for iteration, _ in enumerate(iterations(lambda callback: self._minimise(state, callback)), 1):
            yield from self._report(state, claim, iteration)

    def _report(self, state: _Evaluations, claim: Claim, iteration: int) -> Steps:
        point, value, gap = state.point, state.value, state.gap
        verdict = yield Step(
            iteration=iteration,
            passes=float(state.passes),
            point=lambda: point,
            objective=value,
            dual=value - gap,
            gap=gap,
            looks_done=claim.looks_done(gap, value),
            n_active=state.rows,
        )
        if verdict is not None:
            claim.refuted(gap)

    def _minimise(self, state: _Evaluations, callback: Any) -> None:
        from scipy.optimize import minimize

        # Our certificate ends the run; SciPy's own tests are switched off.
        unlimited = {"maxcor": self.memory, "maxiter": 2**31 - 1, "maxfun": 2**31 - 1, "ftol": 0.0, "gtol": 0.0}
        minimize(state.evaluate, state.start, jac=True, method="L-BFGS-B", options=unlimited, callback=callback)


class _Evaluations:
    """f in scaled variables, and what the last evaluation found: SciPy reports the point that it evaluated last."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem = problem
        self.rows = problem.X.shape[0]
        self._f = f = SmoothObjective(problem)
        at = f.start(run.start)
        self._scale = 1 / np.sqrt(np.maximum(f.hess_diagonal(at.h), 1e-12))
        self.start = at.x / self._scale
        self.passes = 1
        self.value, self.gap, self.point = at.value, f.gap(at), f.point(at)

    def evaluate(self, scaled: Vector) -> tuple[float, Vector]:
        """f and its gradient, in scaled variables."""
        f = self._f
        x = self._scale * scaled
        w = x[: f.features]
        b = f.constant * float(x[-1]) if f.constant else 0.0
        at = self.problem.loss_pass(w, b)
        shrunk = f.penalised * x
        gradient = shrunk.copy()
        gradient[: f.features] += at.gradient
        if f.constant:
            gradient[-1] += f.constant * at.intercept_gradient
        self.passes += 1
        self.value = at.value + 0.5 * inner(shrunk, x)
        g = gradient[: f.features] if f.free else gradient
        self.gap, self.point = 0.5 * inner(g, g), Point(w, b)
        return self.value, self._scale * gradient
