"""What a file of blocks was made from: names, sizes and times of files, and the options of the reading."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .chunk_reader import ChunkReader


def fingerprint(paths: Iterable[Any], **options: Any) -> dict[str, Any]:
    """The files and options that determine the rows."""
    return {"files": [_file(os.fspath(path)) for path in paths], "options": {k: _plain(v) for k, v in options.items()}}


def _file(path: str) -> dict[str, Any]:
    if path == "-":
        return {"name": "-"}
    status = os.stat(path)
    return {"name": os.path.basename(path), "size": status.st_size, "time": status.st_mtime_ns}


def _plain(option: Any) -> Any:
    return option if option is None or isinstance(option, bool | int | float | str) else str(option)


def difference(wanted: dict[str, Any], found: dict[str, Any]) -> str | None:
    """In what two fingerprints differ, for people; None where they agree.

    Examples
    --------
    >>> one = {"files": [{"name": "a.svm", "size": 3, "time": 1}], "options": {"zero_based": "auto"}}
    >>> difference(one, one) is None
    True
    >>> difference(one, {**one, "options": {"zero_based": True}})
    "it was made with zero_based=True, asked for is zero_based='auto'"
    """
    wanted_files, found_files = wanted.get("files", []), found.get("files", [])
    names = [one.get("name") for one in wanted_files], [one.get("name") for one in found_files]
    if names[0] != names[1]:
        return f"it was made from {_named(names[1])}, asked for is {_named(names[0])}"
    for one, other in zip(wanted_files, found_files, strict=True):
        if one != other:
            return f"{one.get('name')} has changed since"
    options, others = wanted.get("options", {}), found.get("options", {})
    for key in sorted(options.keys() | others.keys()):
        if options.get(key) != others.get(key):
            return f"it was made with {key}={others.get(key)!r}, asked for is {key}={options.get(key)!r}"
    return None


def _named(names: list[Any]) -> str:
    return ", ".join(map(str, names)) or "rows that were not in a file"


def stale(path: Any, wanted: dict[str, Any]) -> str | None:
    """Why the file at that path cannot stand for what is wanted; None if it can."""
    try:
        reader = ChunkReader(os.fspath(path))
    except FileNotFoundError:
        return f"{path}: there is no such file"
    except ValueError as error:
        return str(error)
    try:
        why = difference(wanted, reader.about.source)
    finally:
        reader.close()
    return None if why is None else f"{path}: {why}"
