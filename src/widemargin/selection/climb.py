"""The way of a search: value after value of C, all folds at each, and when it ends.

It goes up until the last value, until the rest is hopeless (stopping.py), or until the time has run out. A reason that
the scores give is believed only if larger values have nothing to give (ahead.py): models that are next to nothing, or
see none but the largest features, may score alike for ten decades of C.

Values that the search has chosen itself are a range, not a wish: where the best lies at its upper end, or there is more
to come, the range is doubled further; where it lies at the lower end, halved. What still lies there is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..deadline import Deadline
from ..solvers.run.solution import Status
from .ahead import promising
from .fold_run import FoldFit, FoldRun
from .result import Candidate
from .stopping import OUT_OF_TIME, StopWatch
from .values import Values

# Values of its own that a search tries in any case: at the first ones models are next to nothing and scores are noise.
FEWEST = 10
# The best value lies at the upper end if it is one of so many last ones.
LAST = 3
# Values below the first that bring nothing, in a row, before the search is content.
CONTENT = 3
# What a smaller value must gain, in standard errors of the score, to bring something.
SOMETHING = 0.01

MapFolds = Callable[..., Iterable[Any]]
Show = Callable[[Candidate, Candidate], None]


@dataclass(frozen=True)
class Best:
    """The best value so far and the folds' models at it, from which the fit of all rows starts."""

    candidate: Candidate
    fits: list[FoldFit]


@dataclass
class Climb:
    """What was tried on the way, and the best of it."""

    values: Values
    runs: list[FoldRun]
    watch: StopWatch | None
    deadline: Deadline
    workers: int
    tried: list[Candidate] = field(default_factory=list, init=False)  # ascending
    ended: str | None = field(default=None, init=False)  # why no larger value was tried
    not_tried: tuple[float, ...] = field(default=(), init=False)
    edge: str | None = field(default=None, init=False)  # the end of the search's own range where the best still lies
    _best: Best | None = field(default=None, init=False)

    @property
    def best(self) -> Best:
        """The best value."""
        assert self._best is not None  # the first value is always tried to its end
        return self._best

    def go(self, map_folds: MapFolds, show: Show) -> None:
        """All of the way."""
        self._go_up(map_folds, show)
        self.not_tried = tuple(self.values.listed[len(self.tried) :])
        if self.values.own and self.best.candidate is self.tried[-1] and self.ended in (None, OUT_OF_TIME):
            self.edge = "upper"
        elif self.values.reach_down and self._falls_from_the_first() and self.ended != OUT_OF_TIME:
            self._go_down(map_folds, show)

    def _go_up(self, map_folds: MapFolds, show: Show) -> None:
        for C in self.values.listed:  # which may become longer on the way
            fits = self._fits(C, map_folds)
            if self._best is not None and ran_out(fits):
                self.ended = OUT_OF_TIME  # what was cut short tells nothing of this value
                return
            self._take(C, fits, show)
            is_last = self.values.listed[-1] == C
            self.ended = self._reason_to_end(fits)
            if self.ended is None and self.deadline.passed and not is_last:
                self.ended = OUT_OF_TIME
            if self.ended is not None:
                return
            if is_last and self.values.own and (self.best.candidate in self.tried[-LAST:] or self._promises(fits)):
                self.values.widen()

    def _go_down(self, map_folds: MapFolds, show: Show) -> None:
        """Halves the first value until that brings nothing any more; each fit starts anew, and has little to do."""
        content = 0
        for C in self.values.below():
            for run in self.runs:
                run.restart()
            fits, before = self._fits(C, map_folds), self.best.candidate
            if ran_out(fits):
                break
            self._take(C, fits, show)
            gain = self.best.candidate.mean_score - before.mean_score
            content = 0 if gain > SOMETHING * before.error else content + 1
            if content == CONTENT:
                return
        if self.best.candidate is self.tried[0]:
            self.edge = "lower"

    def _fits(self, C: float, map_folds: MapFolds) -> list[FoldFit]:
        def fit(k: int, C: float) -> FoldFit:
            return self.runs[k].at(C, self.deadline.share(k, len(self.runs), self.workers))

        return list(map_folds(partial(fit, C=C), range(len(self.runs))))

    def _take(self, C: float, fits: list[FoldFit], show: Show) -> None:
        candidate = candidate_of(C, fits)
        self.tried.append(candidate)
        self.tried.sort(key=lambda one: one.C)
        if self._best is None or candidate.mean_score > self._best.candidate.mean_score:
            self._best = Best(candidate, fits)
        show(candidate, self._best.candidate)

    def _reason_to_end(self, fits: list[FoldFit]) -> str | None:
        if self.watch is None:
            return None
        here = self.tried[-1]
        coefs, predictions = [fit.coef for fit in fits], [fit.predictions for fit in fits]
        reason = self.watch.reason_to_end(here.C, np.array(here.scores), coefs, predictions)
        if reason is None or (self.values.own and len(self.tried) < FEWEST) or self._promises(fits):
            return None
        return reason

    def _promises(self, fits: list[FoldFit]) -> bool:
        """Whether larger values have something to give."""
        C = self.tried[-1].C
        return promising([run.saved_ahead(fit, C) for run, fit in zip(self.runs, fits, strict=True)])

    def _falls_from_the_first(self) -> bool:
        return len(self.tried) > 1 and self.tried[0].mean_score > max(one.mean_score for one in self.tried[1:])


def ran_out(fits: list[FoldFit]) -> bool:
    """Whether the clock has cut a fit short."""
    return any(solution.status is Status.TIME_LIMIT for fit in fits for solution in fit.solutions)


def candidate_of(C: float, fits: list[FoldFit]) -> Candidate:
    """The line of the table for a value."""
    solutions = [solution for fit in fits for solution in fit.solutions]
    return Candidate(
        C=C,
        scores=tuple(fit.score for fit in fits),
        nonzeros=float(np.mean([np.count_nonzero(fit.coef) for fit in fits])),
        passes=float(sum(solution.trace[-1].passes for solution in solutions if len(solution.trace))),
        seconds=float(sum(solution.seconds for solution in solutions)),
        converged=all(solution.converged for solution in solutions),
    )
