"""A time by which several fits together are to end."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

# `solve` wants some time, be it ever so little: what is there when it is over is returned.
LEAST = 1e-3


@dataclass(frozen=True)
class Deadline:
    """A moment on the clock of `time.perf_counter`, or none.

    Examples
    --------
    >>> Deadline.after(None).share() is None, Deadline.after(None).passed
    (True, False)
    >>> Deadline.after(1e-9).share(0, 3)
    0.001
    """

    at: float = math.inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The moment so many seconds from now; None for no limit."""
        return cls() if seconds is None else cls(time.perf_counter() + seconds)

    @property
    def passed(self) -> bool:
        """Whether that moment is over."""
        return time.perf_counter() >= self.at

    def share(self, k: int = 0, count: int = 1, workers: int = 1) -> float | None:
        """The seconds of fit k of `count`, so many at a time, if the rest is to have as much; None for no limit."""
        rounds = -(-(count - k) // workers)
        return None if math.isinf(self.at) else max(LEAST, (self.at - time.perf_counter()) / rounds)
