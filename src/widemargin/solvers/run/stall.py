"""When a run is getting nowhere."""

from __future__ import annotations

import math

# A step looks at each entry of the data about once: so many entries are about a second of work.
_ENTRIES = 1e9
_LEAST, _MOST = 1_000, 100_000


def grace_steps(n_entries: int) -> int:
    """Steps that a run may always take: many on small data, where a step costs nothing and plateaus are long."""
    return int(min(_MOST, max(_LEAST, _ENTRIES / max(1, n_entries))))


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
