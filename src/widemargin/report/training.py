"""What a page about a training run says: data, certificate, convergence, features, predictions, the search for C."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.files import written_whole
from ..model.model import plain_label
from .charts import N_COLOURS, Series, bars, curves
from .page import facts, legend, page, paragraph, section, table

if TYPE_CHECKING:
    from ..model.model import Model
    from ..solvers.run.solution import Solution

MOST_CLASSES = 12
MOST_CURVES = N_COLOURS
MOST_IN_MATRIX = 12
MOST_CONFUSIONS = 15
TOP = 12
# Settings that matter to some losses or penalties alone.
_ONLY_FOR = {
    "l1_ratio": {"elasticnet"},
    "nu": {"one_class"},
}


@dataclass(frozen=True)
class Training:
    """All that a page about a run is made from."""

    source: str  # the name of the data
    data: dict[str, Any]  # as `widemargin info --json` tells
    model: Model
    solutions: Sequence[Solution]
    scores: NDArray[np.float64]  # of the training rows
    y: NDArray[Any] | None
    tol: float
    search: Any = None  # a SearchResult


def write_report(path: str, training: Training) -> None:
    """Writes the page; it appears only when complete."""
    content = report(training).encode("utf-8", "replace")
    with written_whole(path) as file:
        file.write(content)


def report(training: Training) -> str:
    """The page as text."""
    model = training.model
    kind = f"{len(model.classes)} classes" if model.classes else model.task.replace("_", " ")
    settings = model.settings
    said = [kind, f"loss {model.loss}", f"penalty {settings.get('penalty', 'l2')}", f"C = {settings.get('C', 1.0):g}"]
    sections = [
        _certificate(training),
        _convergence(training),
        _search(training.search),
        _predictions(training),
        _data(training.data),
        _settings(model),
        *_features(model),
    ]
    name = os.path.basename(training.source) if training.source != "-" else "standard input"
    return page(f"Trained on {name}", ", ".join(said), sections, f"Widemargin {model.version}")


def _certificate(training: Training) -> str:
    solutions = training.solutions
    worst = max(solutions, key=lambda one: one.certificate.relative_gap)
    gap = worst.certificate.relative_gap
    proven = f"No model of this kind has an objective more than {100 * gap:.2g} % lower." if gap < 1 else ""
    if len(solutions) == 1:
        found = worst.certificate
        pairs = [("objective", f"{found.primal:.8g}"), ("at best", f"{found.dual:.8g}")]
    else:
        total = sum(one.certificate.primal for one in solutions)
        pairs = [("models", str(len(solutions))), ("objective", f"{total:.8g} in all")]
    pairs += [
        ("relative gap", f"{gap:.2e}, asked for {training.tol:g}"),
        ("ended by", ", ".join(sorted({str(one.status) for one in solutions}))),
        ("solver", ", ".join(sorted({one.solver for one in solutions}))),
        ("passes over the data", f"{sum(one.trace[-1].passes for one in solutions if len(one.trace)):.4g}"),
        ("seconds", f"{sum(one.seconds for one in solutions):.3g}"),
    ]
    return section("Proof", facts(pairs), paragraph(proven), _each_certificate(training))


def _each_certificate(training: Training) -> str:
    if len(training.solutions) == 1:
        return ""
    named = list(zip(training.model.row_titles(), training.solutions, strict=False))[:MOST_CLASSES]
    headings = ["model", "objective", "gap"]
    rows: list[tuple[str, ...]] = [
        (name, f"{one.certificate.primal:.6g}", f"{one.certificate.relative_gap:.1e}") for name, one in named
    ]
    if not all(one.converged for one in training.solutions):
        headings.append("ended by")
        rows = [(*row, str(one.status)) for row, (_, one) in zip(rows, named, strict=True)]
    return table(headings, rows) + _and_more(len(training.solutions), len(rows))


def _and_more(there: int, shown: int) -> str:
    return paragraph(f"and {there - shown} more", soft=True) if there > shown else ""


def _convergence(training: Training) -> str:
    """The relative gap as it fell; of many models, those that took longest."""
    titles = training.model.row_titles()
    names = titles if len(training.solutions) == len(titles) else [one.solver for one in training.solutions]
    longest = sorted(zip(names, training.solutions, strict=True), key=lambda one: -one[1].seconds)[:MOST_CURVES]
    series = []
    for name, solution in longest:
        drawn = [row for row in solution.trace if 0 < row.relative_gap < math.inf]
        if drawn:
            series.append(Series(name, [row.seconds for row in drawn], [row.relative_gap for row in drawn]))
    if not series:
        return ""
    level = (training.tol, f"asked for: {training.tol:g}")
    chart = curves(series, "seconds", "relative duality gap", log_y=True, level=level)
    left = len(training.solutions) - len(series)
    note = f"The {len(series)} that took longest; {left} more are not drawn." if left > 0 else ""
    return section("Convergence", chart, legend([one.name for one in series]), paragraph(note, soft=True))


def _search(found: Any) -> str:
    if found is None:
        return ""
    spread = found.scores.std(axis=1).tolist()
    line = Series(found.scoring, found.Cs.tolist(), found.mean_scores.tolist(), spread)
    best = (float(found.best_C), f"best C = {found.best_C:.4g}")
    chart = curves([line], "C", f"{found.scoring} of held-out rows", log_x=True, mark=best)
    rows = [(f"{one.C:.4g}", f"{one.mean_score:.5g}", f"{one.std_score:.2g}", f"{one.nonzeros:,.0f}")
            for one in found.candidates]  # fmt: skip
    said = f"{found.scoring} {found.best_score:.5g} at C = {found.best_C:.4g}; the band is one standard deviation."
    return section(
        "Search for C", chart, paragraph(said), table(["C", found.scoring, "deviation", "nonzero weights"], rows)
    )


def _data(found: dict[str, Any]) -> str:
    pairs = [
        ("rows", f"{found['rows']:,}"),
        ("features", f"{found['features']:,}, {found['unused_features']:,} of them never used"),
        ("nonzeros", f"{found['nonzeros']:,} ({100 * found['density']:.3g} %)"),
        ("per row", f"{found['shortest_row']:,} to {found['longest_row']:,}"),
        ("values", f"{found['smallest']:g} to {found['largest']:g}"),
    ]
    if "targets" in found:
        pairs.append(("targets", "{least:g} to {most:g}, on average {mean:g}".format(**found["targets"])))
    labels = list(found.get("labels", {}).items())
    rows = [(label, int(n), f"{100 * n / found['rows']:.3g} %") for label, n in labels[:MOST_CLASSES]]
    shown = table(["label", "rows", "share"], rows) + _and_more(len(labels), len(rows)) if rows else ""
    return section("Data", facts(pairs), shown)


def _settings(model: Model) -> str:
    idle = {key for key, users in _ONLY_FOR.items() if not users & {model.loss, str(model.settings.get("penalty"))}}
    pairs: list[tuple[str, Any]] = [(key, value) for key, value in model.settings.items() if key not in idle]
    pairs.append(("nonzero weights", f"{model.nonzeros:,} of {model.weights.shape[0] * model.weights.shape[1]:,}"))
    return section("Settings", facts(pairs))


def _features(model: Model) -> Iterable[str]:
    """The strongest features, one box per row of weights."""
    for k, title in enumerate(model.row_titles()[:MOST_CLASSES]):
        shown = bars(model.top_features(k, TOP))
        intercept = f"intercept {model.intercepts[k]:+.4g}" if model.intercepts[k] else ""
        yield section(f"Strongest features: {title}", shown, paragraph(intercept, soft=True))


def _predictions(training: Training) -> str:
    model, y = training.model, training.y
    if y is None or not len(training.scores):
        return ""
    note = paragraph("Counted on the rows that the model was trained on; widemargin cv tells how it does on new ones.",
                     soft=True)  # fmt: skip
    if model.task == "regression":
        errors = training.scores[:, 0] - np.asarray(y, dtype=np.float64)
        pairs = [("root mean square", f"{math.sqrt(float(errors @ errors) / len(errors)):.6g}"),
                 ("largest", f"{np.abs(errors).max():.6g}")]  # fmt: skip
        return section("Errors", facts(pairs), note)
    chosen = model.chosen(training.scores)
    if model.task == "one_class":
        outside = int(np.count_nonzero(chosen == 0))
        return section("Predictions", facts([("outside", f"{outside:,} of {len(chosen):,}")]), note)
    return section("Confusion matrix", *_confusion(model, y, chosen), note)


def _confusion(model: Model, y: NDArray[Any], chosen: NDArray[np.intp]) -> list[str]:
    present, codes = np.unique(y, return_inverse=True)
    counts = np.zeros((len(present), len(model.classes)), dtype=np.int64)
    np.add.at(counts, (codes, chosen), 1)
    names = [str(plain_label(label)) for label in present]
    known = [str(label) for label in model.classes]
    right = sum(int(counts[i, known.index(name)]) for i, name in enumerate(names) if name in known)
    said = paragraph(f"{right:,} of {len(y):,} right ({100 * right / len(y):.4g} %)")
    if len(known) <= MOST_IN_MATRIX and len(names) <= MOST_IN_MATRIX:
        rows = [(name, *map(int, counts[i])) for i, name in enumerate(names)]
        return [said, table(["actual \\ predicted", *known], rows, shade=True)]
    wrong = [(int(counts[i, k]), names[i], known[k])
             for i, k in zip(*np.nonzero(counts), strict=True) if names[i] != known[k]]  # fmt: skip
    most = sorted(wrong, key=lambda one: -one[0])[:MOST_CONFUSIONS]
    rows = [(f"{actual} taken for {predicted}", n) for n, actual, predicted in most]
    return [said, table(["most frequent errors", "rows"], rows)] if rows else [said]
