"""The first passes of dual coordinate descent for several problems over the same rows, side by side.

One against the rest, or one model per label: k problems that differ in the sides their rows are on and in nothing else.
Each entry of the data is read once for all of them, and their weights lie side by side (descent/side_by_side.hpp).
Passes are permuted; each problem shrinks for itself. It rests as soon as its estimated gap is small enough. One that
would take long, by its own outlook, leaves with the point that it has, and its own solver goes on from there with all
that helps in long runs. Nothing that a problem does here depends on the others beside it.

What comes out is, for each problem, a `Begun`: the solver that the driver runs. Its steps are the passes made here; the
last one is verified like that of any other solver. If it is refuted, or was not yet done, the chosen solver follows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.matrix import stored
from ...deadline import Deadline
from ...objective.certificate import Goal
from ...threads import thread_map
from ...vectors import Vector
from ..auto import STIFF, choose, stiffness
from ..base import Point, Run, Solver, Step, Steps
from ..dual.dual_cd import DualCD
from ..dual.row_layout import first_layout
from ..dual.rules import SINGLE_TOL, intercept_step
from .hand_over import HandOver, Outlook, relay
from .interrupt import catch_interrupt

if TYPE_CHECKING:
    from ...objective.problem import Problem

Sides = Callable[[int], NDArray[np.bool_]]  # which rows are on the positive side of a problem

# Problems from which on it pays.
FEWEST_TOGETHER = 3
# Problems in one group: as many weights as vector registers hold in one walk along a row.
MOST_LANES = 32
# Bytes that a group may take, weights and dual variables, and that the points of all problems may, which are held until
# each is certified.
MOST_IN_A_GROUP = 2**28
MOST_HELD = 2**30
# A problem that would take more passes than this leaves; it is judged from the fifth pass on.
BUDGET, PATIENCE = 20.0, 5.0


@dataclass(frozen=True)
class Begun(Solver):
    """Steps that were made beside other problems, then the solver that goes on from the last of them."""

    name: ClassVar[str] = "dual_cd"
    summary: ClassVar[str] = "dual coordinate descent, begun beside other problems"
    needs: ClassVar[frozenset[str]] = DualCD.needs
    losses = DualCD.losses

    then: Solver
    steps: tuple[Step, ...] = field(repr=False)
    intercept: float
    dual: Vector = field(repr=False)
    w: Vector = field(repr=False)  # X^T dual
    z: Vector = field(repr=False)  # X w
    share: float = 0.0  # of the seconds that the group took

    @property
    def seconds_before(self) -> float:
        return self.share

    def iterate(self, problem: Problem, run: Run) -> Steps:
        def point() -> Point:
            return Point(self.w, self.intercept, self.dual, self.z + self.intercept, self.w)

        for step in self.steps:
            yield replace(step, point=point)
        rest = replace(run, start=point(), max_iter=run.max_iter - len(self.steps))
        yield from relay(self.then, problem, rest, replace(self.steps[-1], point=point), None)


@dataclass(frozen=True)
class Together:
    """What the problems share, and how they are to be solved."""

    like: Problem  # the first of them
    tol: float
    seed: int
    then: Solver  # what each of them goes on with

    def begin(
        self,
        sides: Sides,
        count: int,
        *,
        workers: int = 1,
        deadline: Deadline | None = None,
        table: Vector | None = None,
    ) -> list[Begun]:
        """The first passes of problems 0 .. count - 1, in groups of lanes, so many groups at a time.

        Their weights are left in the rows of the table, if one is given. Ctrl-C raises KeyboardInterrupt.
        """
        groups = self._groups(count, workers)
        weights = np.empty((count, self.like.X.shape[1])) if table is None else table
        begun: list[Begun] = []
        with catch_interrupt() as interrupted, thread_map(min(workers, len(groups))) as map_groups:

            def stop() -> bool:
                return interrupted() or (deadline is not None and deadline.passed)

            def run(group: range) -> list[Begun]:
                return _Group(self, sides, group, weights[group.start : group.stop]).run(stop)

            for some in map_groups(run, groups):
                begun.extend(some)
                if interrupted():
                    raise KeyboardInterrupt
        return begun

    def _groups(self, count: int, workers: int) -> list[range]:
        """Even parts, as many as keep all workers busy and no group too large. The result does not depend on it."""
        rows, features = self.like.X.shape
        bytes_each = (8 if self.tol < SINGLE_TOL else 4) * features + 32 * rows
        lanes = max(1, min(MOST_LANES, MOST_IN_A_GROUP // bytes_each))
        parts = max(-(-count // lanes), 1)
        parts = min(count, -(-parts // workers) * workers)
        ends = [count * part // parts for part in range(parts + 1)]
        return [range(begin, end) for begin, end in pairwise(ends)]


class _Group:
    """Problems in the lanes of one native descent."""

    def __init__(self, task: Together, sides: Sides, numbers: range, weights: Vector) -> None:
        like = task.like
        self._weights = weights  # where those of each problem are left
        self._then = task.then
        signs = np.empty((like.X.shape[0], len(numbers)), dtype=np.int8)
        self._goals: list[Goal] = []
        for lane, number in enumerate(numbers):
            positive = sides(number)
            signs[:, lane] = np.where(positive, 1, -1)
            self._goals.append(Goal(task.tol, like.with_sides(positive).at_zero))
        free = like.intercept == "free"
        self._native = _core.SideBySide(
            stored(like.X).native_rows,
            like.loss.native,
            signs.reshape(-1),
            like.weights,
            np.sqrt(intercept_step(stored(like.X))) if free else like.intercept_scale,
            free,
            first_layout(like).block,
            task.seed,
            task.tol >= SINGLE_TOL,
        )
        self._X = like.X
        self._steps: list[list[Step]] = [[] for _ in numbers]
        self._outlooks = [Outlook(goal, BUDGET, PATIENCE) for goal in self._goals]
        self._left: dict[int, tuple[float, Vector]] = {}  # who has left: the intercept and the dual point
        self._at_work = list(range(len(numbers)))  # which problem of the group each native lane is

    def run(self, should_stop: Callable[[], bool]) -> list[Begun]:
        """Passes until every problem rests or has left."""
        began = time.perf_counter()
        while len(self._left) < len(self._steps):
            self._native.one_pass()
            stopped = should_stop()
            for lane, number in enumerate(self._at_work):
                if number not in self._left:
                    self._judge(lane, number, stopped)
            self._close_up()
        found = self._results()
        share = (time.perf_counter() - began) / len(found)
        return [replace(one, share=share) for one in found]

    def _judge(self, lane: int, number: int, stopped: bool) -> None:
        steps = self._steps[number]
        step = self._step(lane, len(steps) + 1, self._goals[number])
        steps.append(step)
        lost = not math.isfinite(step.gap)  # beyond the range of floats: nothing to wait for
        if not (step.looks_done or stopped or lost or self._outlooks[number].is_poor(step)):
            return
        self._native.rest(lane)
        v = np.empty(self._X.shape[0])
        self._native.dual(lane, v)
        self._left[number] = self._native.intercept(lane), v

    def _results(self) -> list[Begun]:
        """With the weights X^T v and the predictions of all problems, made side by side too."""
        rows, k = self._X.shape[0], len(self._steps)
        v = np.empty((rows, k))
        for number, (_, dual) in self._left.items():
            v[:, number] = dual
        W = self._X.rmatmat(v)
        Z = self._X.matmat(W)
        self._weights[:] = W.T
        Z = np.ascontiguousarray(Z.T)
        return [
            Begun(self._then, tuple(steps), *self._left[number], self._weights[number], Z[number])
            for number, steps in enumerate(self._steps)
        ]

    def _step(self, lane: int, passes: int, goal: Goal) -> Step:
        dual, gap = self._native.dual_value(lane), self._native.gap(lane)
        return Step(
            iteration=passes,
            passes=float(passes),
            point=_not_yet,
            objective=dual + gap,
            dual=dual,
            gap=gap,
            looks_done=goal.is_met(gap, dual + gap),
            n_active=self._native.n_active(lane),
            solver=Begun.name,
        )

    def _close_up(self) -> None:
        """Lanes whose problems are gone are given up, once they are half of all."""
        left = [lane for lane, number in enumerate(self._at_work) if number not in self._left]
        if left and 2 * len(left) <= len(self._at_work):
            self._native.keep(left)
            self._at_work = [self._at_work[lane] for lane in left]


def _not_yet() -> Point:
    """Nobody asks for a point before the steps are shown to the driver."""
    raise NotImplementedError


def begin_together(
    like: Problem,
    sides: Sides,
    count: int,
    *,
    solver: str | Solver,
    tol: float,
    max_iter: int | None,
    seed: int,
    workers: int = 1,
    max_seconds: float | None = None,
    table: Callable[[], Vector] | None = None,
) -> list[Begun] | None:
    """What each of `count` problems goes on with after passes side by side; None where each is better off alone.

    `like` is the first of them and sides(k) the positive rows of problem k; the other words are those of `solve`. Time
    that runs out ends the passes, and what follows ends each run. table() is where their weights are left, row by row.
    """
    rows, features = like.X.shape
    too_much = 8 * count * (2 * rows + features) > MOST_HELD
    if max_iter is not None or count < FEWEST_TOGETHER or too_much:
        return None
    then = goes_on_with(like, solver)
    if then is None:
        return None
    deadline = Deadline.after(max_seconds)
    together = Together(like, tol, seed, then)
    return together.begin(sides, count, workers=workers, deadline=deadline, table=None if table is None else table())


def goes_on_with(problem: Problem, solver: str | Solver) -> Solver | None:
    """What problems like this one go on with after passes side by side; None where each is better off alone.

    They begin together with the hinge loss, or where `auto` would begin with dual coordinate descent; and not where
    they are so stiff that learning which rows matter is worth more (on mnist, a third of the passes).
    """
    labels_l2 = problem.loss.classification and problem.penalty.smooth
    if solver != "auto" or not labels_l2 or not DualCD.needs <= problem.X.offers or stiffness(problem) > STIFF:
        return None
    if problem.has_free_intercept and problem.X.centred is not None:  # then `solve` works on other rows
        return None
    chosen = choose(problem)
    first = chosen.chain[0] if isinstance(chosen, HandOver) else chosen
    return chosen if not problem.loss.smooth or isinstance(first, DualCD) else None
