"""Settings that must be numbers: checked once, with an error that names them."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any


def as_number(
    name: str, value: Any, *, least: float = -math.inf, above: float = -math.inf, below: float = math.inf
) -> float:
    """`value` as a finite float >= least, > above and < below."""
    number = float(value) if isinstance(value, Real) else math.nan
    if not (math.isfinite(number) and number >= least and above < number < below):
        bound = f" > {above:g}" if above > -math.inf else f" >= {least:g}" if least > -math.inf else ""
        bound += f" and < {below:g}" if below < math.inf else ""
        raise ValueError(f"{name} must be a finite number{bound}, got {value!r}")
    return number


def as_whole(name: str, value: Any, *, least: int) -> int:
    """`value` as an int >= least."""
    number = int(value) if isinstance(value, Integral) else None
    if number is None or number < least:
        raise ValueError(f"{name} must be at least {least} and whole, got {value!r}")
    return number
