"""Predicts the rows of a file with a saved model, block by block: memory does not grow with the file.

Without OUT the predictions go to standard output and the score to standard error; with OUT the score goes to standard
output, as LIBLINEAR's predict does. Its order of arguments (DATA MODEL OUT) is understood too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .options import add_reading, count, reading_of
from .targets import refuse_overwriting

if TYPE_CHECKING:
    from .._core import SvmlightLabeller
    from ..model.model import Model

SUMMARY = "predict with a saved model"
EXAMPLES = """\
examples:
  widemargin predict model.wm test.svm predictions.txt
  widemargin predict -b 1 model.wm test.svm       probabilities, of a logistic model
  widemargin predict --explain model.wm test.svm  which features decided
  zcat huge.svm.gz | widemargin predict model.wm - > predictions.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("output", metavar="OUT", nargs="?", default="-")
    parser.add_argument("-b", type=int, choices=(0, 1), default=0, help="1: probabilities, of a logistic model (0)")
    parser.add_argument("--scores", action="store_true", help="print the scores x.w + b instead of labels")
    parser.add_argument("--explain", action="store_true", help="print the terms that decided each prediction")
    parser.add_argument("--terms", type=count, default=5, metavar="N", help="how many terms --explain prints (5)")
    parser.add_argument("--json", action="store_true", help="print the score as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not print the score")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    from ..data.formats import format_of
    from ..model.open import is_model

    if not is_model(arguments.model) and arguments.data != "-" and is_model(arguments.data):
        arguments.model, arguments.data = arguments.data, arguments.model
    if arguments.output != "-":
        refuse_overwriting(arguments.output, "the predictions", arguments.model, arguments.data)
    labels_alone = not (arguments.explain or arguments.b or arguments.scores)
    if labels_alone and format_of(arguments.data, arguments.format) == "svm":
        from ..model.labeller import labeller

        found = labeller(arguments.model)
        if found is not None:
            _label(arguments, found)
            return
    _predict(arguments)


def _label(arguments: argparse.Namespace, model: SvmlightLabeller) -> None:
    """Labels for text, from text to text in the core."""
    from ..data.files import written_whole
    from ..data.text_blocks import name_for_messages, placed, text_blocks
    from .score import Score

    score, lines_before = Score("classification"), 0
    name = name_for_messages(arguments.data)
    with written_whole(arguments.output) as file:
        text: Any
        for text in text_blocks(arguments.data):
            try:
                labels, lines, rows, correct = model.label(text, arguments.n_jobs)
            except ValueError as error:
                raise ValueError(placed(name, str(error), lines_before)) from None
            file.write(labels)
            score.count(rows, correct)
            lines_before += lines
        if not score.rows:
            raise ValueError(f"{arguments.data}: no rows")
    _report(arguments, score, score.rows)


def _predict(arguments: argparse.Namespace) -> None:
    """Everything else, through NumPy."""
    from ..data.datasets import dataset_blocks
    from ..data.files import written_whole
    from ..model.open import load_linear
    from .score import Score

    model, data_path = load_linear(arguments.model), arguments.data
    header, lines = _form(arguments, model)
    score, rows = Score(model.task), 0
    reading = reading_of(arguments)
    with written_whole(arguments.output) as file:
        file.write(header)
        for X, y in dataset_blocks(data_path, model.features, model.n_features, reading):
            scores = model.scores(X, reading.n_jobs)
            file.write(lines(X, scores))
            rows += len(scores)
            if y is not None and _comparable(model, y):
                score.add(model, scores, y)
        if not rows:
            raise ValueError(f"{data_path}: no rows")
    _report(arguments, score, rows)


def _comparable(model: Model, y: Any) -> bool:
    return model.task != "regression" or y.dtype.kind in "biuf"


def _report(arguments: argparse.Namespace, score: Any, rows: int) -> None:
    out = sys.stderr if arguments.output == "-" else sys.stdout
    if arguments.json:
        import json

        known = {score.name: score.value} if score.rows else {}
        print(json.dumps({"rows": rows, "output": arguments.output} | known), file=out)
    elif score.rows and not arguments.quiet:
        print(score.line(), file=out)


Lines = Callable[[Any, Any], bytes]


def _form(arguments: argparse.Namespace, model: Model) -> tuple[bytes, Lines]:
    """The first line of the output, and what makes lines of a block."""
    if arguments.explain:
        return b"", lambda X, scores: _explained(model, X, scores, arguments.terms)
    if arguments.b:
        model.probabilities(model.intercepts[:0].reshape(0, len(model.intercepts)))  # refused before the first row
        order = _liblinear_order(model)
        labels = " ".join(str(model.labels[k]) for k in order)
        return f"labels {labels}\n".encode(), lambda X, scores: _probable(model, scores, order)
    if arguments.scores:
        return b"", lambda X, scores: _joined(" ".join(map(repr, row)) for row in scores.tolist())
    if model.task == "regression":
        return b"", lambda X, scores: _joined(map(repr, scores[:, 0].tolist()))
    words = [f"{label}\n".encode() for label in model.labels]
    return b"", lambda X, scores: b"".join([words[k] for k in model.chosen(scores).tolist()])


def _joined(lines: Any) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _liblinear_order(model: Model) -> list[int]:
    """LIBLINEAR's first class of two is the one above zero."""
    order = list(range(len(model.labels)))
    return order[::-1] if len(order) == 2 else order


def _probable(model: Model, scores: Any, order: list[int]) -> bytes:
    names = [str(label) for label in model.labels]
    chances = model.probabilities(scores)[:, order].tolist()
    chosen = model.chosen(scores).tolist()
    return _joined(f"{names[k]} {' '.join(f'{p:g}' for p in row)}" for k, row in zip(chosen, chances, strict=True))


def _explained(model: Model, X: Any, scores: Any, terms: int) -> bytes:
    return _joined(_explanations(model, X, scores, terms))


def _explanations(model: Model, X: Any, scores: Any, terms: int) -> Iterator[str]:
    """Per row: the prediction, its score, and the largest terms x_j w_j of that score."""
    import numpy as np

    from ..data.sparse_rows import as_scipy

    rows = as_scipy(X)
    chosen = model.chosen(scores) if model.task != "regression" else np.zeros(len(scores), dtype=np.intp)
    speaking = {k: model.speaks_for(k) for k in np.unique(chosen).tolist()}
    for i, k in enumerate(chosen.tolist()):
        w, intercept = speaking[k]
        here = slice(rows.indptr[i], rows.indptr[i + 1])
        columns = rows.indices[here]
        values = rows.data[here] * w[columns]
        largest = [j for j in np.argsort(-np.abs(values), kind="stable")[:terms].tolist() if values[j]]
        said = [f"{model.name_of(int(columns[j]))}={values[j]:+.4g}" for j in largest]
        said += [f"intercept={intercept:+.4g}"] if intercept else []
        label = f"{scores[i, 0]:.6g}" if model.task == "regression" else str(model.labels[k])
        yield "\t".join([label, f"{values.sum() + intercept:+.6g}", *said])
