"""One thread that works ahead: while one thing is used, the next is made, and never more than these two exist."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_END = object()


def read_ahead(makers: Iterable[Callable[[], T]]) -> Iterator[T]:
    """What each of the functions returns, in their order; the next is made on a thread while the last is in use.

    Examples
    --------
    >>> list(read_ahead([lambda: 1, lambda: 2]))
    [1, 2]
    """
    made: SimpleQueue[Any] = SimpleQueue()
    wanted = threading.Semaphore(1)
    stopped = threading.Event()

    def work() -> None:
        try:
            for make in makers:
                wanted.acquire()
                if stopped.is_set():
                    return
                made.put(make())
            made.put(_END)
        except BaseException as error:  # raised where it is waited for
            made.put(_Failure(error))

    thread = threading.Thread(target=work, name="widemargin-reads-ahead", daemon=True)
    thread.start()
    try:
        yield from _taken(made, wanted)
    finally:
        stopped.set()
        wanted.release()
        thread.join()


def _taken(made: SimpleQueue[Any], wanted: threading.Semaphore) -> Iterator[Any]:
    while (thing := made.get()) is not _END:
        if isinstance(thing, _Failure):
            raise thing.error
        wanted.release()
        yield thing
        del thing  # gone before the next but one is begun


class _Failure:
    """What went wrong on the thread."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
