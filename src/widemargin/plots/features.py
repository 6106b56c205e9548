"""The features with the largest weights, as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from .convergence import COLOURS, GRID, INK


def plot_features(groups: Mapping[str, Sequence[tuple[str, float]]], path: str | PathLike[str] | None = None) -> Any:
    """Draws one panel of horizontal bars per group of (feature, weight).

    Examples
    --------
    >>> from widemargin.plots.features import plot_features
    >>> len(plot_features({"spam": [("free", 2.0), ("meeting", -1.0)]}).axes)
    1
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'widemargin[plots]'") from error
    across = min(3, max(1, len(groups)))
    down = math.ceil(max(1, len(groups)) / across)
    longest = max([len(group) for group in groups.values()] or [1])
    figure = Figure(figsize=(1 + 3.6 * across, down * (1 + 0.24 * longest)), dpi=150, layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for panel, (title, features) in zip(panels, groups.items(), strict=False):
        weights = [weight for _, weight in features]
        colours = [COLOURS[0] if weight > 0 else COLOURS[1] for weight in weights]
        panel.barh(range(len(features)), weights, color=colours, height=0.7)
        panel.set_yticks(range(len(features)), [name.replace("$", r"\$") for name, _ in features], fontsize=8)
        panel.invert_yaxis()
        panel.set_title(title.replace("$", r"\$"), color=INK, fontsize=10, loc="left")
        panel.axvline(0, color=INK, linewidth=0.8)
        panel.grid(axis="x", color=GRID, linewidth=0.7)
        panel.set_axisbelow(True)
        for side in ("top", "right", "left", "bottom"):
            panel.spines[side].set_visible(False)
    for panel in panels[len(groups) :]:
        panel.remove()
    if path is not None:
        figure.savefig(path)
    return figure
