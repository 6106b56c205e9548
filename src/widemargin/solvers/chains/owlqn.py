"""Orthant-wise limited-memory quasi-Newton (OWL-QN) for penalties l1 and elastic net.

Problem   min over x   rho |x|_1 + f(x)       f smooth and convex: losses and l2 part, objective/chains/smooth.py
Dual      marginals of the model, mixed with the truth where l1 asks for it (objective/chains/crf.py)
Symbols   v the shortest subgradient; d = -B v, B as in L-BFGS from changes of x and of the gradient of f

Andrew and Gao, "Scalable Training of L1-Regularized Log-Linear Models" (2007). A step does not leave the orthant of x,
or, where x_j = 0, the one that -v points into: d is set to zero where it disagrees with -v, and what would cross zero
stays there. The step is halved until the objective falls enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...numbers import as_whole
from ...objective.points import Point
from ...objective.smooth_part import SmoothPart
from ...vectors import Vector, inner
from ..base import Run, Solver, Step, Steps
from ..newton.lbfgs import LEAST_CURVATURE, Past

ARMIJO, HALVINGS = 1e-4, 40


class _Place(NamedTuple):
    at: Any  # the point as the smooth function has evaluated it
    value: float  # rho |x|_1 + f(x)
    v: Vector  # the shortest subgradient


@dataclass(frozen=True)
class OwlQn(Solver):
    """OWL-QN (Andrew and Gao 2007) for chain CRFs and `CandidatesProblem` with penalty l1 or elastic net.

    Parameters
    ----------
    memory : int
        How many past steps the curvature is learnt from.

    Examples
    --------
    >>> from widemargin import ChainCRFProblem, solve
    >>> from widemargin.solvers import OwlQn
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> problem = ChainCRFProblem(X, ["a", "b", "a"], lengths=[2, 1], penalty="l1", C=5.0)
    >>> solve(problem, OwlQn(), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "owlqn"
    summary: ClassVar[str] = "orthant-wise L-BFGS for chains and candidates (Andrew and Gao 2007)"
    takes: ClassVar[type[Any]] = SmoothPart
    losses: ClassVar[frozenset[str]] = frozenset({"chain", "candidates"})
    penalties: ClassVar[frozenset[str]] = frozenset({"l1", "elasticnet"})

    memory: int = 20

    def __post_init__(self) -> None:
        as_whole("memory", self.memory, least=1)

    def iterate(self, problem: SmoothPart, run: Run) -> Steps:
        f, rho = problem.smooth(), problem.penalty.rho
        here = _placed(f.start(run.start), rho)
        past = Past(self.memory, np.maximum(f.hess_diagonal(here.at), LEAST_CURVATURE))
        iteration, next_look, idle = 0, 0.0, 0
        while True:
            promise = 0.5 * inner(here.v, here.v)
            looks_done = promise <= next_look or idle > 0
            verdict = yield Step(iteration, iteration + 1.0, _pointer(here), here.value, looks_done=looks_done)
            # The subgradient says little about the gap: the exact one is asked for as it falls.
            next_look = 0.5 * promise if looks_done or iteration == 0 else next_look
            if verdict is not None and verdict.certificate.gap == 0:
                return
            there = _step(f, here, past.direction(here.v), rho) or _step(f, here, -here.v, rho)
            iteration += 1
            if there is None:
                idle += 1
                if idle > 1:
                    return
                continue
            past.learn(there.at.x - here.at.x, there.at.gradient - here.at.gradient)
            here, idle = there, 0


def _pointer(here: _Place) -> Any:
    return lambda: Point(here.at.x.copy())


def _placed(at: Any, rho: float) -> _Place:
    x, g = at.x, at.gradient
    at_zero = np.sign(g) * np.maximum(0.0, np.abs(g) - rho)
    v = np.where(x == 0, at_zero, g + rho * np.sign(x))
    return _Place(at, at.value + rho * float(np.abs(x).sum()), v)


def _step(f: Any, here: _Place, d: Vector, rho: float) -> _Place | None:
    """A step along d within the orthant, halved until the objective falls enough; None where it never does."""
    x, v = here.at.x, here.v
    d = np.where(d * v < 0, d, 0.0)
    orthant, t = np.where(x != 0, np.sign(x), -np.sign(v)), 1.0
    for _ in range(HALVINGS):
        moved = x + t * d
        moved[moved * orthant < 0] = 0.0
        promised = inner(v, moved - x)
        if promised >= 0:
            return None
        there = _placed(f.start(Point(moved)), rho)
        if there.value <= here.value + ARMIJO * promised:
            return there
        t *= 0.5
    return None
