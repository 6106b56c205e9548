"""Two solvers, one run: the first as long as it gets on, then the second from where the first stood.

First-order methods are cheap and often soon done; on badly scaled data or at a large C they may need thousands of
passes, where a Newton method needs a fixed few. Which of the two it is shows in the first passes.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from .base import Run, Solver, Step, Steps

if TYPE_CHECKING:
    from ..objective.certificate import Certified
    from ..objective.problem import Problem


@dataclass(frozen=True)
class HandOver(Solver):
    """Runs `first` until it would need more than `budget` passes more, then `second` from there.

    Parameters
    ----------
    first, second : Solver
    budget : float
        What the second solver is expected to cost, in passes over the data.
    patience : float
        Passes before the first solver is judged.

    Examples
    --------
    >>> from widemargin import DualCD, HandOver, NewtonCholesky, Problem, solve
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

    def accepts(self, problem: Problem) -> bool:
        """Whether both solvers solve that problem."""
        return self.first.accepts(problem) and self.second.accepts(problem)

    def iterate(self, problem: Problem, run: Run) -> Steps:
        outlook = Outlook(run.tol, self.budget, self.patience)
        last = yield from _relay(self.first.iterate(problem, run), None, self.first.name, outlook)
        if last is None:
            return
        rest = replace(run, start=last.point(), max_iter=run.max_iter - last.iteration)
        yield from _relay(self.second.iterate(problem, rest), last, f"{self.first.name}+{self.second.name}", None)


def _relay(
    steps: Steps, before: Step | None, name: str, outlook: Outlook | None
) -> Generator[Step, Certified | None, Step | None]:
    """Passes steps on, counted from the step `before`, until they end or the outlook is poor; returns the last one."""
    iteration, passes = (before.iteration, before.passes) if before else (0, 0.0)
    step, verdict = None, None
    try:
        while True:
            try:
                step = steps.send(verdict)
            except StopIteration:
                return step
            step = replace(step, iteration=iteration + step.iteration, passes=passes + step.passes, solver=name)
            verdict = yield step
            if outlook is not None and not step.by_the_clock and outlook.is_poor(step):
                return step
    finally:
        steps.close()


class Outlook:
    """Foretells the passes left from how fast the gap has fallen over the latter half of the passes made."""

    def __init__(self, tol: float, budget: float, patience: float) -> None:
        self._tol = tol
        self._budget = budget
        self._patience = patience
        self._seen: list[tuple[float, float]] = []  # passes, smallest gap so far

    def is_poor(self, step: Step) -> bool:
        """Whether the solver would need more passes than the budget."""
        if math.isnan(step.gap):
            return False
        gap = min(step.gap, self._seen[-1][1]) if self._seen else step.gap
        self._seen.append((step.passes, gap))
        wanted = self._tol * abs(step.objective)
        if step.passes < self._patience or gap <= wanted:
            return False
        if wanted == 0:
            return step.passes > self._budget
        then, gap_then = max(seen for seen in self._seen if seen[0] <= 0.5 * step.passes or seen is self._seen[0])
        fallen = math.log(gap_then / gap)
        return math.log(gap / wanted) * (step.passes - then) > self._budget * fallen
