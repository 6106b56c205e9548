"""Dual coordinate descent.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i loss(y_i, x_i . w + b)
Dual      min over v      1/2 |X^T v|^2 + sum_i C_i conjugate(-v_i / C_i, y_i)
          where w = X^T v; for classification v_i = y_i alpha_i

Survey Algorithm 3; Hsieh, Chang, Lin, Keerthi, Sundararajan, "A Dual Coordinate Descent Method for Large-scale
Linear SVM" (2008). One variable is minimised at a time; w is kept, so a step costs the entries of one row. Shrinking
leaves out variables that a bound holds firmly; all return when the verdict on the whole problem fails.

Free intercept: its dual constraint sum v = 0 is met by the method of multipliers. Between passes b is the multiplier;
within a pass it follows b = centre + mu sum v like the weight of a constant feature sqrt(mu), a proximal step on b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...data.rows import IN_ORDER, VERBS
from ...objective.losses import ALL_LOSSES
from ..base import Run, Solver, Step, Steps
from .pass_plan import PassPlan
from .rules import SHORT_RUN
from .state import DualState

if TYPE_CHECKING:
    from ...objective.problem import Problem

# After so many passes the order "auto" begins to learn frequencies: 20 to 50 % fewer passes at C = 100 than after 10 or
# 20, and about as many at C = 1.
LEARN_AFTER = 3


@dataclass(frozen=True)
class DualCD(Solver):
    """Dual coordinate descent (Hsieh et al. 2008) for penalty l2.

    Parameters
    ----------
    order : {"auto", "permuted", "cyclic", "permuted_once", "random", "adaptive"}
        Which coordinate next; "adaptive" learns the coordinates' frequencies (Glasmachers and Dogan 2013), "auto" is
        permuted for the first passes and adaptive when the run turns out to be long.
    shrinking : bool
        Leave out variables that a bound holds firmly.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import DualCD
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, DualCD(order="cyclic"), tol=1e-8).coef.round(6)
    array([0.333333])
    """

    name: ClassVar[str] = "dual_cd"
    summary: ClassVar[str] = "dual coordinate descent (Hsieh et al. 2008)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    losses = ALL_LOSSES

    order: str = "auto"
    shrinking: bool = True

    @property
    def first_order(self) -> str:
        """The order of the first passes."""
        return "permuted" if self.order == "auto" else self.order

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = DualState(problem, run, self.first_order, self.shrinking)
        # Somebody watches each pass, or the intercept moves after it: then passes are made one by one.
        plan = PassPlan(one_by_one=run.every_step or problem.intercept == "free")
        iteration, before, passes = 0, 0, 0.0  # before: where the last whole call had ended
        trust = 1.0
        rows = problem.X.shape[0]
        while True:
            report = state.run_passes(trust, plan.next_call(run.max_iter - iteration))
            iteration += report.passes
            passes += report.steps / rows
            looks_done = report.looks_done or report.n_active == 0
            plan.made(report.passes, finished=looks_done)
            verdict = yield Step(
                iteration=iteration,
                passes=passes,
                point=state.point,
                objective=report.dual + report.gap,
                dual=report.dual,
                gap=report.gap,
                looks_done=looks_done,
                n_active=report.n_active,
                by_the_clock=plan.midway,
            )
            if not plan.midway:
                if self.order == "auto" and before < LEARN_AFTER <= iteration:
                    state.learn_frequencies()
                if before < SHORT_RUN <= iteration:
                    state.prepare_for_long_run()
                before = iteration
            if verdict is not None:
                # The estimate said done and was wrong: the more often, the less it is believed.
                trust = max(1.5 * trust, min(10.0 * trust, verdict.certificate.gap / max(report.gap, 1e-300)))
                state.resume(verdict)
