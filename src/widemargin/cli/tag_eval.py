"""Scores labels of sequences as conlleval does: accuracy, and precision, recall and F1 of IOB spans of each type.

With one file its last two columns count: the right label and the predicted one, as `widemargin tag predict`, CRF++ and
the shared tasks write them. With a model first, the labels are predicted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from .options import jobs

SUMMARY = "score labels as conlleval does"
EXAMPLES = """\
examples:
  widemargin tag eval tagged.txt
  widemargin tag eval model.wm test.txt
  widemargin tag predict -q model.wm test.txt | widemargin tag eval -
"""
Pair = tuple[list[str], list[str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("files", metavar="[MODEL] DATA", nargs="+", help="a tagged file, or a model and a file")
    parser.add_argument("--json", action="store_true", help="print the score as JSON")
    parser.add_argument("--n-jobs", "-m", type=jobs, default=jobs("-1"), metavar="N", help="threads; -1: all (-1)")


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    from .tag_score import TagScore

    *models, data = arguments.files
    if len(models) > 1:
        raise ValueError(f"give one tagged file, or a model and a file: got {len(arguments.files)} names")
    score = TagScore()
    for truth, predicted in _predicted(models[0], data, arguments.n_jobs) if models else _written(data):
        score.add(truth, predicted)
    if not score.tokens:
        raise ValueError(f"{data}: no sequences")
    print(json.dumps(score.facts()) if arguments.json else score.table())


def _predicted(model: str, data: str, n_jobs: int) -> Iterator[Pair]:
    """The labels of a file, and those that a model gives it."""
    from .tag_model import load_tagger

    for found in load_tagger(model, n_jobs).predictions(data):
        if found.tagged.labels is None:
            raise ValueError(f"{data}: it has no labels to compare with")
        yield found.tagged.labels, found.labels


def _written(data: str) -> Iterator[Pair]:
    """The last two columns of a file."""
    from ..data.tagging.columns import read_columns

    for found in read_columns(data):
        if len(found.rows[0]) < 2:
            place = f"{data}:{found.lines[0].number}"
            raise ValueError(f"{place}: one column, expected the right label and the predicted one as the last two")
        yield [row[-2] for row in found.rows], [row[-1] for row in found.rows]
