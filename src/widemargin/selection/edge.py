"""The warning of a search whose best value lies at an end of the range that it chose itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..outside import warn_outside
from .stopping import OUT_OF_TIME

if TYPE_CHECKING:
    from .result import SearchResult

# The best value, and those that were not tried, in words.
EXTREME = {"upper": ("largest", "larger"), "lower": ("smallest", "smaller")}


def told_of_edge(found: SearchResult) -> SearchResult:
    """The same result, after a warning where its best value lies at an end and those beyond might be better."""
    if found.edge is not None:
        warn_outside(edge_message(found))
    return found


def edge_message(found: SearchResult) -> str:
    """What is known: where the best value lies, why the search went no further, and what to do; empty if at no end."""
    if found.edge is None:
        return ""
    most, more = EXTREME[found.edge]
    out_of_time = found.ended == OUT_OF_TIME
    why = OUT_OF_TIME if out_of_time else "the search goes no further by itself"
    more_time = " give it more time (max_seconds), or" if out_of_time else ""
    return (
        f"the best C is the {most} of {len(found.Cs)} values tried, {found.best_C:.3g} ({found.scoring} "
        f"{found.best_score:.4g}), and {why}: {more} values may be better. To look there,{more_time} name the values "
        "to try (Cs); features of very different scales want very different values: scaling them narrows the search."
    )
