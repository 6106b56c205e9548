"""BLAS kept to one thread: where fits run side by side its threads would fight with them over the cores, and within a
fit `n_jobs` alone says how many threads there are. Small factorisations are faster so, and no result depends on a
machine's cores.

The number of BLAS threads belongs to the whole process. Fits may overlap (one per class, in threads), so the first one
to come sets the limit and the last one to go lifts it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _SharedLimit:
    """Counts who needs the limit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limit = _libraries().limit(limits=1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


@cache
def _libraries() -> Any:
    """The BLAS libraries of this process: SciPy brings one of its own, which must be there before they are listed."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


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
