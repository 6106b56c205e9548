"""Ctrl-C during a run: noted, and acted upon between two steps, so that nothing is left half-done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from ...threads import stop_asked


@dataclass
class _Note:
    """A plain flag: a signal handler must not wait for a lock that the interrupted code may hold."""

    came: bool = False


@contextmanager
def catch_interrupt() -> Iterator[Callable[[], bool]]:
    """Yields a function that tells whether Ctrl-C came. A second Ctrl-C raises KeyboardInterrupt at once."""
    noted = _Note()
    if threading.current_thread() is not threading.main_thread():
        yield stop_asked  # only the main thread may handle signals; those which work for it hear of them this way
        return

    def note(signum: int, frame: FrameType | None) -> None:
        if noted.came:
            raise KeyboardInterrupt
        noted.came = True

    previous = signal.getsignal(signal.SIGINT)
    if previous is not signal.default_int_handler:
        yield lambda: noted.came  # the application has its own way; it stays in charge
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted.came
    finally:
        signal.signal(signal.SIGINT, previous)
