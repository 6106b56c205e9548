"""Tells what is in a data file or a model.

Data: rows, features, nonzeros, labels. Model: classes, nonzero weights, certificate, settings, and the features with
the largest weights of each class, as bars (of two classes, bars to the right speak for the second one).
"""

from __future__ import annotations

import argparse
import json
import shutil
from typing import TYPE_CHECKING, Any

from .options import add_reading, count, reading_of

if TYPE_CHECKING:
    from ..data.datasets import Dataset
    from ..model.model import Model

SUMMARY = "describe a data file or a model"
EXAMPLES = """\
examples:
  widemargin info data.svm.xz
  widemargin info --label income adult.csv
  widemargin info model.wm --top 20
  widemargin info model.wm --plot weights.png
"""

MOST_CLASSES = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("file", metavar="DATA|MODEL")
    parser.add_argument("--top", type=count, default=10, metavar="N", help="how many features per class (10)")
    parser.add_argument("--plot", metavar="FILE", help="draw the features of a model into a picture")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    from ..model.open import is_model, load_model

    if is_model(arguments.file):
        model = load_model(arguments.file)
        if hasattr(model, "transitions_"):
            from .chain_info import chain_facts, chain_lines

            if arguments.plot:
                raise ValueError(f"{arguments.file}: --plot draws linear models, and this is one of sequences")
            found = chain_facts(model, arguments.top)
            print(json.dumps(found) if arguments.json else "\n".join(chain_lines(found)))
            return
        facts = model_facts(model, arguments.top)
        if arguments.plot:
            from ..plots.features import plot_features

            plot_features(
                {name: model.top_features(k, arguments.top) for k, name in enumerate(model.row_titles())},
                arguments.plot,
            )
        print(json.dumps(facts) if arguments.json else "\n".join(_model_lines(facts)))
        return
    if arguments.plot:
        raise ValueError(f"{arguments.file}: --plot draws the weights of a model, and this is none")
    from ..data.datasets import read_dataset
    from ..data.formats import format_of

    if format_of(arguments.file, arguments.format) == "blocks":
        _describe_blocks(arguments)
        return
    facts = data_facts(read_dataset(arguments.file, reading_of(arguments)))
    print(json.dumps(facts) if arguments.json else "\n".join(_data_lines(facts)))


def _describe_blocks(arguments: argparse.Namespace) -> None:
    from ..data.block_file.block_file import BlockFile
    from ..data.block_file.dataset import file_facts

    file = BlockFile(arguments.file)
    facts = file_facts(file) | _label_facts(file.y)
    print(json.dumps(facts) if arguments.json else "\n".join(_block_lines(facts)))


def _block_lines(facts: dict[str, Any]) -> list[str]:
    return [
        f"rows       {facts['rows']:,}",
        f"features   {facts['features']:,}",
        f"nonzeros   {facts['nonzeros']:,}, {facts['form']} {facts['dtype']}",
        f"bytes      {facts['bytes']:,} in {facts['chunks']:,} chunks, {facts['bytes_per_entry']:.2f} per nonzero, "
        f"{facts['codec']}",
        f"source     {', '.join(facts['source']) or 'batches'}",
        *_label_lines(facts),
    ]


def data_facts(data: Dataset) -> dict[str, Any]:
    """What there is to know about a data file."""
    import numpy as np

    from ..data.sparse_rows import as_scipy

    X = as_scipy(data.X)
    lengths = np.diff(X.indptr)
    facts: dict[str, Any] = {
        "format": data.features["format"],
        "rows": X.shape[0],
        "features": X.shape[1],
        "nonzeros": int(X.nnz),
        "density": X.nnz / max(1, X.shape[0] * X.shape[1]),
        "shortest_row": int(lengths.min()) if len(lengths) else 0,
        "longest_row": int(lengths.max(initial=0)),
        "smallest": float(X.data.min(initial=0.0)),
        "largest": float(X.data.max(initial=0.0)),
        "unused_features": int(X.shape[1] - np.count_nonzero(np.bincount(X.indices, minlength=X.shape[1]))),
    }
    return facts | (_label_facts(data.y) if data.y is not None else {})


