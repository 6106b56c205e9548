"""Several classes: one module per method, chosen by name.

A method is a `Strategy`; to add one, write its module and give it a line in `STRATEGIES`.
"""

from __future__ import annotations

from importlib import import_module

from .strategy import Strategy

# multi_class= -> (module in this package, class)
STRATEGIES = {
    "ovr": ("one_vs_rest", "OneVsRest"),
    "ovo": ("one_vs_one", "OneVsOne"),
    "dag": ("dag", "Dag"),
    "crammer_singer": ("joint", "JointSVM"),
    "multinomial": ("joint", "Multinomial"),
}

# The methods that are one problem of all classes, whose losses have the same names.
JOINT = ("crammer_singer", "multinomial")


def make_strategy(name: str) -> Strategy:
    """The multi-class method of that name.

    Examples
    --------
    >>> make_strategy("ovr")
    OneVsRest()
    """
    if name not in STRATEGIES:
        raise ValueError(f"unknown multi_class {name!r}: use one of {', '.join(STRATEGIES)}")
    module, attribute = STRATEGIES[name]
    found: type[Strategy] = getattr(import_module(f".{module}", __name__), attribute)
    return found()
