"""Ctrl-C during a run: noted, and acted upon between two steps, so that nothing is left half-done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def catch_interrupt() -> Iterator[Callable[[], bool]]:
    """Yields a function that tells whether Ctrl-C came. A second Ctrl-C raises KeyboardInterrupt at once."""
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came.is_set  # only the main thread may handle signals
        return

    def note(signum: int, frame: FrameType | None) -> None:
        if came.is_set():
            raise KeyboardInterrupt
        came.set()

    previous = signal.getsignal(signal.SIGINT)
    if previous is not signal.default_int_handler:
        yield came.is_set  # the application has its own way; it stays in charge
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield came.is_set
    finally:
        signal.signal(signal.SIGINT, previous)
