"""The page: HTML with its style and its pictures inside. Whatever comes from files is escaped; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from .charts import N_COLOURS

# Okabe and Ito's palette: distinguishable for colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07D00", "#56B4E9", "#777777")

STYLE = """
:root { color-scheme: light dark; --ink: #222; --soft: #666; --grid: #ddd; --paper: #fff; --box: #f6f7f8 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --soft: #a0a0a0; --grid: #3a3d40; --paper: #16181a; --box: #1f2225 } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere }
h1 { font-size: 1.5rem; line-height: 1.2; margin: .5rem 0 } h2 { font-size: 1.1rem; margin: 0 0 .6rem }
h3 { font-size: 1rem; margin: .8rem 0 .2rem }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)) }
section { background: var(--box); border-radius: .5rem; padding: 1rem; min-width: 0 }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; overflow-wrap: normal }
th { font-weight: 600 } td.number, th.number { text-align: right; padding: .15rem .5rem }
td { white-space: nowrap }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 }
dt, .soft, footer { color: var(--soft) } dd { margin: 0 } p { margin: .4rem 0 }
svg { display: block; width: 100%; max-width: 28rem; height: auto }
svg text { font: 12.5px system-ui, sans-serif; fill: var(--ink) }
.grid { stroke: var(--grid) } .dashed { stroke: var(--ink); stroke-dasharray: 5 4; fill: none }
.curve { fill: none; stroke-width: 2 } .band { opacity: .18 } .key { font-weight: 700 }
""" + "".join(
    f".curve.c{i} {{ stroke: {c} }} circle.c{i}, rect.c{i}, .band.c{i} {{ fill: {c} }} .key.c{i} {{ color: {c} }}\n"
    for i, c in enumerate(COLOURS[:N_COLOURS])
)


def page(title: str, subtitle: str, sections: Iterable[str], footer: str) -> str:
    """The whole document.

    >>> "<script>" in page("<script>", "", [], "")
    False
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<h1>{escape(title)}</h1>\n<p class="soft">{escape(subtitle)}</p>\n<main>\n'
        + "\n".join(one for one in sections if one)
        + f"\n</main>\n<footer><p>{escape(footer)}</p></footer>\n</body>\n</html>\n"
    )


def section(title: str, *parts: str) -> str:
    """A box with a heading; empty where there is nothing to show. The parts are HTML already."""
    shown = "".join(parts)
    return f"<section><h2>{escape(title)}</h2>{shown}</section>" if shown else ""


def paragraph(text: str, soft: bool = False) -> str:
    """Plain text."""
    return f"<p{' class=soft' if soft else ''}>{escape(text)}</p>" if text else ""


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values."""
    return "<dl>" + "".join(f"<dt>{escape(n)}</dt><dd>{escape(str(v))}</dd>" for n, v in pairs) + "</dl>"


def legend(names: Sequence[str]) -> str:
    """Which colour is which curve."""
    keys = (f'<span class="key c{i % N_COLOURS}">●</span> {escape(name)}' for i, name in enumerate(names))
    return f"<p>{' &nbsp; '.join(keys)}</p>" if len(names) > 1 else ""


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]], shade: bool = False) -> str:
    """A table whose first column is text; with `shade`, numbers are shaded by their share of their row."""
    head = "".join(f"<th{_kind(i)}>{escape(text)}</th>" for i, text in enumerate(headings))
    body = "".join(f"<tr>{_cells(row, shade)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _kind(column: int) -> str:
    return ' class="number"' if column else ""


def _cells(row: Sequence[Any], shade: bool) -> str:
    total = sum(row[1:]) if shade else 0
    cells = [f"<th>{escape(str(row[0]))}</th>"]
    for value in row[1:]:
        style = f' style="background:rgba(0,114,178,{0.75 * value / total:.3f})"' if total else ""
        cells.append(f'<td class="number"{style}>{escape(f"{value:,}" if isinstance(value, int) else str(value))}</td>')
    return "".join(cells)
