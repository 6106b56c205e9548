"""Convergence: how fast runs approach the optimum, against time and against passes over the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..solvers.run.trace import Trace, TraceRow

AXES = {"seconds": "seconds", "passes": "passes over the data", "iteration": "outer steps"}
MEASURES = {"gap": "relative duality gap", "suboptimality": "relative distance to the best objective"}
MOST_MARKS = 60
INK, GRID = "#333333", "#dddddd"
# Okabe and Ito's palette: distinguishable for colour-blind readers and in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


@dataclass(frozen=True)
class Curve:
    """One run: its points, where they are exact, and its name."""

    name: str
    rows: Sequence[TraceRow]
    heights: Sequence[float]

    @property
    def is_sparse(self) -> bool:
        """Whether there is room to mark every point; otherwise only the exact ones are."""
        return len(self.rows) <= MOST_MARKS


def plot_convergence(
    runs: Any,
    path: str | Path | None = None,
    *,
    against: Sequence[str] = ("seconds", "passes"),
    measure: str = "gap",
    best: float | None = None,
    tol: float | None = None,
    title: str = "",
) -> Any:
    """Draws one curve per run on a logarithmic scale, one panel per horizontal axis.

    Points that were verified exactly are filled, estimates made during the passes are open (in long runs, a line).

    Parameters
    ----------
    runs : Solution, Trace, sequence of them, or dict from name to one of them
    path : path, optional
        Where to save the picture; the ending decides the format.
    against : sequence of {"seconds", "passes", "iteration"}
        The horizontal axes.
    measure : {"gap", "suboptimality"}
        The relative duality gap, which needs no reference, or the distance of the objective to `best`.
    best : float, optional
        The reference of the suboptimality; by default the lowest exact objective among the runs.
    tol : float, optional
        Draws the tolerance as a line.
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.plots import plot_convergence
    >>> solution = solve(Problem([[0.0], [1.0], [3.0]], [-1, -1, 1]), tol=1e-6)
    >>> figure = plot_convergence({"dual_cd": solution}, tol=1e-6)
    >>> len(figure.axes)
    2
    """
    for axis in against:
        _known("against", axis, AXES)
    _known("measure", measure, MEASURES)
    curves = _curves(runs, measure, best)
    figure = _new_figure(len(against))
    panels = figure.subplots(1, len(against), sharey=True, squeeze=False)[0]
    for panel, axis in zip(panels, against, strict=True):
        _draw(panel, curves, axis, tol)
    panels[0].set_ylabel(MEASURES[measure], color=INK)
    _explain(panels, curves)
    if title:
        figure.suptitle(title, color=INK, x=0.01, ha="left", fontsize=11)
    if path is not None:
        figure.savefig(path)
    return figure


def _known(argument: str, value: str, table: Mapping[str, str]) -> None:
    if value not in table:
        raise ValueError(f"unknown {argument} {value!r}: use one of {', '.join(table)}")


def _curves(runs: Any, measure: str, best: float | None) -> list[Curve]:
    named = [(name, list(getattr(run, "trace", run))) for name, run in _named(runs)]
    finite = [row for _, rows in named for row in rows if math.isfinite(row.objective)]
    if not finite:
        raise ValueError("there is nothing to draw: no run has a trace with a finite objective")
    # An estimate may lie below the optimum, so it is no reference if anything exact is there.
    lowest = min(row.objective for row in [row for row in finite if row.certified] or finite) if best is None else best
    heights = {
        "gap": lambda row: row.relative_gap,
        "suboptimality": lambda row: (row.objective - lowest) / abs(lowest) if lowest else math.nan,
    }
    return [_curve(name, rows, heights[measure]) for name, rows in named]


def _curve(name: str, rows: Sequence[TraceRow], height_of: Callable[[TraceRow], float]) -> Curve:
    """The run as points; what a logarithmic scale cannot show is left out."""
    drawn = [(row, height) for row in rows if 0 < (height := height_of(row)) < math.inf]
    return Curve(name, [row for row, _ in drawn], [height for _, height in drawn])


def _named(runs: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(runs, Mapping):
        return runs.items()
    several = [runs] if isinstance(runs, Trace) or hasattr(runs, "trace") else list(runs)
    return [(getattr(run, "solver", f"run {i + 1}"), run) for i, run in enumerate(several)]


def _new_figure(panels: int) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'widemargin[plots]'") from error
    return Figure(figsize=(1.5 + 3.6 * panels, 3.6), dpi=150, layout="constrained")


def _explain(panels: Sequence[Any], curves: Sequence[Curve]) -> None:
    """Names the curves if there are several, and the two kinds of points if both occur."""
    from matplotlib.lines import Line2D

    kinds = {row.certified for curve in curves if curve.is_sparse for row in curve.rows}
    if len(kinds) == 2:
        marks = [
            Line2D([], [], color=INK, marker="o", markersize=4.5, markerfacecolor=face, linestyle="", label=label)
            for face, label in (("white", "estimated during the passes"), (INK, "proven"))
        ]
        panels[0].legend(handles=marks, loc="upper right", fontsize=8, frameon=False, labelcolor=INK)
    if len(curves) > 1:
        panels[-1].legend(loc="upper right", fontsize=8, frameon=False, labelcolor=INK)


def _draw(panel: Any, curves: Sequence[Curve], axis: str, tol: float | None) -> None:
    for i, curve in enumerate(curves):
        colour = COLOURS[i % len(COLOURS)]
        across = [getattr(row, axis) for row in curve.rows]
        panel.plot(across, curve.heights, color=colour, linewidth=1.6 if curve.is_sparse else 1.0, label=curve.name)
        for exact, face in ((False, "white"), (True, colour)) if curve.is_sparse else ((True, colour),):
            at = [k for k, row in enumerate(curve.rows) if row.certified is exact]
            xs, ys = [across[k] for k in at], [curve.heights[k] for k in at]
            panel.plot(xs, ys, "o", markersize=4.5, markeredgecolor=colour, markerfacecolor=face)
    if tol:
        panel.axhline(tol, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        panel.annotate(
            f"tol = {tol:g}",
            (0.02, tol),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            color=INK,
            fontsize=8,
        )
    panel.set_yscale("log")
    panel.set_xlim(left=0)
    panel.set_xlabel(AXES[axis], color=INK)
    panel.grid(color=GRID, linewidth=0.7)
    panel.tick_params(which="both", color=GRID, labelcolor=INK)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        panel.spines[side].set_color(GRID)
