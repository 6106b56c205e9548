"""A search for C: score and number of nonzeros against C, with the chosen value marked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .convergence import COLOURS, GRID, INK, _new_figure

if TYPE_CHECKING:
    from ..selection.result import SearchResult

SCORE_COLOUR, COUNT_COLOUR = COLOURS[0], COLOURS[1]


def plot_search(result: SearchResult, path: str | Path | None = None, *, title: str = "") -> Any:
    """Draws the mean score of held-out rows with its spread over the folds, and below it how many features are used.

    Parameters
    ----------
    result : SearchResult
    path : path, optional
        Where to save the picture; the ending decides the format.
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from widemargin import find_C
    >>> from widemargin.plots import plot_search
    >>> found = find_C([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1], Cs=[0.01, 0.1, 1.0], cv=2)
    >>> len(plot_search(found).axes)
    2
    """
    figure = _new_figure(1)
    figure.set_size_inches(5.6, 4.6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    _draw_scores(above, result)
    _draw_counts(below, result)
    for panel in (above, below):
        _dress(panel, result)
    below.set_xlabel("C", color=INK)
    if title:
        figure.suptitle(title, color=INK, x=0.01, ha="left", fontsize=11)
    if path is not None:
        figure.savefig(path)
    return figure


def _draw_scores(panel: Any, result: SearchResult) -> None:
    mean = result.mean_scores
    spread = result.scores.std(axis=1)
    panel.fill_between(result.Cs, mean - spread, mean + spread, color=SCORE_COLOUR, alpha=0.15, linewidth=0)
    panel.plot(result.Cs, mean, "o-", color=SCORE_COLOUR, linewidth=1.6, markersize=4)
    panel.plot([result.best_C], [result.best_score], "o", markersize=9, markerfacecolor="none", markeredgecolor=INK)
    panel.set_ylabel(f"{result.scoring} of held-out rows", color=INK)
    panel.set_title(
        f"best C = {result.best_C:.4g}   {result.scoring} {result.best_score:.4f}", color=INK, fontsize=9, loc="right"
    )


def _draw_counts(panel: Any, result: SearchResult) -> None:
    counts = np.array([candidate.nonzeros for candidate in result.candidates])
    panel.plot(result.Cs, counts, "o-", color=COUNT_COLOUR, linewidth=1.6, markersize=4)
    panel.set_ylabel("nonzeros", color=INK)
    panel.set_ylim(0, max(1.0, 1.1 * counts.max()))


def _dress(panel: Any, result: SearchResult) -> None:
    panel.set_xscale("log")
    panel.axvline(result.best_C, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    panel.grid(color=GRID, linewidth=0.7)
    panel.tick_params(which="both", color=GRID, labelcolor=INK)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        panel.spines[side].set_color(GRID)
