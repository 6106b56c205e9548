"""Searches for the best C by cross-validation, from small values to large ones.

Prints one line per value and the best one; with MODEL the model with that C, trained on all rows, is saved. `--class
LABEL` searches for one class of many against the rest.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from .options import TYPES_HELP, add_reading, add_training, folds, positive, reading_of, recipe_of
from .targets import refuse_target
from .train import save_report
from .watch import tell

if TYPE_CHECKING:
    from ..data.datasets import Dataset
    from ..model.fit import Fitted, Recipe
    from ..selection.result import SearchResult

SUMMARY = "search for C"
EXAMPLES = f"""{TYPES_HELP}
examples:
  widemargin path data.svm
  widemargin path -s 0 --folds 10 --plot scores.png data.svm model.wm
  widemargin path -c 0.01 -c 0.1 -c 1 data.svm    these values alone
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("model", metavar="MODEL", nargs="?")
    add_training(parser, cost=False)
    add_reading(parser)
    parser.add_argument("-c", "--cost", type=positive, action="append", metavar="C", help="try this value; repeatable")
    parser.add_argument("--class", dest="one_class_of_many", metavar="LABEL", help="this class against the rest")
    parser.add_argument("-v", "--folds", type=folds, default=5, metavar="N", help="number of folds (5)")
    parser.add_argument("--plot", metavar="FILE", help="draw the score against C")
    parser.add_argument("--report", metavar="FILE", help="write a page about the search and its model (.html)")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print the best value alone")


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    from ..data.datasets import read_dataset

    for target, what in (
        (arguments.model, "the model"),
        (arguments.report, "the report"),
        (arguments.plot, "the plot"),
    ):
        if target:
            refuse_target(target, what, arguments.data)
    values, arguments.cost = arguments.cost, 1.0
    recipe = recipe_of(arguments)
    data = read_dataset(arguments.data, reading_of(arguments))
    data = against_rest(data, arguments.one_class_of_many)
    found, fitted = search(data, recipe, values, arguments.folds)
    if arguments.plot:
        found.plot(arguments.plot)
    if arguments.model:
        fitted.model.save(arguments.model)
    if arguments.report:
        save_report(arguments.report, arguments.data, data, fitted, recipe, found)
    if arguments.json:
        print(json.dumps({"best_C": found.best_C, "best_score": found.best_score} | found.to_dict()))
        return
    if not arguments.quiet:
        tell(f"{'C':>12}{'score':>10}{'deviation':>11}{'nonzeros':>12}{'passes':>10}")
        for one in found.candidates:
            tell(f"{one.C:>12.6g}{one.mean_score:>10.5f}{one.std_score:>11.5f}{one.nonzeros:>12.1f}{one.passes:>10.1f}")
        if found.not_tried:
            tell(f"{len(found.not_tried)} larger values are left out: {found.ended}")
    print(f"Best C = {found.best_C:g}  {found.scoring} = {found.best_score:g}")


def against_rest(data: Dataset, label: str | None) -> Dataset:
    """The data with labels of two classes."""
    import numpy as np

    from ..data.datasets import Dataset
    from ..model.model import plain_label

    if label is None or data.y is None:
        return data
    names = np.array([str(plain_label(value)) for value in data.y])
    if label not in names:
        raise ValueError(f"there is no class {label}: the classes are {', '.join(sorted(set(names.tolist()))[:20])}")
    return Dataset(data.X, np.where(names == label, label, "rest"), data.features)


def search(data: Dataset, recipe: Recipe, values: list[float] | None, n_folds: int) -> tuple[SearchResult, Fitted]:
    """Tries the values, or by default those that matter for the data; the model with the best one on all rows.

    Says so where the best of the default values lies at an end of them.
    """
    from ..model.search import search_model
    from ..selection.edge import edge_message

    if data.y is None:
        raise ValueError("a search for C needs labels or targets to predict")
    found, fitted = search_model(data.X, data.y, recipe, values, n_folds, data.features)
    if found.edge is not None:
        tell(f"warning: {edge_message(found)}")
    return found, fitted
