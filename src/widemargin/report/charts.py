"""Small charts as inline SVG: curves on linear or logarithmic axes, and bars. Nothing is loaded from elsewhere.

Lengths are in units of the drawing, which is as wide as a phone's screen: text stays readable there, and is scaled up
a little elsewhere. Colours come from the page's style sheet by class, so that a dark page has light ink.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 360.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 74.0, 12.0, 14.0, 44.0
N_COLOURS = 7
MOST_MARKS = 60
MOST_CHARACTERS = 18


@dataclass(frozen=True)
class Series:
    """One curve; `spread` is drawn as a band around it."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    spread: Sequence[float] = ()


@dataclass(frozen=True)
class Axis:
    """From numbers to places on the drawing."""

    low: float
    high: float
    log: bool
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where that value is drawn."""
        low, high, value = (map(math.log10, (self.low, self.high, value)) if self.log
                            else (self.low, self.high, value))  # fmt: skip
        return self.start + (self.end - self.start) * (value - low) / (high - low)

    def ticks(self) -> list[float]:
        """Five or so round numbers along the axis."""
        if self.log and self.high / self.low >= 10:
            lowest, highest = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**k for k in range(lowest, highest + 1, max(1, math.ceil((highest - lowest) / 5)))]
        raw = (self.high - self.low) / 4
        scale = 10.0 ** math.floor(math.log10(raw))
        step = scale * next(nice for nice in (1, 2, 2.5, 5, 10) if nice * scale >= raw)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def axis(values: Sequence[float], log: bool, start: float, end: float) -> Axis:
    """An axis that holds all the values; a single one gets some room around it."""
    low, high = min(values), max(values)
    if log:
        low, high = (low / 2, high * 2) if high / low < 1.01 else (low, high)
    elif high - low <= 1e-12 * max(1.0, abs(high)):
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    return Axis(low, high, log, start, end)


def curves(
    series: Sequence[Series],
    x_title: str,
    y_title: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    level: tuple[float, str] | None = None,
    mark: tuple[float, str] | None = None,
) -> str:
    """A chart of curves; `level` is a horizontal line with its name, `mark` a vertical one.

    >>> chart = curves([Series("a", [0, 1, 2], [1.0, 0.1, 0.01])], "seconds", "gap", log_y=True)
    >>> chart.startswith("<svg"), chart.count("<circle")
    (True, 3)
    """
    xs = [x for one in series for x in one.xs] + ([mark[0]] if mark else [])
    ys = [y for one in series for y in one.ys] + ([level[0]] if level else [])
    ys += [y + sign * s for one in series for y, s in zip(one.ys, one.spread, strict=False) for sign in (-1, 1)]
    if not xs or not ys:
        return ""
    across = axis(xs, log_x, LEFT, WIDTH - RIGHT)
    up = axis(ys, log_y, HEIGHT - BOTTOM, TOP)
    parts = _frame(across, up, x_title, y_title)
    for i, one in enumerate(series):
        parts += _curve(one, across, up, i % N_COLOURS)
    if level:
        y = up.at(level[0])
        parts += [
            f'<path class="dashed" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>',
            _text(WIDTH - RIGHT, y - 4, level[1], "end"),
        ]
    if mark:
        x = across.at(mark[0])
        parts += [f'<path class="dashed" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>']
        parts += [_text(min(max(x, LEFT + 60), WIDTH - 70), TOP - 2, mark[1], "middle")]
    return _svg(WIDTH, HEIGHT, f"{y_title} against {x_title}", parts)


def _frame(across: Axis, up: Axis, x_title: str, y_title: str) -> list[str]:
    parts = []
    for value in up.ticks():
        y = up.at(value)
        parts += [
            f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>',
            _text(LEFT - 6, y + 4, f"{value:g}", "end"),
        ]
    for value in across.ticks():
        x = across.at(value)
        parts += [f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>']
        parts += [_text(x, HEIGHT - BOTTOM + 16, f"{value:g}", "middle")]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_title, "middle"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text transform="translate(13 {middle})rotate(-90)" text-anchor="middle">{escape(y_title)}</text>')
    return parts


def _curve(one: Series, across: Axis, up: Axis, colour: int) -> list[str]:
    points = [(across.at(x), up.at(y)) for x, y in zip(one.xs, one.ys, strict=True)]
    parts = []
    if one.spread:
        above = [(x, up.at(y + s)) for (x, _), y, s in zip(points, one.ys, one.spread, strict=True)]
        below = [(x, up.at(y - s)) for (x, _), y, s in zip(points, one.ys, one.spread, strict=True)]
        parts.append(f'<path class="band c{colour}" d="{_path([*above, *below[::-1]])}Z"/>')
    parts.append(f'<path class="curve c{colour}" d="{_path(points)}"/>')
    if len(points) <= MOST_MARKS:
        parts += [f'<circle class="c{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
    return parts


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def bars(items: Sequence[tuple[str, float]]) -> str:
    """Named numbers as bars around a line, negative ones to the left.

    >>> bars([("<b>", 1.0), ("c", -2.0)]).count("<rect")
    2
    """
    most = max([abs(value) for _, value in items] or [0.0])
    if most == 0:
        return ""
    row, names, values = 20.0, 150.0, 56.0
    height = row * len(items) + 6
    middle = (names + WIDTH - values) / 2
    half = (WIDTH - values - names) / 2 - 4
    parts = [f'<path class="grid" d="M{middle} 0V{height}"/>']
    for i, (name, value) in enumerate(items):
        y, length = row * i + 3, half * abs(value) / most
        left = middle if value > 0 else middle - length
        colour = 0 if value > 0 else 1
        shown = name if len(name) <= MOST_CHARACTERS else name[: MOST_CHARACTERS - 1] + "…"
        full, box = escape(name), f'x="{left:.1f}" y="{y:.1f}" width="{max(length, 0.5):.1f}" height="{row - 6}" rx="2"'
        parts += [
            f'<text x="{names - 6}" y="{y + 13:.1f}" text-anchor="end">{escape(shown)}<title>{full}</title></text>',
            f'<rect class="c{colour}" {box}/>',
            _text(WIDTH, y + 13, f"{value:+.3g}", "end"),
        ]
    return _svg(WIDTH, height, "weights", parts)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    label = escape(title, quote=True)
    return f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
