"""One file of LIBSVM text as rows for training, read on a thread of its own while the rest of the program loads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, Any

from .. import _core
from .files import Bytes, read_whole

if TYPE_CHECKING:
    from .sparse_rows import CompressedRows

_LARGEST_INDEX = 2**31 - 2

Found = tuple["CompressedRows", Any, bool]


def start_reading(path: str, n_threads: int) -> Callable[[], Found]:
    """Begins to read; the function that is returned waits for rows, labels and whether indices count from 0.

    The parser needs neither Python nor NumPy, so both can be busy elsewhere: importing takes as long as reading some
    megabytes.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.svm")
    ...     with open(path, "w") as file:
    ...         written = file.write("1 1:2\\n-1 3:4\\n")
    ...     rows, y, zero_based = start_reading(path, 1)()
    >>> rows.shape, y.tolist(), zero_based
    ((2, 3), [1.0, -1.0], False)
    """
    held: dict[str, Any] = {}

    def work() -> None:
        try:
            name, content = _content(path)
            held["found"] = name, _parse(name, content, n_threads)
        except BaseException as error:  # told to whoever waits
            held["error"] = error

    thread = Thread(target=work, daemon=True)
    if path != "-":  # whoever ends the program must not find standard input in a thread's hands
        thread.start()

    def wait() -> Found:
        thread.join() if path != "-" else work()
        if "error" in held:
            raise held["error"]
        return _rows(*held.pop("found"))

    return wait


def _content(path: str) -> tuple[str, Bytes]:
    return ("<stdin>", sys.stdin.buffer.read()) if path == "-" else read_whole(path)


def _parse(name: str, content: Bytes, n_threads: int) -> _core.SvmlightFloat64 | None:
    """Reads as if counting from 1; an index 0 is noticed. Nothing in, nothing out."""
    if not len(content):
        return None
    text: Any = memoryview(content)
    try:
        parsed = _core.parse_svmlight_float64(
            text,
            base=1,
            lowest=0,
            highest=_LARGEST_INDEX,
            queries=False,
            many_labels=False,
            n_threads=n_threads,
        )
    except ValueError as error:
        raise ValueError(f"{name}:{error}") from None
    return parsed


def _rows(name: str, parsed: _core.SvmlightFloat64 | None) -> Found:
    from .sparse_rows import CompressedRows

    if parsed is None or len(parsed.indptr) == 1:
        raise ValueError(f"{name}: no rows: expected lines of the form 'label index:value ...'")
    zero_based = parsed.lowest == 0
    if zero_based:
        parsed.indices[:] += 1
    width = max(0, parsed.highest + (1 if zero_based else 0))
    return CompressedRows(parsed.indptr, parsed.indices, parsed.values, width), parsed.labels, zero_based
