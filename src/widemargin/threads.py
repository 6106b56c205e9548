"""How many threads `n_jobs` asks for, and calls on so many."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .numbers import as_whole


def thread_count(n_jobs: int) -> int:
    """Threads for `n_jobs`: as many as asked for, counted back from all cores below zero.

    >>> thread_count(1)
    1
    """
    if as_whole("n_jobs", n_jobs, least=-(2**31)) == 0:
        raise ValueError("n_jobs must not be 0: use 1 for one thread, -1 for all cores")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # Results do not depend on it, and threads beyond a few per core only wait.
    return min(n_jobs, 8 * cores) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


# In a thread of `thread_map`: set when nobody waits for its results any more.
_stop: ContextVar[threading.Event | None] = ContextVar("_stop", default=None)


def stop_asked() -> bool:
    """Whether the results of this thread are no longer wanted."""
    event = _stop.get()
    return event is not None and event.is_set()


@contextmanager
def thread_map(threads: int) -> Iterator[Callable[..., Any]]:
    """`map`, on so many threads if there are several.

    After Ctrl-C or an error, what has not begun does not begin, and runs that are under way end at their next step.

    >>> with thread_map(2) as map_calls:
    ...     list(map_calls(abs, [-1, 2]))
    [1, 2]
    """
    if threads <= 1:
        yield map
        return
    from concurrent.futures import ThreadPoolExecutor  # not needed before

    stop = threading.Event()
    pool = ThreadPoolExecutor(threads, initializer=_stop.set, initargs=(stop,))
    try:
        yield pool.map
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
