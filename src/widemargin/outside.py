"""Warnings that point at the line of the user's program, however deep in the package they are made."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

HERE = str(Path(__file__).parent)


def warn_outside(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns as if the first caller outside of this package did."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
