"""A clock that passes over the data move, one second each, so that limits and interrupts are tested without time.

Within `ticking()` every call of the native core that reads rows or a matrix counts; `at(n, act)` acts at the n-th. What
a run does after its time is up, or after Ctrl-C, is then a number of passes.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from widemargin import _core

# It reads a matrix that is no `Rows`.
MATRICES = {"quadratic_passes"}
# What passes are given, not what makes them.
NO_PASSES = {"Rows", "Order", "Loss", "Chains", "Pairs"}


class Ticks:
    """How many passes were made, and what is to happen at which."""

    def __init__(self) -> None:
        self.count = 0
        self._acts: dict[int, Callable[[], None]] = {}

    def at(self, n: int, act: Callable[[], None]) -> None:
        self._acts[n] = act

    def tick(self) -> None:
        self.count += 1
        self._acts.pop(self.count, lambda: None)()

    def seconds(self) -> float:
        return float(self.count)


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@contextmanager
def ticking() -> Iterator[Ticks]:
    """Counts passes and sets the clock by them."""
    ticks = Ticks()
    with pytest.MonkeyPatch.context() as patch:
        for name in set(dir(_core)) - NO_PASSES:
            native = getattr(_core, name)
            if isinstance(native, type):
                patch.setattr(_core, name, _class(native, ticks))
            elif callable(native) and not name.startswith("_"):
                patch.setattr(_core, name, _counted(native, ticks, always=name in MATRICES))
        patch.setattr(time, "perf_counter", ticks.seconds)
        yield ticks


@contextmanager
def usual_ctrl_c() -> Iterator[None]:
    """The interpreter's own handler, whatever the test runner installed."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _counted(native: Any, ticks: Ticks, always: bool) -> Callable[..., Any]:
    def call(*args: Any, **settings: Any) -> Any:
        if always or any(isinstance(arg, _core.Rows) for arg in args):
            ticks.tick()
        return native(*map(_bare, args), **settings)

    return call


def _class(native: Any, ticks: Ticks) -> Callable[..., Any]:
    make = _counted(native, ticks, always=False)
    return lambda *args, **settings: _Object(make(*args, **settings), ticks)


def _bare(value: Any) -> Any:
    return value.native if isinstance(value, _Object) else value


class _Object:
    """A native object whose methods count."""

    def __init__(self, native: Any, ticks: Ticks) -> None:
        self.__dict__.update(native=native, ticks=ticks)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.native, name)
        return _counted(found, self.ticks, always=True) if callable(found) else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.native, name, value)
