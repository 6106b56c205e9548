"""A primal-dual interior-point method for every loss and penalty.

Problem   min over w, b   rho |w|_1 + (1 - rho)/2 |w|^2 + sum_i C_i loss(y_i, z_i),      z = X w + b
Dual      max over v      -R*(X^T v) - sum_i C_i conjugate(-v_i / C_i, y_i);             sum v = 0 for a free intercept

The conditions of the optimum hold for the weights (weights.py) and for the rows (rows.py): numbers that are not below
zero, in pairs of which one is zero. The products of all pairs are held at a common mu > 0 that goes to zero.
Mehrotra's predictor and corrector ("On the implementation of a primal-dual interior point method", 1992): a step is two
solutions of one linear system with as many unknowns as the data have rows or features, whichever are fewer. Twenty to
sixty steps are enough, whatever C and the scales of the features; for SVMs see Fine and Scheinberg (2001), for l1 and
the logistic loss Koh, Kim and Boyd (2007).

Where both rows and features are many and weights may be zero, the method runs on a working set of features, those
nearest to |x_j . v| = rho, which grows by those that violate it at the end.

Every v is a dual point, scaled to feasibility. The weights of an interior point are never zero: at the end those go
whose slack is far from zero, which lowers the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...data.rows import GRAM, VERBS
from ...objective.losses import ALL_LOSSES
from ..base import Run, Solver, Steps
from .attempts import attempts
from .working_set import MOST_ORDER, WorkingSet

if TYPE_CHECKING:
    from ...objective.any_problem import AnyProblem
    from ...objective.problem import Problem


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Primal-dual interior-point method: few, costly steps that large C and raw features do not slow down.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import InteriorPoint
    >>> problem = Problem([[0.0], [1000.0], [3000.0]], [-1, -1, 1], loss="hinge", penalty="l1", C=1e3, intercept="free")
    >>> solve(problem, InteriorPoint(), tol=1e-6).coef.round(6)
    array([0.001])
    """

    name: ClassVar[str] = "interior_point"
    summary: ClassVar[str] = "primal-dual interior-point method, for large C and raw features"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, GRAM})
    losses = ALL_LOSSES
    penalties: ClassVar[frozenset[str]] = frozenset({"l1", "elasticnet", "l2"})

    def accepts(self, problem: AnyProblem) -> bool:
        """Whether the problem is one that it solves, and its matrix within reach: with l2 all features take part."""
        return self.solves(problem) and (problem.penalty_names != {"l2"} or min(problem.X.shape) <= MOST_ORDER)

    def iterate(self, problem: Problem, run: Run) -> Steps:
        whole = WorkingSet(problem, run)
        for attempt in attempts(problem):
            whole.begin(attempt)
            yield from self._attempt(whole)

    def _attempt(self, whole: WorkingSet) -> Steps:
        """Steps from one start until they are stuck or done."""
        while True:
            state = whole.new_state()
            while True:
                state.measure()
                step = whole.look(state)
                if step.looks_done and state.rho > 0:
                    whole.sparsify(state)
                verdict = yield step
                if not whole.is_complete and whole.is_solved(state):
                    break
                if verdict is not None:
                    whole.strictness *= 0.5
                if not state.step() or whole.is_stuck(state):
                    break
                whole.passes += state.step_passes
            if whole.is_complete or not whole.exchange(state):
                return
