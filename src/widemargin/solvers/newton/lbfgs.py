"""L-BFGS.

Problem   min over x   f(x), smooth and convex: objective/smooth.py, two classes or several
Dual      v_i = -C_i loss'(z_i); its gap is 1/2 |gradient f|^2 (see objective/certificate.py)
Symbols   s = change of x, y = change of the gradient in a step; d = -B g, B the inverse Hessian that the last steps
          tell, applied by the two-loop recursion; D = diag(H) at the start, so that features' scales hardly matter

Liu and Nocedal, "On the Limited Memory BFGS Method for Large Scale Optimization" (1989). The line search works on the
predictions, O(rows) a trial, so a step costs one product with the data and one with their transpose.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...numbers import as_whole
from ...objective.any_problem import SmoothProblem
from ...objective.losses import LossesThat
from ...vectors import Vector, inner
from ..base import Run, Solver, Steps
from .line_search import exact
from .progress import Claim, RoundingFloor, step_at

if TYPE_CHECKING:
    from ...objective.smooth import At

# Of the slope at the start of a ray, what may be left at its end: steps need not be exact to be learnt from.
SLOPE_LEFT = 0.5
LEAST_CURVATURE = 1e-12


@dataclass(frozen=True)
class LBFGS(Solver):
    """L-BFGS (Liu and Nocedal 1989) for smooth losses with penalty l2, two classes or several.

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
    summary: ClassVar[str] = "L-BFGS (Liu and Nocedal 1989)"
    takes: ClassVar[type[Any]] = SmoothProblem
    losses = LossesThat(lambda loss: loss.smooth, also=("multinomial", "chain", "candidates"))

    memory: int = 10

    def __post_init__(self) -> None:
        as_whole("memory", self.memory, least=1)

    def iterate(self, problem: SmoothProblem, run: Run) -> Steps:
        f = problem.smooth()
        claim, floor = Claim(run.goal), RoundingFloor()
        at = f.start(run.start)
        past = Past(self.memory, np.maximum(f.hess_diagonal(at), LEAST_CURVATURE))
        iteration, passes = 0, 1.0
        while True:
            gap = f.gap(at)
            verdict = yield step_at(f, at, iteration, passes, gap, claim.looks_done(gap, at.value))
            if verdict is not None:
                claim.refuted(gap)
                at = f.settled(at, verdict.point)
            ray = f.ray(at, past.direction(at.gradient))
            t = exact(ray, slope_left=SLOPE_LEFT)
            there: At = ray.moved(t) if t > 0 else at
            promised = -0.5 * ray.start_slope
            past.learn(there.x - at.x, there.gradient - at.gradient)
            at, iteration, passes = there, iteration + 1, passes + 1
            if floor.reached(f.gap(at), promised, at.value):
                return


class Past:
    """The last steps, and the direction that they advise."""

    def __init__(self, memory: int, diagonal: Vector) -> None:
        self._steps: deque[tuple[Vector, Vector, float]] = deque(maxlen=memory)  # s, y, 1 / s . y
        self._diagonal = diagonal
        self._scale = 1.0

    def learn(self, s: Vector, y: Vector) -> None:
        """Takes note of a step; one along which nothing bends teaches nothing, and those before it may mislead."""
        bend = inner(s, y)
        if not bend > LEAST_CURVATURE * inner(s, self._diagonal * s):
            self._steps.clear()
            self._scale = 1.0
            return
        self._steps.append((s, y, 1 / bend))
        self._scale = bend / inner(y, y / self._diagonal)

    def direction(self, gradient: Vector) -> Vector:
        """-B g by the two-loop recursion."""
        q, shares = gradient.copy(), []
        for s, y, rho in reversed(self._steps):
            shares.append(rho * inner(s, q))
            q -= shares[-1] * y
        q *= self._scale / self._diagonal
        for (s, y, rho), share in zip(self._steps, reversed(shares), strict=True):
            q += (share - rho * inner(y, q)) * s
        return -q
