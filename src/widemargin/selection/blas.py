"""BLAS kept to one thread while fits run side by side: its threads would fight with them over the cores.

The number of BLAS threads belongs to the whole process. Searches may overlap (one per class, in threads), so the first
one to come sets the limit and the last one to go lifts it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _SharedLimit:
    """Counts who needs the limit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    def enter(self) -> None:
        from threadpoolctl import threadpool_limits

        with self._lock:
            if self._users == 0:
                self._limit = threadpool_limits(1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


_shared = _SharedLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """While this is open, BLAS runs on one thread.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    _shared.enter()
    try:
        yield
    finally:
        _shared.leave()
