"""When a run is getting nowhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..base import Step

# A step looks at each entry of the data about once: so many entries are about a second of work.
_ENTRIES = 1e9
_LEAST, _MOST = 1_000, 100_000
# A step counts as so many passes at most.
MOST_PASSES = 4
# A solver that another one waits for is watched with this share of the patience that a run has.
LINK_SHARE = 0.5


def grace_steps(n_entries: int) -> int:
    """Steps that a run may always take: many on small data, where a step costs nothing and plateaus are long."""
    return int(min(_MOST, max(_LEAST, _ENTRIES / max(1, n_entries))))


def effort(step: Step) -> float:
    """What counts towards a stall: steps, or passes where a step makes a few; one of many passes counts as a few."""
    return max(float(step.iteration), min(step.passes, MOST_PASSES * step.iteration))


class StallWatch:
    """The gap must halve while the number of steps grows fourfold: slower than 1/sqrt(steps) is called a stall.

    Not a tighter rule, because between verifications the gap is an estimate with lucky dips. `grace` steps are given
    first, so that a slow start is not mistaken for a stall.
    """

    def __init__(self, grace: int = _LEAST, begin: float = 0.0) -> None:
        self.grace = grace
        self._begin = begin  # where counting begins
        self._gap = math.inf
        self._since = 0.0

    def is_stalled(self, iteration: float, gap: float) -> bool:
        """Whether `gap`, reached at `iteration` (steps, or passes where a step makes several), comes too late."""
        if math.isnan(gap):  # nothing is known yet
            return False
        iteration -= self._begin
        if gap < self._gap and gap <= 0.5 * self._gap:
            self._gap, self._since = gap, iteration
            return False
        return iteration > 4 * self._since + self.grace


class LinkWatch:
    """Whether a solver that another one waits for gets nowhere: seen before the whole run would be called stalled.

    A gap beyond the objective is worth no more than the objective, which the dual point zero proves. A solver that
    tells no gap for long is not waited for either.
    """

    def __init__(self, n_entries: int) -> None:
        self._grace = LINK_SHARE * grace_steps(n_entries)
        self._watch = StallWatch(int(self._grace))
        self._told = 0.0  # when a gap was last told

    def is_over(self, step: Step) -> bool:
        """Whether the other one should begin."""
        if math.isnan(step.gap):
            return effort(step) - self._told > self._grace
        self._told = effort(step)
        gap = step.gap if math.isnan(step.objective) else min(step.gap, abs(step.objective))
        return self._watch.is_stalled(self._told, gap)
