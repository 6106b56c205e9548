"""Parts of the package that a version may be without."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def part(module: str, name: str, what: str) -> Any:
    """A name of one of our modules; where the module is missing, the error says in words what is."""
    try:
        return getattr(import_module(f"widemargin.{module}"), name)
    except ModuleNotFoundError:
        raise ValueError(f"{what} is not in this version of Widemargin") from None
