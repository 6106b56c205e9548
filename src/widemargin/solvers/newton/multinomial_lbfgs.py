"""L-BFGS through SciPy for maximum entropy.

Problem   f(W) = 1/2 |W|^2 + sum_i C_i (log sum_m exp(z_im) - z_iy),   Z = X W (and intercepts)
Dual      v_i = C_i (e_y - p_i); its gap is 1/2 |gradient f|^2 (objective/maximum_entropy.py)

Liu and Nocedal 1989; SciPy's code, as in lbfgs.py. One pass over the data per evaluation; the variables are scaled by
the root of the Hessian's diagonal at the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ...vectors import Vector
from ..base import Run, Solver, Step, Steps
from .entropy_objective import EntropyObjective
from .objective import Claim
from .scipy_bridge import iterations

if TYPE_CHECKING:
    from ...objective.maximum_entropy import MaximumEntropyProblem
    from ...objective.problem import Problem


@dataclass(frozen=True)
class MultinomialLBFGS(Solver):
    """L-BFGS (SciPy) for `MaximumEntropyProblem`.

    Parameters
    ----------
    memory : int
        How many past steps the curvature is learnt from.

    Examples
    --------
    >>> from widemargin import MaximumEntropyProblem, solve
    >>> from widemargin.solvers import MultinomialLBFGS
    >>> problem = MaximumEntropyProblem([[1.0], [2.0], [4.0]], [1, 2, 3], intercept="free")
    >>> solve(problem, MultinomialLBFGS(memory=5), tol=1e-8).converged
    True
    """

    name: ClassVar[str] = "multinomial_lbfgs"
    summary: ClassVar[str] = "L-BFGS (SciPy) for maximum entropy"
    kind: ClassVar[str] = "maximum_entropy"
    losses: ClassVar[frozenset[str]] = frozenset({"multinomial"})

    memory: int = 10

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = _Evaluations(EntropyObjective(cast("MaximumEntropyProblem", problem)), run)
        claim = Claim(run.tol)
        yield from self._report(state, claim, 0)
        for iteration, _ in enumerate(iterations(lambda callback: self._minimise(state, callback)), 1):
            yield from self._report(state, claim, iteration)

    def _report(self, state: _Evaluations, claim: Claim, iteration: int) -> Steps:
        at, gap = state.last, state.f.gap(state.last)
        verdict = yield Step(
            iteration=iteration,
            passes=float(state.passes),
            point=lambda: state.f.point(at),
            objective=at.value,
            dual=at.value - gap,
            gap=gap,
            looks_done=claim.looks_done(gap, at.value),
            n_active=state.f.problem.X.shape[0],
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

    def __init__(self, f: EntropyObjective, run: Run) -> None:
        self.f = f
        self.last = f.start(run.start)
        self._scale = 1 / np.sqrt(np.maximum(f.hess_diagonal(self.last.p), 1e-12))
        self.start = self.last.x / self._scale
        self.passes = 1

    def evaluate(self, scaled: Vector) -> tuple[float, Vector]:
        """f and its gradient, in scaled variables."""
        self.last = self.f.at(self._scale * scaled)
        self.passes += 1
        return self.last.value, self._scale * self.last.gradient
