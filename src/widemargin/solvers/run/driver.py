"""The driver: runs any solver's steps under one stopping rule, one clock and one certificate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...blas import one_blas_thread
from ...objective.certificate import Certificate, Certified
from ..base import Point, Run, Solver, Step
from .interrupt import catch_interrupt
from .solution import Solution, Status
from .stall import StallWatch, effort, grace_steps
from .trace import Trace, TraceRow

if TYPE_CHECKING:
    from ...objective.any_problem import AnyProblem

Callback = Callable[[TraceRow], Any]


@dataclass(frozen=True)
class Limits:
    """Where a run ends even without having converged."""

    iterations: float
    seconds: float


class Clock:
    """The seconds of a run, and what its limit leaves of them."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self.begin()

    def begin(self) -> None:
        """The run begins now."""
        self._began = time.perf_counter()

    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self._began

    def left(self) -> float:
        """Seconds until the limit, possibly infinite."""
        return self._limit - self.elapsed()


class Driver:
    """One run: steps in, solution out.

    Of all points that were verified, the one with the lowest objective and the highest dual bound are kept; by weak
    duality they need not come from the same step. The first of them is w = 0, so whatever a solver does, nothing worse
    comes out, and nothing that is not finite.
    """

    def __init__(
        self, problem: AnyProblem, solver: Solver, tol: float, limits: Limits, seed: int, start: Point | None
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.tol = tol
        self.limits = limits
        self.trace = Trace()
        self._bytes_before = self._bytes_read()
        self._clock = Clock(limits.seconds)
        self._ask = Run(
            tol=tol,
            seed=seed,
            max_iter=limits.iterations,
            every_step=False,
            start=start,
            seconds_left=self._clock.left,
        )
        self._step: Step | None = None
        # The best verified point and the best dual bound: none is worse than w = 0 and the dual point 0.
        self._primal: Certified
        self._dual: Certified
        self._started: Certified  # what the warm start was found to be
        self._verified: Step | None = None  # the last step that was verified

    def run(self, callback: Callback | None = None) -> Solution:
        """Drives the solver to its end."""
        self._clock.begin()
        with catch_interrupt() as interrupted, one_blas_thread():
            status = self._loop(callback, interrupted)
            if self._step is None:
                raise RuntimeError(f"solver {self.solver.title!r} ended before its first step")
            if self._verified is not self._step:
                # The last step may be better than what was verified before, and even good enough.
                self._trace(self._step, self._verify(self._step))
                if self._certificate().relative_gap <= self.tol:
                    status = Status.CONVERGED
        return self._solution(status)

    def _loop(self, callback: Callback | None, interrupted: Callable[[], bool]) -> Status:
        self._primal = self._dual = self.problem.zero()
        ask = replace(self._ask, interrupted=interrupted, at_zero=self._primal.certificate.primal)
        if callback is not None:
            ask = ask.watched()
        grace = grace_steps(self.problem.work)
        stall, unknown, at_work = StallWatch(grace), 0, ""
        verdict: Certified | None = None
        if self._certificate().relative_gap <= self.tol:
            return self._end_at_zero()
        if ask.start is not None:
            ended = self._judge_start(ask.start, callback, interrupted)
            if ended is not None:
                return ended
            ask = replace(ask, start=self._known_start(ask.start, self._started))
        steps = self.solver.iterate(self.problem, ask)
        while True:
            try:
                step = self._step = steps.send(verdict)
            except StopIteration:
                return Status.STALLED  # the solver can do no more
            verdict = self._verify(step) if step.looks_done else None
            row = self._trace(step, verdict)
            ended = self._judge(row, callback, interrupted)
            if ended is not None:
                return ended
            if not step.by_the_clock:
                if step.solver != at_work:  # another solver has taken over: it is judged by what it does itself
                    at_work, stall = step.solver, StallWatch(grace, effort(step))
                unknown = unknown + 1 if math.isnan(row.gap) else 0
                gap = self._exact_gap(step) if unknown > grace else self._known_gap(row)
                if stall.is_stalled(effort(step), gap):
                    return Status.STALLED
                unknown = 0 if unknown > grace else unknown

    def _end_at_zero(self) -> Status:
        """Nothing can be gained over w = 0."""
        step = self._step = self._verified = Step(iteration=0, passes=0.0, point=lambda: self._primal.point)
        self._trace(step, self._primal)
        return Status.CONVERGED

    def _known_gap(self, row: TraceRow) -> float:
        """The gap of a step, seen with the best bound that is known: one below it is no bound."""
        best = row.objective - self._dual.certificate.dual
        return row.gap if math.isnan(row.gap) or not best > 0 else min(row.gap, best)

    def _exact_gap(self, step: Step) -> float:
        """The gap of a step that tells none, infinite if it is not a number: nobody may run blind for ever."""
        gap = self._verify(step).certificate.gap
        return math.inf if math.isnan(gap) else gap

    def _judge_start(self, start: Point, callback: Callback | None, interrupted: Callable[[], bool]) -> Status | None:
        """A warm start is the first point to be verified: it may be good enough, and nothing worse is returned.

        Where the primal point tells a dual point of its own, that is tried before the one that was given.
        """
        has_own = start.dual is not None and self.problem.tells_its_dual
        step = self._step = Step(iteration=0, passes=0.0, point=start.without_dual if has_own else lambda: start)
        verdict = self._verify(step)
        if has_own and verdict.certificate.relative_gap > self.tol:
            verdict = self.problem.with_better_dual(verdict, start.dual)
            self._keep(verdict)
        self._started = verdict
        return self._judge(self._trace(step, verdict), callback, interrupted)

    def _known_start(self, start: Point, verdict: Certified) -> Point:
        """The start with the products that its verification has made, and with the better of two dual points."""
        if self.problem.tells_its_dual:
            return verdict.point
        return replace(start, z=verdict.point.z, intercept=verdict.point.intercept, own_dual=False)

    def _judge(self, row: TraceRow, callback: Callback | None, interrupted: Callable[[], bool]) -> Status | None:
        """How the run ends here, if it does."""
        asked_to_stop = callback is not None and bool(callback(row))
        if row.certified and self._certificate().relative_gap <= self.tol:
            return Status.CONVERGED
        if asked_to_stop or interrupted():
            return Status.INTERRUPTED
        if row.iteration >= self.limits.iterations:
            return Status.ITERATION_LIMIT
        if self._clock.elapsed() >= self.limits.seconds:
            return Status.TIME_LIMIT
        return None

    def _verify(self, step: Step) -> Certified:
        """The exact certificate of the step's point; keeps the point and the bound if they are the best."""
        found = self.problem.certify(step.point())
        self._verified = step
        self._keep(found)
        return found

    def _keep(self, found: Certified) -> None:
        """Of two values the better one; what is not a number is never better."""
        if found.certificate.primal <= self._primal.certificate.primal:
            self._primal = found
        if found.certificate.dual >= self._dual.certificate.dual:
            self._dual = found

    def _certificate(self) -> Certificate:
        return replace(self._dual.certificate, primal=self._primal.certificate.primal)

    def _trace(self, step: Step, verdict: Certified | None) -> TraceRow:
        exact = verdict.certificate if verdict is not None else None
        row = TraceRow(
            seconds=self._clock.elapsed() + self.solver.seconds_before,
            iteration=step.iteration,
            passes=step.passes,
            objective=exact.primal if exact else step.objective,
            dual=exact.dual if exact else step.dual,
            gap=exact.gap if exact else step.gap,
            n_active=step.n_active,
            certified=exact is not None,
            at_zero=self.problem.at_zero,
            bytes_read=self._bytes_read() - self._bytes_before,
        )
        self.trace.add(row)
        return row

    def _bytes_read(self) -> int:
        """What the rows have read from disk so far, if that is where they are."""
        return int(getattr(self.problem.X, "bytes_read", 0))

    def _solution(self, status: Status) -> Solution:
        assert self._step is not None
        primal, dual = self._primal.point, self._dual.point
        return Solution(
            coef=primal.w,
            intercept=primal.intercept,
            dual=dual.dual,
            certificate=self._certificate(),
            status=status,
            n_iter=self._step.iteration,
            seconds=self._clock.elapsed() + self.solver.seconds_before,
            solver=self._step.solver or self.solver.title,
            trace=self.trace,
            point=replace(primal, dual=dual.dual, pull=dual.pull, own_dual=primal is dual and dual.own_dual),
        )
