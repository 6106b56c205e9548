"""When a run is getting nowhere."""

from __future__ import annotations

import math


class StallWatch:
    """The gap must halve while the number of steps doubles: slower than 1/steps is called a stall.

    `grace` steps are given first, so that a slow start is not mistaken for one.
    """

    def __init__(self, grace: int = 1000) -> None:
        self.grace = grace
        self._gap = math.inf
        self._since = 0

    def is_stalled(self, iteration: int, gap: float) -> bool:
        """Whether `gap`, reached at `iteration`, comes too late."""
        if math.isnan(gap):  # nothing is known yet
            return False
        if gap < self._gap and gap <= 0.5 * self._gap:
            self._gap, self._since = gap, iteration
            return False
        return iteration > 2 * self._since + self.grace
