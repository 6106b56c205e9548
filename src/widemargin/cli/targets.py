"""Names that results are saved under, looked at before any work is done."""

from __future__ import annotations

import os


def refuse_target(target: str, what: str, *others: str | None) -> None:
    """Refuses a name under which nothing can be saved, or that another file of the command has."""
    refuse_overwriting(target, what, *others)
    folder = os.path.dirname(os.path.realpath(target))
    if os.path.isdir(target):
        raise ValueError(f"{target}: is a directory, {what} needs the name of a file")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{target}: its directory does not exist or cannot be written to")


def refuse_overwriting(target: str, what: str, *others: str | None) -> None:
    """Refuses a name that one of the other files of the command has: it would be lost."""
    if any(other not in (None, "-") and os.path.realpath(str(other)) == os.path.realpath(target) for other in others):
        raise ValueError(f"{target}: {what} would overwrite another file of this command: give it a name of its own")