def _label_facts(y: Any) -> dict[str, Any]:
    import numpy as np

    found, counts = np.unique(y, return_counts=True)
    if len(found) <= max(50, len(y) // 20):
        names = [f"{label:g}" if y.dtype.kind == "f" else str(label) for label in found]
        return {"labels": dict(zip(names, counts.tolist(), strict=True))}
    if y.dtype.kind not in "biuf":
        return {"distinct_labels": len(found)}
    return {"targets": {"least": float(y.min()), "mean": float(y.mean()), "most": float(y.max())}}


def _data_lines(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"rows       {facts['rows']:,}",
        f"features   {facts['features']:,} ({facts['unused_features']:,} never used)",
        f"nonzeros   {facts['nonzeros']:,} ({100 * facts['density']:.3g} %), {facts['shortest_row']:,} to "
        f"{facts['longest_row']:,} per row",
        f"values     {facts['smallest']:g} to {facts['largest']:g}",
    ]
    return lines + _label_lines(facts)


def _label_lines(facts: dict[str, Any]) -> list[str]:
    lines = []
    labels = list(facts.get("labels", {}).items())
    for i, (label, times) in enumerate(labels[:MOST_CLASSES]):
        lines.append(f"{'' if i else 'labels':<11}{label}: {times:,} ({100 * times / facts['rows']:.3g} %)")
    if len(labels) > MOST_CLASSES:
        lines.append(f"{'':<11}and {len(labels) - MOST_CLASSES} more")
    if "targets" in facts:
        lines.append("targets    {least:g} to {most:g}, on average {mean:g}".format(**facts["targets"]))
    return lines


def model_facts(model: Model, top: int) -> dict[str, Any]:
    """What there is to know about a model."""
    return {
        "task": model.task,
        "loss": model.loss,
        "classes": list(model.classes),
        "features": model.n_features,
        "nonzeros": model.nonzeros,
        "weights": int(model.weights.shape[0] * model.weights.shape[1]),
        "intercepts": model.intercepts.tolist(),
        "settings": dict(model.settings),
        "certificates": [dict(one) for one in model.certificates],
        "version": model.version,
        "top": {name: model.top_features(k, top) for k, name in enumerate(model.row_titles()[:MOST_CLASSES])},
    }


def _model_lines(facts: dict[str, Any]) -> list[str]:
    names = ", ".join(map(str, facts["classes"][:MOST_CLASSES]))
    lines = [f"task       {facts['task']}, loss {facts['loss']}, trained by Widemargin {facts['version']}"]
    lines += [f"classes    {len(facts['classes'])}: {names}"] if names else []
    lines.append(f"weights    {facts['nonzeros']:,} of {facts['weights']:,} not zero, {facts['features']:,} features")
    gaps = [one.get("relative_gap") for one in facts["certificates"]]
    known = [gap for gap in gaps if gap is not None]
    if known:
        total = sum(one.get("objective") or 0.0 for one in facts["certificates"])
        states = ", ".join(sorted({str(one.get("status")) for one in facts["certificates"]}))
        lines.append(f"proof      objective {total:.8g}, relative gap at most {max(known):.2g}: {states}")
    settings = ", ".join(f"{key}={value}" for key, value in facts["settings"].items())
    lines += [f"settings   {settings}"] if settings else []
    for title, features in facts["top"].items():
        lines += ["", title, *bars(features)]
    return lines


def bars(features: list[tuple[str, float]], width: int | None = None) -> list[str]:
    """Weights as bars around a line, negative ones to the left.

    >>> print("\\n".join(bars([("good", 2.0), ("bad", -1.0)], width=40)))
      good              |########## +2
       bad         #####|           -1
    """
    if not features:
        return ["  (no weight differs from zero)"]
    room = (width or shutil.get_terminal_size((80, 24)).columns) - 1
    name_width = min(30, max(4, max(len(name) for name, _ in features)))
    half = max(5, min(30, (room - name_width - 14) // 2))
    most = max(abs(weight) for _, weight in features)
    lines = []
    for name, weight in features:
        bar = "#" * max(1, round(half * abs(weight) / most))
        sides = (bar.rjust(half), " " * half) if weight < 0 else (" " * half, bar.ljust(half))
        lines.append(f"  {name[:name_width]:>{name_width}}  {sides[0]}|{sides[1]} {weight:+.4g}")
    return lines
