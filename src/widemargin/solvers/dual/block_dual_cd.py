"""Dual coordinate descent for rows that are not all in memory.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i loss(y_i, x_i . w + b)
Dual      min over v      1/2 |X^T v|^2 + sum_i C_i conjugate(-v_i / C_i, y_i)
          where w = X^T v; for classification v_i = y_i alpha_i

Yu, Hsieh, Chang, Lin, "Large Linear Classification When Data Cannot Fit In Memory" (2010), Algorithms 1 and 2: blocks
of rows are loaded one after another, and the dual is minimised over the rows of each. Here blocks are mixed anew for
every pass from chunks in random order (mixing="random"); the published method, whose blocks never change, is
mixing="fixed". While a block is worked on the next is read. A chunk whose rows are all left out by shrinking is not
read. The certificate is exact and one pass late: block_state.py.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...data.rows import BLOCKS, VERBS
from ...objective.losses import ALL_LOSSES
from ..base import Run, Solver, Step, Steps
from .block_plan import MIXINGS, BlockPlan, mixing_rng
from .block_resume import SavedRun
from .block_state import BlockDualState, Frozen, fixed_bytes

if TYPE_CHECKING:
    from ...data.block_file.block_file import Part
    from ...objective.certificate import Goal
    from ...objective.problem import Problem

# A block is visited again as long as reading takes longer than descending, up to so often.
MOST_ROUNDS = 3
# Files of fewer bytes are read from the system's cache: nothing waits for the disk, and runs do not hang on the clock.
WORTH_WAITING = 1 << 28
# A pass is certified when so many times the tolerance is foreseen.
EARLY = 2.0


@dataclass(frozen=True)
class BlockDualCD(Solver):
    """Dual coordinate descent over blocks of a file (Yu et al. 2010), mixed anew for every pass; for penalty l2.

    Parameters
    ----------
    mixing : {"random", "fixed"}
        Which chunks share a block: others in every pass, or always the same, as published.
    inner_passes : int, optional
        How often the rows of a block are visited before the next; by default once, and up to three times where reading
        a large file takes longer than descending, as the first pass has shown.
    shrinking : bool
        Leave out variables that a bound holds firmly, and do not read chunks of which all are.
    resume : str, optional
        A file for the state of the run: written after each pass; where it exists, the run goes on from it, bit for bit.

    Examples
    --------
    >>> import os, tempfile
    >>> from widemargin import Problem, solve, write_blocks
    >>> from widemargin.solvers import BlockDualCD
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_blocks(os.path.join(folder, "a.wmb"), [([[0.0], [1.0]], [-1, -1]), ([[3.0]], [1])])
    ...     solve(Problem(file, file.y, loss="hinge"), BlockDualCD(), tol=1e-8).coef.round(6)
    array([0.333333])
    """

    name: ClassVar[str] = "block_dual_cd"
    summary: ClassVar[str] = "dual coordinate descent over blocks of a file (Yu et al. 2010)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, BLOCKS})
    losses = ALL_LOSSES

    mixing: str = "random"
    inner_passes: int | None = None
    shrinking: bool = True
    resume: str | None = None

    def __post_init__(self) -> None:
        if self.mixing not in MIXINGS:
            raise ValueError(f"unknown mixing {self.mixing!r}: use one of {', '.join(MIXINGS)}")
        if self.inner_passes is not None and not self.inner_passes >= 1:
            raise ValueError(f"inner_passes must be at least 1, got {self.inner_passes!r}")

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = BlockDualState(problem, run, self.shrinking)
        descent = BlockPasses(self, state, run)
        outlook = Outlook(run.goal)
        saved = None if self.resume is None else SavedRun(self.resume, state, descent, outlook)
        looks_done = saved is not None and saved.load()
        while True:
            frozen = state.frozen() if looks_done else None
            yield from descent.one_pass(frozen)
            sums = state.native.sums
            objective = state.native.dual_value + sums.gap
            verdict = yield Step(
                iteration=descent.number,
                passes=descent.passes,
                point=state.point if frozen is None else frozen.point,
                objective=objective,
                dual=state.native.dual_value,
                gap=sums.gap,
                looks_done=frozen is not None,
                n_active=state.native.n_active,
            )
            if verdict is not None and frozen is not None:
                outlook.was_wrong(verdict.certificate.gap)
                state.resume(verdict)
            looks_done = outlook.is_good(sums.gap, objective) or state.native.n_active == 0
            if saved is not None:
                saved.save(looks_done)


class Outlook:
    """Whether the point at the end of a pass is likely to be good enough: worth being certified in the next.

    A pass sees each row's share of the gap when the row comes; where the pass ends is better, by about what the next
    one will see. That it was not costs the products of a certificate, never a pass over the disk.
    """

    def __init__(self, goal: Goal) -> None:
        self._goal = goal
        self.gap = float("inf")  # as the last pass saw it
        self.trust = 1.0

    def is_good(self, gap: float, objective: float) -> bool:
        """After a pass that saw this gap."""
        falls = min(1.0, gap / self.gap) if self.gap > 0 else 1.0
        self.gap = gap
        return gap * falls * self.trust <= EARLY * self._goal.wanted(objective, gap)

    def was_wrong(self, exact: float) -> None:
        """The certificate refuted what was seen before: the worse, the less what is seen is believed."""
        self.trust *= min(10.0, max(1.0, exact / max(self.gap, 1e-300)))


class BlockPasses:
    """Passes over the blocks of a file, one after another."""

    def __init__(self, solver: BlockDualCD, state: BlockDualState, run: Run) -> None:
        self._state, self._run = state, run
        self._plan = BlockPlan(state.file, fixed_bytes(state.problem), run.seed, solver.mixing)
        self.rounds = solver.inner_passes  # how often a block is visited, once that is known
        self.settings = (solver.mixing, solver.inner_passes, solver.shrinking, state.file.memory)
        self.number = 0  # passes made
        self.passes = 0.0  # the same, those that did not read everything as the share that they read
        self._whole: list[Part] | None = None  # the only block, where all rows fit

    def one_pass(self, frozen: Frozen | None) -> Generator[Step, object, None]:
        """One visit to every block that is needed; between slices of time the driver is asked whether to go on."""
        state, rng = self._state, mixing_rng(self._run.seed, 2**32 + self.number)
        shrunk = state.shrunk()
        plan = self._plan.blocks(self.number, lambda k: frozen is not None or state.chunk_is_needed(shrunk, k))
        share = sum(state.file.chunk_sizes[k] for block in plan for k in block) / state.file.chunk_sizes.sum()
        state.native.begin_pass()
        began, working = time.perf_counter(), 0.0
        for parts in self._blocks(plan):
            arrived = time.perf_counter()
            if frozen is not None:
                frozen.look(parts)
            state.begin_block(parts, int(rng.integers(2**63)))
            del parts  # the native state holds the block, and lets it go when it is done
            while not state.native.advance(self.rounds or 1, self._run.slice()):
                yield self._midway()
            working += time.perf_counter() - arrived
        self.number += 1
        self.passes += float(share)
        self._choose_rounds(time.perf_counter() - began, working)
        state.end_pass()
        if frozen is not None:
            state.native.add_to_weights(frozen.drift)

    def _blocks(self, plan: list[list[int]]) -> Generator[list[Part], None, None]:
        """The blocks; where one holds all rows it is read once."""
        if len(plan) == 1 and len(plan[0]) == self._state.file.n_chunks:
            self._whole = self._whole or next(iter(self._state.file.visit(plan)))
            yield self._whole
            return
        self._whole = None
        yield from self._state.file.visit(plan)

    def _midway(self) -> Step:
        """A slice of time is over: nothing is decided, but the run may be ended."""
        state = self._state
        return Step(
            iteration=self.number, passes=self.passes, point=state.point, n_active=state.native.n_active,
            by_the_clock=True,
        )  # fmt: skip

    def _choose_rounds(self, seconds: float, working: float) -> None:
        """How often a block is visited from now on: as often as it takes to read the next."""
        if self.rounds is None:
            waits = self._state.file.n_bytes >= WORTH_WAITING
            self.rounds = min(MOST_ROUNDS, max(1, round(seconds / max(working, 1e-9)))) if waits else 1
