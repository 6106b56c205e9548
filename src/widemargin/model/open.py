"""Which format a model file has, by its first bytes when it is read and by its name when it is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..data.files import Source, is_stream, read_whole
from .liblinear_text import START
from .wm_header import MAGIC

if TYPE_CHECKING:
    from .model import Model

# The module and the function for each format; loaded when a file of that format is there.
_READERS = {MAGIC: ("store", "parse_wm"), START: ("liblinear", "parse_liblinear")}
_WRITERS = {
    ".model": ("liblinear", "write_liblinear"),
    ".liblinear": ("liblinear", "write_liblinear"),
    ".onnx": ("onnx_export", "write_onnx"),
}
_OWN = ("store", "write_wm")


def load_model(source: Source) -> Any:
    """Reads a model: a `.wm` file or a LIBLINEAR model, told apart by their first bytes.

    A linear model is a `Model`; a model of sequences is the `ChainCRF` or `ChainSVM` that was saved.

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
            return _loaded(reader)(name, content)
    if not len(content):
        raise ValueError(f"{name}: not a model: the file is empty")
    raise ValueError(f"{name}: not a model: it starts neither as a Widemargin nor as a LIBLINEAR model")


def load_linear(source: Source) -> Model:
    """Reads a linear model; a model of sequences is refused."""
    model = load_model(source)
    if hasattr(model, "transitions_"):
        raise ValueError(f"{source}: this is a model of sequences: use widemargin tag, or load_model in Python")
    linear: Model = model
    return linear


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
        return _loaded(_OWN)
    return _loaded(_WRITERS.get(os.path.splitext(os.fspath(target))[1].lower(), _OWN))  # type: ignore[arg-type]


def _loaded(place: tuple[str, str]) -> Callable[..., Any]:
    module, name = place
    found: Callable[..., Any] = getattr(import_module(f".{module}", __package__), name)
    return found
