"""SciPy's minimisers as generators: control comes back after each of their iterations.

SciPy calls back but does not yield. Its loop therefore runs in a thread of its own which, at each iteration, hands over
the point and sleeps until it is asked for the next; the two threads never run at the same time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from ...blas import limit_blas
from ...vectors import Vector

Minimise = Callable[[Callable[[Vector], None]], Any]


class _Stopped(Exception):
    """Raised inside the minimiser's thread when nobody wants another iteration."""


def iterations(minimise: Minimise) -> Generator[Vector, None, None]:
    """Yields the point after each iteration of `minimise(callback)`, which calls callback(point) itself.

    Examples
    --------
    >>> from scipy.optimize import minimize
    >>> run = lambda callback: minimize(lambda x: (x @ x, 2 * x), [3.0], jac=True, callback=callback)
    >>> [x.round(6) + 0.0 for x in iterations(run)][-1]
    array([0.])
    """
    limit_blas()
    handshake = _Handshake(minimise)
    try:
        while (point := handshake.next_point()) is not None:
            yield point
    finally:
        handshake.stop()


class _Handshake:
    """One thread, one baton."""

    def __init__(self, minimise: Minimise) -> None:
        self._minimise = minimise
        # Plain locks as batons, taken by one thread and given back by the other: the cheapest switch there is.
        self._wanted, self._ready = threading.Lock(), threading.Lock()
        self._wanted.acquire()
        self._ready.acquire()
        self._stopping = False
        self._point: Vector | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="widemargin-minimise", daemon=True)
        self._thread.start()

    def next_point(self) -> Vector | None:
        """Lets the minimiser make one iteration; None when it has ended."""
        self._point = None
        self._wanted.release()
        self._ready.acquire()
        if self._failure is not None:
            raise self._failure
        return self._point

    def stop(self) -> None:
        """Ends the minimiser at the iteration it is waiting in."""
        self._stopping = True
        self._wanted.release()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._wait()
            self._minimise(self._offer)
        except _Stopped:
            pass
        except BaseException as error:  # carried over to the thread that asks
            self._failure = error
        self._point = None
        self._ready.release()

    def _offer(self, point: Vector) -> None:
        self._point = np.array(point)
        self._ready.release()
        self._wait()

    def _wait(self) -> None:
        self._wanted.acquire()
        if self._stopping:
            raise _Stopped
