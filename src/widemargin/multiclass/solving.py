"""Solves the problems of a method: begun side by side where that pays, then one after another or on threads."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from ..deadline import Deadline
from ..objective.points import Point
from ..objective.problem import Problem
from ..solvers.effort import Effort
from ..solvers.run.several import solve_all, solve_each
from ..solvers.run.solution import Solution
from ..threads import thread_count
from .labelled import Table
from .parts import OneProblem, OneSided, Part, Positives
from .table import CoefficientTable, Models

if TYPE_CHECKING:
    from ..solvers.run.side_by_side import Begun

Start = Solution | Point | None
# Given a title for each run and its tolerance: a context that yields a callback for `solve`, or None.
Watch = Callable[[str, float], AbstractContextManager[Any]]


class Solve(Protocol):
    """Solves the problem of one model, from a solution near by if there is one."""

    def __call__(self, model: int, problem: Any, effort: Effort, start: Any) -> Solution: ...


def solve_plainly(model: int, problem: OneProblem, effort: Effort, start: Start) -> Solution:
    """One call of `solve`."""
    return effort.solve(problem, start)


@dataclass(frozen=True)
class Ask:
    """What the user wants of all models: the effort for them together, warm starts, and how each is solved.

    Where each model is one call of `solve` and no more, several may begin side by side. `in_turn` solves one model
    after another, with all threads in each, and Ctrl-C then leaves those that were reached.
    """

    effort: Effort = field(default_factory=Effort)
    starts: Sequence[Start] = field(default=(), repr=False)
    solve: Solve = solve_plainly
    watch: Watch | None = None  # where no two models run at the same time
    in_turn: bool = False

    def start(self, model: int, problem: OneProblem) -> Start:
        """The warm start of that model, if there is one that fits its problem."""
        start = self.starts[model] if model < len(self.starts) else None
        return start if start is not None and _size(start) == problem.size else None


def solve_models(parts: Sequence[Part], n_features: int, ask: Ask) -> Models:
    """One model per part, and the table of their coefficients."""
    table = CoefficientTable(len(parts), n_features)
    deadline = Deadline.after(ask.effort.max_seconds)
    begun = _begin_together(parts, ask, table.dense)
    rest = replace(ask, effort=replace(ask.effort, max_seconds=deadline.share()))
    return replace(table.models(_solve_parts(parts, n_features, rest, begun, table)), parts=parts)


def _solve_parts(
    parts: Sequence[Part], n_features: int, ask: Ask, begun: dict[int, Begun], table: CoefficientTable
) -> list[Solution]:
    """The solutions of the parts, each as the table keeps it; fewer after Ctrl-C, where they are solved in turn."""
    threads = thread_count(ask.effort.n_jobs)
    workers = 1 if ask.in_turn else min(threads, len(parts))
    each = replace(ask.effort, n_jobs=1 if workers > 1 else threads)

    def fit(k: int, seconds: float | None) -> Solution:
        problem = parts[k].make()
        if isinstance(problem, OneSided):
            _warn_of_one_side(k, problem)
            return table.keep(k, problem.solution(n_features))
        with _watched(ask, parts, k, alone=workers == 1) as callback:
            effort = replace(each, max_seconds=seconds, callback=callback)
            return table.keep(k, _solution(k, problem, effort, ask, begun.pop(k, None)))

    run = solve_each if ask.in_turn else solve_all
    return run(fit, len(parts), workers=workers, max_seconds=ask.effort.max_seconds)


def _solution(k: int, problem: OneProblem, effort: Effort, ask: Ask, begun: Begun | None) -> Solution:
    if begun is None:
        return ask.solve(k, problem, effort, ask.start(k, problem))
    return replace(effort, solver=begun).solve(problem)


def _watched(ask: Ask, parts: Sequence[Part], k: int, *, alone: bool) -> AbstractContextManager[Any]:
    """Somebody who watches the run of part k, if it has the screen for itself."""
    if ask.watch is None or not alone:
        return nullcontext(ask.effort.callback)
    title = parts[k].title
    return ask.watch(f"{title} ({k + 1} of {len(parts)})" if title else "", ask.effort.tol)


def _warn_of_one_side(model: int, found: OneSided) -> None:
    warnings.warn(
        f"label {model} is {'present' if found.positive else 'absent'} in every row: it will be predicted so for all",
        stacklevel=2,
    )


def _begin_together(parts: Sequence[Part], ask: Ask, table: Callable[[], Table]) -> dict[int, Begun]:
    """The first passes of all models side by side, in half of the time at the most: what each goes on with."""
    sides = [part.side for part in parts if part.side is not None]
    if len(parts) == 1 or len(sides) < len(parts) or any(ask.starts) or ask.solve is not solve_plainly:
        return {}
    from ..solvers.run.side_by_side import begin_together  # not needed for one model

    models = [model for model, side in enumerate(sides) if _both(side())]
    first = parts[models[0]].make() if models else None
    if not isinstance(first, Problem):
        return {}
    effort = ask.effort
    begun = begin_together(
        first,
        lambda at: sides[models[at]](),
        len(models),
        solver=effort.solver,
        tol=effort.tol,
        max_iter=effort.max_iter,
        seed=effort.seed,
        workers=thread_count(effort.n_jobs),
        max_seconds=None if effort.max_seconds is None else effort.max_seconds / 2,
        table=table if len(models) == len(parts) else None,
    )
    return dict(zip(models, begun or (), strict=False))


def _both(positive: Positives) -> bool:
    return bool(positive.any() and not positive.all())


def _size(start: Solution | Point) -> int:
    return len(start.w if isinstance(start, Point) else start.coef)
