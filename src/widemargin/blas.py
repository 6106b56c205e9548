"""BLAS kept to one thread: where fits run side by side its threads would fight with them over the cores, and within a
fit `n_jobs` alone says how many threads there are. Small factorisations are faster so, and no result depends on a
machine's cores.

The number of BLAS threads belongs to the whole process. Fits may overlap (one per class, in threads), so the first one
that uses BLAS sets the limit and the last one to go lifts it. A fit that never uses it loads nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _SharedLimit:
    """Counts the fits under way; limits BLAS from its first use on until the last of them ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fits = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            self._fits += 1

    def set(self) -> None:
        with self._lock:
            if self._fits > 0 and self._limit is None:
                self._limit = _libraries().limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self._lock:
            self._fits -= 1
            if self._fits == 0 and self._limit is not None:
                self._limit.restore_original_limits()
                self._limit = None


@cache
def _libraries() -> Any:
    """The BLAS libraries of this process: SciPy brings one of its own, which must be there before they are listed."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_shared = _SharedLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """While this is open, BLAS runs on one thread for all who call `limit_blas` before they use it.

    Examples
    --------
    >>> with one_blas_thread():
    ...     limit_blas()
    """
    _shared.enter()
    try:
        yield
    finally:
        _shared.leave()


def limit_blas() -> None:
    """To be called before products and factorisations of matrices: one thread until the fits under way have ended."""
    _shared.set()
