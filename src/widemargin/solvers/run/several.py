"""Several problems that do not know of each other: solved one after another, or side by side on threads.

Threads help because passes over the data run without the interpreter's lock. Every run is on its own, so the result
does not depend on how many there are at a time.
"""

from __future__ import annotations

from typing import Protocol

from ...deadline import Deadline
from ...threads import thread_map
from .solution import Solution, Status


class FitNumber(Protocol):
    """Solves problem number k in so many seconds, if there is a limit."""

    def __call__(self, k: int, seconds: float | None) -> Solution: ...


def solve_each(fit: FitNumber, count: int, *, workers: int = 1, max_seconds: float | None = None) -> list[Solution]:
    """The solutions of problems 0 .. count - 1; after Ctrl-C those up to the one which it ended, if nothing is raised.

    `max_seconds` is for all together: each gets its share of what is left when it begins. On threads Ctrl-C raises
    KeyboardInterrupt, and what has not begun does not begin.
    """
    deadline = Deadline.after(max_seconds)
    workers = min(workers, count)

    def run(k: int) -> Solution:
        return fit(k, deadline.share(k, count, workers))

    found: list[Solution] = []
    with thread_map(workers) as map_runs:
        for solution in map_runs(run, range(count)):
            found.append(solution)
            if solution.status is Status.INTERRUPTED:
                break
    return found


def solve_all(fit: FitNumber, count: int, *, workers: int = 1, max_seconds: float | None = None) -> list[Solution]:
    """The solutions of all problems 0 .. count - 1, none of which can be missed.

    Ctrl-C raises KeyboardInterrupt, unless the problem it ended is the only one. The words are those of `solve_each`.
    """
    solutions = solve_each(fit, count, workers=workers, max_seconds=max_seconds)
    if count > 1 and solutions[-1].status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solutions
