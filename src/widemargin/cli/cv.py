"""Estimates by cross-validation how well a model predicts rows it has not seen.

The folds are drawn with --seed; of each class every fold gets its share. Prints what LIBLINEAR's `train -v` prints.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from .options import TYPES_HELP, add_reading, add_training, folds, reading_of, recipe_of
from .watch import tell

if TYPE_CHECKING:
    from ..data.datasets import Reading
    from ..model.fit import Recipe

SUMMARY = "cross-validate"
EXAMPLES = f"""{TYPES_HELP}
examples:
  widemargin cv data.svm
  widemargin cv --folds 10 -s 0 -c 0.5 data.svm
  widemargin cv --json --label income adult.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("data", metavar="DATA")
    add_training(parser)
    add_reading(parser)
    group = parser.add_argument_group("output")
    group.add_argument("-v", "--folds", type=folds, default=5, metavar="N", help="number of folds (5)")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="print the result alone")


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    cross_validate(arguments, recipe_of(arguments), reading_of(arguments))


def cross_validate(arguments: argparse.Namespace, recipe: Recipe, reading: Reading) -> None:
    """Trains on all folds but one, tests on that one, and prints the score over all rows."""
    from dataclasses import replace

    from ..data.datasets import read_dataset
    from ..data.matrix import Matrix
    from ..deadline import Deadline
    from ..model.fit import fit_model
    from ..selection.folds import dealt_folds
    from .score import Score

    data = read_dataset(arguments.data, reading)
    if data.y is None:
        raise ValueError("cross-validation needs labels: name their column (--label)")
    rows = Matrix(data.X)
    folds = dealt_folds(data.y, arguments.folds, recipe.seed, stratified=recipe.task == "classification")
    score, each, deadline = Score(recipe.task), [], Deadline.after(recipe.max_seconds)
    for k, fold in enumerate(folds):
        own = replace(recipe, max_seconds=deadline.share(k, len(folds)))
        fitted = fit_model(rows.take(fold.fitted), data.y[fold.fitted], own)
        if fitted.interrupted:
            raise KeyboardInterrupt
        if not fitted.converged:
            worst = max(fitted.solutions, key=lambda solution: solution.certificate.relative_gap)
            gap = worst.certificate.relative_gap
            tell(f"warning: fold {k + 1} ended by {worst.status} at a relative gap of {gap:.2g}, above {recipe.tol:g}")
        one = Score(recipe.task)
        scores = fitted.model.scores(rows.take(fold.held_out), recipe.n_jobs)
        for count in (score, one):
            count.add(fitted.model, scores, data.y[fold.held_out])
        each.append(one.value)
        if not arguments.quiet:
            tell(f"fold {k + 1}: {one.line()}")
    if arguments.json:
        print(json.dumps({"folds": each, score.name: score.value, "rows": score.rows}))
    else:
        print(score.cross_validation_lines())
