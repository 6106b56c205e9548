"""Which format a model file has, by its first bytes when it is read and by its name when it is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..data.files import Source, is_stream, read_whole
from .liblinear import START, parse_liblinear, write_liblinear
from .model import Model
from .store import MAGIC, parse_wm, write_wm

_READERS: dict[bytes, Callable[[str, Any], Model]] = {MAGIC: parse_wm, START: parse_liblinear}
_WRITERS: dict[str, Callable[..., None]] = {".model": write_liblinear, ".liblinear": write_liblinear}


def load_model(source: Source) -> Model:
    """Reads a model: a `.wm` file or a LIBLINEAR model, told apart by their first bytes.

    Parameters
    ----------
    source : path or binary file

    Examples
    --------
    >>> import io
    >>> from widemargin.model import load_model
    >>> text = b"solver_type L2R_LR\\nnr_class 2\\nlabel 1 -1\\nnr_feature 2\\nbias -1\\nw\\n0.5 \\n-2 \\n"
    >>> load_model(io.BytesIO(text))
    Model(2 classes, 2 features, 2 nonzeros, loss='logistic')
    """
    name, content = read_whole(source)
    for start, reader in _READERS.items():
        if content[: len(start)] == start:
            return reader(name, content)
    if not len(content):
        raise ValueError(f"{name}: not a model: the file is empty")
    raise ValueError(f"{name}: not a model: it starts neither as a Widemargin nor as a LIBLINEAR model")


def is_model(path: str) -> bool:
    """Whether a file starts like a model; False where it cannot be read."""
    try:
        with open(path, "rb") as file:
            start = file.read(16)
    except OSError:
        return False
    return any(start.startswith(magic) for magic in _READERS)


def writer_of(target: Source) -> Callable[..., None]:
    """The function that writes the format which the name asks for."""
    if is_stream(target):
        return write_wm
    return _WRITERS.get(os.path.splitext(os.fspath(target))[1].lower(), write_wm)  # type: ignore[arg-type]
