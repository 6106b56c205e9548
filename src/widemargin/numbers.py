"""Settings that must be numbers: checked once, with an error that names them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def as_number(name: str, value: Any, *, least: float = -np.inf, above: float = -np.inf, below: float = np.inf) -> float:
    """`value` as a finite float >= least, > above and < below."""
    number = float(value) if isinstance(value, Real) else np.nan
    if not (np.isfinite(number) and number >= least and above < number < below):
        bound = f" > {above:g}" if above > -np.inf else f" >= {least:g}" if least > -np.inf else ""
        bound += f" and < {below:g}" if below < np.inf else ""
        raise ValueError(f"{name} must be a finite number{bound}, got {value!r}")
    return number


def as_whole(name: str, value: Any, *, least: int) -> int:
    """`value` as an int >= least."""
    number = int(value) if isinstance(value, Integral) else None
    if number is None or number < least:
        raise ValueError(f"{name} must be at least {least} and whole, got {value!r}")
    return number
