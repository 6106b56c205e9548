"""How many passes the next native call makes: decided by counting alone, never by the clock.

Calls grow from one pass to many. One that the clock cuts is finished before anything is decided, so that the same seed
gives the same run on a fast and on a slow machine.
"""

from __future__ import annotations

# Passes in one native call, at most: between calls the run is watched, and may be handed over.
MOST_PASSES = 32


class PassPlan:
    """The present call: passes planned and passes left of it."""

    def __init__(self, *, one_by_one: bool) -> None:
        self._most = 1 if one_by_one else MOST_PASSES
        self._planned = 0
        self._left = 0

    @property
    def midway(self) -> bool:
        """Whether the clock has cut the present call."""
        return self._left > 0

    def next_call(self, limit: float) -> int:
        """Passes to make now, at most `limit`: the rest of the present call, or a new one twice as long."""
        if self._left == 0:
            self._planned = self._left = min(max(1, 2 * self._planned), self._most)
        return int(min(self._left, limit))

    def made(self, passes: int, *, finished: bool) -> None:
        """Notes the passes made; a call that found nothing more to do is over."""
        self._left = 0 if finished else self._left - passes
