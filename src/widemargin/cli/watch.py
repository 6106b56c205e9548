"""What a user sees while a run goes on: a bar on a terminal, a line now and then in a log, nothing if asked."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import Any

SECONDS_BETWEEN_LINES = 2.0


def watch_for(quiet: bool, every_step: bool = False) -> Callable[[str, float], AbstractContextManager[Any]] | None:
    """What `fit_model` takes as watch; with `every_step` the trace holds every step even if nothing is shown."""
    if quiet:
        return _silent if every_step else None
    return _bar if sys.stderr.isatty() and find_spec("rich") is not None else _lines


@contextmanager
def _silent(title: str, tol: float) -> Iterator[Any]:
    yield lambda row: None


@contextmanager
def _bar(title: str, tol: float) -> Iterator[Any]:
    from ..progress import show_progress

    if title:
        tell(title)
    with show_progress(tol) as shown:
        yield shown


@contextmanager
def _lines(title: str, tol: float) -> Iterator[Any]:
    from ..progress import describe

    last = time.monotonic()

    def shown(row: Any) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            tell(f"{title + ': ' if title else ''}{row.seconds:7.1f} s {describe(row, tol)}")

    yield shown


def tell(line: str) -> None:
    """A line for people, on standard error."""
    print(line, file=sys.stderr, flush=True)
