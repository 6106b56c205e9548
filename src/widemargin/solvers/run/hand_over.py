"""Two solvers, one run: the first as long as it gets on, then the second from where the first stood.

First-order methods are cheap and often soon done; on badly scaled data or at a large C they may need thousands of
passes, where a Newton method needs a fixed few. Which of the two it is shows in the first passes: in a tenth of those
that the second is expected to cost, so that waiting to see costs little, and a plateau at the start is not taken for
the whole way. A second solver that takes far longer than was expected, on a problem that is hard for it too, gives back
to the first, which goes on from its own last point; the driver keeps the best of both.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ..base import Run, Solver, Step, Steps
from .stall import LinkWatch

# The first solver is judged after this share of what the second one is expected to cost.
PATIENCE_SHARE = 0.1
# The second solver may take so many times what it, or the first one, was expected to need.
OVERDRAFT = 2.0

if TYPE_CHECKING:
    from ...objective.any_problem import AnyProblem
    from ...objective.certificate import Certified, Goal


@dataclass(frozen=True)
class HandOver(Solver):
    """Runs `first` until it would need more than `budget` passes more, then `second` from there.

    Parameters
    ----------
    first, second : Solver
    budget : float
        What the second solver is expected to cost, in passes over the data.
    patience : float
        Passes before the first solver is judged; at least a tenth of the budget.
    most : float
        Passes after which the first solver has had its time, however it gets on: for a second one whose cost is known,
        and which is not interrupted.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import DualCD, HandOver, NewtonCholesky
    >>> problem = Problem([[0.0], [1000.0], [3000.0]], [-1, -1, 1], C=1e3, intercept="free")
    >>> solve(problem, HandOver(DualCD(), NewtonCholesky()), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "hand_over"
    summary: ClassVar[str] = "one solver as long as it gets on, then another"
    losses: ClassVar[frozenset[str]] = frozenset()  # what both of its solvers solve: see `accepts`

    first: Solver
    second: Solver
    budget: float = 100.0
    patience: float = 20.0
    most: float = math.inf

    @property
    def title(self) -> str:
        """Both solvers, in their order."""
        return ", then ".join(solver.title for solver in self.chain)

    @property
    def chain(self) -> tuple[Solver, ...]:
        """All solvers of the run, in their order."""
        ends = (self.first, self.second)
        return tuple(one for end in ends for one in (end.chain if isinstance(end, HandOver) else (end,)))

    def lacks(self, problem: AnyProblem) -> frozenset[str]:
        """What either of the two needs and the problem's rows do not offer."""
        return self.first.lacks(problem) | self.second.lacks(problem)

    def accepts(self, problem: AnyProblem) -> bool:
        """Whether both solvers solve that problem."""
        return self.first.accepts(problem) and self.second.accepts(problem)

    def iterate(self, problem: AnyProblem, run: Run) -> Steps:
        outlook = Outlook(run.goal, self.budget, max(self.patience, PATIENCE_SHARE * self.budget))

        watch = LinkWatch(problem.work)

        def is_enough(step: Step) -> bool:
            return outlook.is_poor(step) or step.passes > self.most or watch.is_over(step)

        first = yield from relay(self.first, problem, run, None, is_enough)
        if first is None:
            return
        most = first.passes + OVERDRAFT * max(self.budget, outlook.passes_left)
        rest = replace(run, start=first.point(), max_iter=run.max_iter - first.iteration)
        too_long = (lambda step: step.passes > most) if math.isinf(self.most) else None
        second = yield from relay(self.second, problem, rest, first, too_long)
        if second is None or math.isinf(most):
            return
        again = replace(run, start=first.point(), max_iter=run.max_iter - second.iteration)
        yield from relay(self.first, problem, again, second, None)


def relay(
    solver: Solver, problem: AnyProblem, run: Run, before: Step | None, is_enough: Callable[[Step], bool] | None
) -> Generator[Step, Certified | None, Step | None]:
    """Passes steps on, counted from the step `before`, until they end or are enough; returns the last one."""
    iteration, passes = (before.iteration, before.passes) if before else (0, 0.0)
    steps, step, verdict = solver.iterate(problem, run), None, None
    try:
        while True:
            try:
                step = steps.send(verdict)
            except StopIteration:
                return step
            name = _names(before.solver if before else "", step.solver or solver.name)
            step = replace(step, iteration=iteration + step.iteration, passes=passes + step.passes, solver=name)
            verdict = yield step
            if is_enough is not None and not step.by_the_clock and is_enough(_judged(step, verdict)):
                return step
    finally:
        steps.close()


def _judged(step: Step, verdict: Certified | None) -> Step:
    """The step with its exact gap, where an estimate that it was done has been refuted."""
    return step if verdict is None else replace(step, gap=verdict.certificate.gap, objective=verdict.certificate.primal)


def _names(before: str, now: str) -> str:
    """Who made the steps so far; one that goes on after itself is named once."""
    return now if before in ("", now) or now.startswith(f"{before}+") else f"{before}+{now}"


class Outlook:
    """Foretells the passes left from how fast the gap has fallen over the latter half of the passes made."""

    def __init__(self, goal: Goal, budget: float, patience: float) -> None:
        self._goal = goal
        self._budget = budget
        self._patience = patience
        self._seen: list[tuple[float, float]] = []  # passes, smallest gap so far
        self.passes_left = 0.0  # what was foretold last

    def is_poor(self, step: Step) -> bool:
        """Whether the solver would need more passes than the budget."""
        if math.isnan(step.gap):
            return False
        if step.looks_done:  # an exact gap: no estimate below it was true
            self._seen = [(passes, max(gap, step.gap)) for passes, gap in self._seen]
        gap = min(step.gap, self._seen[-1][1]) if self._seen else step.gap
        self._seen.append((step.passes, gap))
        wanted = self._goal.wanted(step.objective, step.gap)
        if step.passes < self._patience or gap <= wanted:
            return False
        if wanted == 0:
            self.passes_left = math.inf
            return step.passes > self._budget
        then, gap_then = self._halfway(step.passes)
        fallen = math.log(gap_then / gap)
        self.passes_left = math.log(gap / wanted) * (step.passes - then) / fallen if fallen > 0 else math.inf
        return self.passes_left > self._budget

    def _halfway(self, passes: float) -> tuple[float, float]:
        """The first of what was seen after the most passes up to half of these; steps may be many thousands."""
        last = max(0, bisect_right(self._seen, (0.5 * passes, math.inf)) - 1)
        return self._seen[bisect_left(self._seen, (self._seen[last][0], -math.inf))]
