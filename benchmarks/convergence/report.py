"""Who finished how many, and which of ours did not."""

from __future__ import annotations

from typing import Any

from .fits import TOL

Row = dict[str, Any]
WHO = ("widemargin", "scikit-learn", "LIBLINEAR")


def summary(rows: list[Row], limit: float) -> str:
    """Markdown: finished fits per loss and penalty, then each of ours that did not converge."""
    best = {_problem(row): row["objective"] for row in rows if row["who"] == "widemargin" and "objective" in row}
    rows = [row for row in rows if row["who"] == "widemargin" or _problem(row) in best]  # what can be judged
    finished = {id(row): is_finished(row, best, limit) for row in rows}
    return "\n".join([*_counts(rows, finished), "", *_unfinished(rows, finished)])


def _problem(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("data", "kind", "loss", "penalty", "C", "intercept"))


def is_finished(row: Row, best: dict[tuple[Any, ...], float], limit: float) -> bool:
    """Ours: converged in time. Others: no complaint, in time, and within TOL of our objective or below it."""
    if row["seconds"] > 1.05 * limit:
        return False
    if row["who"] == "widemargin":
        return bool(row["status"] == "converged")
    if row["status"] != "returned":
        return False
    known = best[_problem(row)]
    return bool(row["objective"] - known <= TOL * abs(known))


def _counts(rows: list[Row], finished: dict[int, bool]) -> list[str]:
    lines = ["| loss | penalty | widemargin | same, intercept penalised | scikit-learn | LIBLINEAR |", "|---" * 6 + "|"]
    pairs = list(dict.fromkeys((row["loss"], row["penalty"]) for row in rows))
    columns = [("widemargin", "free"), ("widemargin", "regularized"), ("scikit-learn", None), ("LIBLINEAR", None)]
    for loss, penalty in [*pairs, (None, None)]:
        cells = []
        for who, intercept in columns:
            group = [
                row
                for row in rows
                if row["who"] == who
                and (loss is None or (row["loss"], row["penalty"]) == (loss, penalty))
                and (intercept is None or row["intercept"] == intercept)
            ]
            cells.append(f"{sum(finished[id(row)] for row in group):,} of {len(group):,}" if group else "")
        lines.append(f"| {loss or 'all'} | {penalty or ''} | " + " | ".join(cells) + " |")
    return lines


def _unfinished(rows: list[Row], finished: dict[int, bool]) -> list[str]:
    lines = ["| data | loss | penalty | intercept | C | ended | gap | seconds | solver |", "|---" * 9 + "|"]
    for row in rows:
        if row["who"] == "widemargin" and not finished[id(row)]:
            words = [row["data"], row["loss"], row["penalty"], row["intercept"], f"{row['C']:g}", row["status"]]
            words += [f"{row.get('gap', float('nan')):.1e}", f"{row['seconds']:.1f}", row.get("solver", "")]
            lines.append("| " + " | ".join(words) + " |")
    return lines if len(lines) > 2 else ["All of ours converged."]
