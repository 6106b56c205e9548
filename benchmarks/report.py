"""What came out: a table of ratios, JSON, and a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from .harness import TARGETS, Result


def table(results: Sequence[Result]) -> str:
    """Markdown: for each target, our time and each other contestant's as a multiple of it."""
    lines = []
    for result in results:
        lines.append(
            f"\n**{result.dataset}** ({result.rows:,} x {result.columns:,}, {result.nonzeros:,} nonzeros), "
            f"{result.loss}, C = {result.C:g}\n"
        )
        lines.append("| | " + " | ".join(f"to {t:g}" for t in TARGETS) + " |")
        lines.append("|---" * (len(TARGETS) + 1) + "|")
        ours = result.curves[0]
        for curve in result.curves:
            cells = []
            for target in TARGETS:
                mine, theirs = ours.time_to(target), curve.time_to(target)
                if theirs is None:
                    cells.append("not reached")
                elif curve is ours or mine is None:
                    cells.append(f"{1e3 * theirs:.1f} ms")
                else:
                    cells.append(f"{1e3 * theirs:.1f} ms ({theirs / mine:.1f}x)")
            lines.append(f"| {curve.contestant} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_json(results: Sequence[Result], path: Path) -> None:
    """Every run, for later."""
    path.write_text(json.dumps([asdict(result) for result in results], indent=1))


def plot(results: Sequence[Result], path: Path) -> None:
    """Suboptimality against seconds, one panel per problem."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    across = min(3, len(results))
    down = -(-len(results) // across)
    figure, axes = plt.subplots(down, across, figsize=(4.6 * across, 3.4 * down), squeeze=False)
    for axis in axes.flat[len(results) :]:
        axis.set_visible(False)
    for axis, result in zip(axes.flat, results, strict=False):
        for curve in result.curves:
            axis.loglog(curve.seconds, [max(s, 1e-9) for s in curve.suboptimality], "o-", ms=3, label=curve.contestant)
        axis.set_title(f"{result.dataset}, {result.loss}, C = {result.C:g}", fontsize=9)
        axis.set_xlabel("seconds")
        axis.set_ylabel("(f - f*) / f*")
        axis.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
