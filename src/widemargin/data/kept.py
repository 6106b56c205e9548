"""What fits keep for one another: one cache, one memory budget.

Columns, compact copies, squared lengths and Gram matrices are made for a fit and serve the next one over the same rows.
They are kept under an owner, such as the rows they were made from, and go when it goes, or when the budget is used up
and they are the ones that were used longest ago. The newest stays, however large, for its own fit needs it.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, TypeVar

from .sizes import ENTRY

T = TypeVar("T")
BUDGET = 2**31  # bytes


class Owner:
    """Somebody for whom things are kept: rows, or the fits of one problem along C."""

    def __init__(self) -> None:
        self.building = threading.RLock()  # threads that share the owner make each thing once

    def __reduce__(self) -> tuple[type[Owner], tuple[()]]:
        """A copy, or what comes out of a pickle, is another owner."""
        return Owner, ()


class Shelf:
    """Things by owner and name.

    Examples
    --------
    >>> shelf, rows = Shelf(budget=100), Owner()
    >>> shelf.get(rows, "squares", lambda: [1, 4], n_bytes=60), shelf.get(rows, "squares", lambda: [], n_bytes=60)
    ([1, 4], [1, 4])
    >>> _ = shelf.get(rows, "cubes", lambda: [1, 8], n_bytes=60)
    >>> shelf.get(rows, "squares", lambda: "made anew", n_bytes=60)
    'made anew'
    """

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self._lock = threading.Lock()
        self._things: OrderedDict[tuple[int, str], tuple[Any, int]] = OrderedDict()
        self._held = 0
        self._gone: deque[tuple[int, str]] = deque()  # of owners that are gone, and still to be dropped
        self._watched: set[tuple[int, str]] = set()  # whose owners tell when they go

    def get(self, owner: Owner, name: str, build: Callable[[], T], n_bytes: int | None = None) -> T:
        """The thing of that name, built if it is not there."""
        key = id(owner), name
        with owner.building:
            with self._lock:
                self._clear()
                if key in self._things:
                    self._things.move_to_end(key)
                    found: T = self._things[key][0]
                    return found
            value = build()
            self._put(owner, key, value, size_of(value) if n_bytes is None else n_bytes)
            return value

    def _put(self, owner: Owner, key: tuple[int, str], value: Any, n_bytes: int) -> None:
        with self._lock:
            self._things[key] = value, n_bytes
            self._held += n_bytes
            while self._held > self.budget and len(self._things) > 1:
                self._held -= self._things.popitem(last=False)[1][1]
        if key not in self._watched:
            self._watched.add(key)
            weakref.finalize(owner, self._forget, key)

    def _forget(self, key: tuple[int, str]) -> None:
        """Drops what belonged to an owner that is gone; it may go at any moment, even while the lock is held."""
        self._gone.append(key)
        if self._lock.acquire(blocking=False):
            self._clear()
            self._lock.release()

    def _clear(self) -> None:
        while self._gone:
            key = self._gone.popleft()
            self._watched.discard(key)
            self._held -= self._things.pop(key, (None, 0))[1]


def size_of(value: Any) -> int:
    """About how many bytes a thing takes."""
    if isinstance(value, tuple):
        return sum(size_of(part) for part in value)
    return int(getattr(value, "nbytes", 0) or ENTRY * getattr(value, "nnz", 0))


SHELF = Shelf()


def kept(owner: Owner, name: str, build: Callable[[], T]) -> T:
    """The thing of that name that is kept for the owner, built if it is not there."""
    return SHELF.get(owner, name, build)
