"""How many threads `n_jobs` asks for."""

from __future__ import annotations

import os


def thread_count(n_jobs: int) -> int:
    """n_jobs threads; -1 for all cores that this process may use, -2 for all but one, and so on.

    Examples
    --------
    >>> thread_count(3)
    3
    """
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: use 1 for one thread, -1 for all cores")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))
