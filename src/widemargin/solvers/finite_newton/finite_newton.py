"""The modified finite Newton method, L2-SVM-MFN.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i loss(y_i, x_i . w + b)
Dual      w = X^T v, where v_i = -C_i loss'(x_i . w + b): the dual point comes with every primal point (section 4.7)

Keerthi and DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs" (2005), Appendix A.
The objective is piecewise quadratic. Each step solves the least squares problem of the rows that are active now by
conjugate gradients, then searches exactly on the ray towards its solution. The paper's constant is C_paper/2 sum xi^2,
so C_paper = 2 C here; rows of the least squares problem are scaled by sqrt(2 C_i).

squared_hinge     two index sets, section 3
modified_huber    three index sets, section 6
huber             the same for targets
squared           LS-SVM: one index set, hence one step
hinge, quantile   rounded over tau = 1, 1/2, 1/4, ... (section 6; in units of the targets' spread), until the gap of the
                  problem with its corner is small enough
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from ...objective.losses import LossesThat
from ...vectors import Vector
from ..base import Point, Run, Solver, Step, Steps
from .binary_model import BinaryModel
from .ramps import has_ramp
from .rescaled_start import rescaled_start
from .rounds import NewtonRun, Rounds

if TYPE_CHECKING:
    from ...objective.certificate import Certified
    from ...objective.problem import Problem

CRUDE_EPS, FINE_EPS = 1e-2, 1e-6


@dataclass(frozen=True)
class FiniteNewton(Solver):
    """The modified finite Newton method (Keerthi and DeCoste 2005) for penalty l2.

    Parameters
    ----------
    first_cg_limit : int
        Heuristic 1: at most so many CGLS iterations at the first Newton step, unless it is a warm start; 0: no limit.
    two_rounds : bool
        Heuristic 2: a crude round (eps = 1e-2) before the fine one (eps = 1e-6), unless it is a warm start.
    subset : float
        Heuristic 3: start from the solution on this share of the rows, drawn at random; 0: do not.
    precondition : bool
        Divide by the diagonal in conjugate gradients: needed where features differ much in scale. (Not in the paper.)
    crude_forcing : float
        Before the last round CGLS also stops at this share of the gradient; 0: only by the paper's rule (13).
    guess : array of shape (features,), optional
        Weights of another classifier to start from; they are rescaled by the paper's formula (9).

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import FiniteNewton
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1])
    >>> solution = solve(problem, FiniteNewton(), tol=1e-9)
    >>> solution.coef.round(6), solution.n_iter
    (array([0.190476]), 1)
    """

    name: ClassVar[str] = "finite_newton"
    summary: ClassVar[str] = "modified finite Newton, L2-SVM-MFN (Keerthi and DeCoste 2005)"
    losses = LossesThat(has_ramp)

    first_cg_limit: int = 10
    two_rounds: bool = True
    subset: float = 0.0
    precondition: bool = True
    crude_forcing: float = 0.1
    guess: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.subset <= 1:
            raise ValueError(f"subset is a share of the rows, between 0 and 1, got {self.subset!r}")
        if self.first_cg_limit < 0:
            raise ValueError(f"first_cg_limit must not be negative, got {self.first_cg_limit!r}")

    def iterate(self, problem: Problem, run: Run) -> Steps:
        model = BinaryModel.of(problem)
        one_step = model.ramp.endless  # LS-SVM: the first least squares problem is the whole problem
        beta = model.beta(np.zeros(model.n_features), 0.0)
        start = run.start if run.start is not None else self._guessed(problem)
        if start is not None:
            beta = model.beta(start.w, start.intercept)
        counted = 0, 0.0
        if start is None and 0 < self.subset < 1 and not one_step:
            beta, counted = yield from self._subset_start(problem, run, beta)
        seeded = run.start is not None or one_step
        rounds = newton_settings(self, seeded=seeded)
        yield from NewtonRun(model, beta, rounds, run, model.point, counted).steps()

    def _guessed(self, problem: Problem) -> Point | None:
        return None if self.guess is None else rescaled_start(problem, self.guess)

    def _subset_start(
        self, problem: Problem, run: Run, beta: Vector
    ) -> Generator[Step, Certified | None, tuple[Vector, tuple[int, float]]]:
        """Heuristic 3: the crude round on randomly drawn rows, weighted up to stand for all of them.

        Returns where it ended, with the iterations and passes made.
        """
        rng = np.random.default_rng(run.seed)
        drawn = rng.random(problem.X.shape[0]) < self.subset
        part = BinaryModel.of(problem, np.where(drawn, problem.weights / self.subset, 0.0))
        if not part.weights.any():
            return beta, (0, 0.0)
        rounds = replace(newton_settings(self, seeded=False), eps=(CRUDE_EPS, FINE_EPS))
        first = NewtonRun(part, beta, rounds, run, part.point, sharpen=False)
        for step in first.steps():
            yield replace(step, objective=np.nan, dual=np.nan, gap=np.nan, looks_done=False)
            if not step.by_the_clock and (step.looks_done or first.eps < CRUDE_EPS):  # the crude round is over
                break
        return first.at.beta, (first.iteration, first.passes)


class NewtonSettings(Protocol):
    """What the solvers that iterate in NewtonRun let the user choose."""

    @property
    def first_cg_limit(self) -> int: ...
    @property
    def two_rounds(self) -> bool: ...
    @property
    def precondition(self) -> bool: ...
    @property
    def crude_forcing(self) -> float: ...


def newton_settings(solver: NewtonSettings, *, seeded: bool) -> Rounds:
    """The rounds of a run; its heuristics serve a crude start, not one at a nearby solution (Appendix A, step 1)."""
    limit = Rounds.cg_limit if seeded or solver.first_cg_limit == 0 else solver.first_cg_limit
    return Rounds(
        first_cg_limit=limit,
        eps=(CRUDE_EPS, FINE_EPS) if solver.two_rounds and not seeded else (FINE_EPS,),
        precondition=solver.precondition,
        crude_forcing=solver.crude_forcing,
    )
