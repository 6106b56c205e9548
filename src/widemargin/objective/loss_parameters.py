"""The parameters of losses, such as the width of an insensitive zone: what each may be, and how it is checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..numbers import as_number


@dataclass(frozen=True)
class Parameter:
    """A number that belongs to a loss.

    Parameters
    ----------
    default : float
    words : str
        What it means, for the command line's help.
    least, above, below : float
        It must be >= least, > above and < below.
    """

    default: float
    words: str = ""
    least: float = -math.inf
    above: float = -math.inf
    below: float = math.inf


def checked(whose: str, known: Mapping[str, Parameter], given: Mapping[str, object]) -> dict[str, float]:
    """All known parameters, as given or by default; refuses one that is unknown or out of its range.

    Examples
    --------
    >>> checked("loss 'huber'", {"delta": Parameter(1.0, above=0)}, {})
    {'delta': 1.0}
    """
    for name in given:
        if name not in known:
            others = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            raise ValueError(f"{whose} has no parameter {name!r}: {others}")
    found = {name: given.get(name, parameter.default) for name, parameter in known.items()}
    return {
        name: as_number(name, value, least=known[name].least, above=known[name].above, below=known[name].below)
        for name, value in found.items()
    }
