"""Trained models on disk: the `.wm` file, LIBLINEAR's text format, and the way back into scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Model as Model
    from .open import load_model as load_model

__all__ = ["Model", "load_model"]

_HOME = {"Model": "model", "load_model": "open"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
