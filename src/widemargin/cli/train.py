"""Trains a linear model from a file and saves it.

DATA is LIBSVM text (plain, .gz, .bz2, .xz), .npz of SciPy, CSV, TSV, Parquet or Arrow; `-` reads standard input. MODEL
ends in .wm (all that is known about the model: certificate, settings, names) or in .model (LIBLINEAR's text format); by
default it is the name of DATA with .model added (with -M 1: .wm), in the current directory.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .options import TYPES_HELP, add_reading, add_training, folds, memory, reading_of, recipe_of
from .targets import refuse_target
from .watch import tell, watch_for

if TYPE_CHECKING:
    from ..data.datasets import Dataset, Reading
    from ..model.fit import Fitted, Recipe

SUMMARY = "train a model from a file"
EXAMPLES = f"""{TYPES_HELP}
examples:
  widemargin train data.svm                       squared hinge, C = 1, no intercept, as LIBLINEAR does
  widemargin train -s 0 -c 4 -B 1 data.svm.xz model.wm
  widemargin train --loss hinge --intercept free data.svm model.wm
  widemargin train -s 3 -w1 5 -w-1 1 data.svm     errors on class 1 count five times
  widemargin train --label income adult.csv adult.wm
  widemargin train --report page.html data.svm model.wm
  widemargin train -v 5 data.svm                  five-fold cross-validation, no model
  widemargin train --memory 2G big.svm.xz         what does not fit stays on disk, in big.svm.xz.wmb
  zcat data.svm.gz | widemargin train - model.wm
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("model", metavar="MODEL", nargs="?")
    add_training(parser)
    add_reading(parser)
    group = parser.add_argument_group("data larger than memory")
    group.add_argument(
        "--memory", type=memory, metavar="AMOUNT", help="use so much, such as 2G; data that do not fit stay on disk"
    )
    group.add_argument("--cache", metavar="FILE", help="keep the file of blocks there and use it again (DATA.wmb)")
    group.add_argument("--resume", metavar="STATE", help="keep the run's state there, and go on from it")
    group = parser.add_argument_group("output")
    group.add_argument("-v", type=folds, metavar="N", dest="folds", help="N-fold cross-validation instead of a model")
    group.add_argument("-C", action="store_true", dest="find_cost", help="search for C, print the best; no model")
    group.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of the stored weights")
    group.add_argument("--sparse", action="store_true", help="store nonzero weights only (.wm)")
    group.add_argument("--report", metavar="FILE", help="write a page about the run (.html); with -C, about the search")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    if arguments.report:
        refuse_target(arguments.report, "the report", arguments.data, arguments.model)
        if arguments.folds and not arguments.find_cost:
            raise ValueError("--report tells about a model, and -v makes none: leave one of them out")
    from_disk = _from_disk(arguments)
    if from_disk and (arguments.report or arguments.find_cost or arguments.folds):
        raise ValueError("--report, -C and -v need the rows in memory: leave --memory and --cache out, or them")
    if arguments.find_cost:
        _find_cost(arguments, recipe_of(arguments), reading_of(arguments))
        return 0
    if arguments.folds:
        from .cv import cross_validate

        cross_validate(arguments, recipe_of(arguments), reading_of(arguments))
        return 0
    target = _target(arguments)
    reading = _start(arguments, from_disk)  # goes on while NumPy is loaded
    recipe = replace(recipe_of(arguments), resume=arguments.resume)
    from ..model.fit import fit_model

    data = reading()
    fitted = fit_model(data.X, data.y, recipe, data.features, watch_for(arguments.quiet, bool(arguments.report)))
    fitted.model.save(target, dtype=arguments.dtype, sparse=arguments.sparse)
    if arguments.report:
        save_report(arguments.report, arguments.data, data, fitted, recipe)
    _report(arguments, fitted, target)
    return 130 if fitted.interrupted else 0


def _from_disk(arguments: argparse.Namespace) -> bool:
    """Whether the rows stay on disk: because that was asked for, or because they would not fit into memory."""
    from ..data.formats import format_of

    asked = (arguments.cache, arguments.resume) != (None, None)
    if asked or format_of(arguments.data, arguments.format) == "blocks":
        return True
    if arguments.data == "-":  # nobody knows how long it is
        return arguments.memory is not None
    return _is_too_large(arguments)


def _is_too_large(arguments: argparse.Namespace) -> bool:
    """Whether the rows do not fit; the user is told if they do not."""
    if arguments.memory is None and (arguments.text or arguments.report or arguments.find_cost or arguments.folds):
        return False  # what cannot be done from disk is tried in memory, unless that was limited
    from ..data.block_file.place import place_of

    place = place_of(arguments.data, arguments.format, memory=arguments.memory)
    if not place.fits and not arguments.quiet:
        tell(f"{arguments.data}: {place}: training from disk, by way of {arguments.data}.wmb")
    return not place.fits


def _start(arguments: argparse.Namespace, from_disk: bool) -> Callable[[], Dataset]:
    """Begins to read the data, or finds or makes their file of blocks."""
    if from_disk:
        from ..data.block_file.dataset import open_dataset

        data = open_dataset(arguments.data, reading_of(arguments), cache=arguments.cache, memory=arguments.memory)
        return lambda: data
    from ..data.datasets import start_dataset

    return start_dataset(arguments.data, reading_of(arguments))


def _find_cost(arguments: argparse.Namespace, recipe: Recipe, reading: Reading) -> None:
    """Prints the best C and its score, as LIBLINEAR's -C does; saves nothing."""
    from ..data.datasets import read_dataset
    from .path import search

    data = read_dataset(arguments.data, reading)
    found, fitted = search(data, recipe, None, arguments.folds or 5)
    if arguments.report:
        save_report(arguments.report, arguments.data, data, fitted, recipe, found)
    if arguments.json:
        print(json.dumps({"best_C": found.best_C, "scoring": found.scoring, "best_score": found.best_score}))
        return
    share = found.scoring == "accuracy"
    score = f"CV accuracy = {100 * found.best_score:g}%" if share else f"CV {found.scoring} = {found.best_score:g}"
    print(f"Best C = {found.best_C:g}  {score}")


def _target(arguments: argparse.Namespace) -> str:
    """Where the model goes; refused before the training if it cannot go there."""
    if arguments.model is None and arguments.data == "-":
        raise ValueError("data from standard input have no name: give the model's")
    pairs = arguments.M == 1 and arguments.s != 4
    target: str = arguments.model or os.path.basename(os.path.normpath(arguments.data)) + (".wm" if pairs else ".model")
    if pairs and target.lower().endswith((".model", ".liblinear")):
        raise ValueError(f"{target}: LIBLINEAR's format has no models of pairs of classes (-M 1): use a name in .wm")
    refuse_target(target, "the model", arguments.data)
    return target


def save_report(path: str, source: str, data: Dataset, fitted: Fitted, recipe: Recipe, search: Any = None) -> None:
    """Writes the page about a run."""
    from ..report.training import Training, write_report
    from .info import data_facts

    model, solutions = fitted.model, fitted.solutions
    scores = model.scores(data.X, recipe.n_jobs)
    write_report(path, Training(source, data_facts(data), model, solutions, scores, data.y, recipe.tol, search))


def _report(arguments: argparse.Namespace, fitted: Fitted, target: str) -> None:
    if fitted.interrupted:
        what = f"; {fitted.left_out} classes are not in it" if fitted.left_out else ""
        tell(f"interrupted: what was reached by then is saved in {target}{what}")
    elif not fitted.converged:
        tell(f"warning: {fitted.said}")
    if arguments.json:
        print(json.dumps(result_facts(fitted, target)))
    elif not arguments.quiet:
        for line in _lines(fitted):
            print(line)
        print(f"model      {target}")


def result_facts(fitted: Fitted, target: str) -> dict[str, Any]:
    """The result for machines."""
    model = fitted.model
    return {
        "model": target,
        "task": model.task,
        "classes": model.classes,
        "features": model.n_features,
        "nonzeros": model.nonzeros,
        "converged": fitted.converged,
        "interrupted": fitted.interrupted,
        "certificates": model.certificates,
        "settings": model.settings,
    }


def _lines(fitted: Fitted) -> list[str]:
    model = fitted.model
    total = sum(one.certificate.primal for one in fitted.solutions)
    worst = max(one.certificate.relative_gap for one in fitted.solutions)
    names = sorted({one.solver for one in fitted.solutions})
    lines = [f"objective  {total:.10g}", f"gap        {worst:.2e} (relative, proven)"]
    if len(fitted.solutions) > 1:
        how = "one against one" if model.decision == "pairs" else "one against the rest"
        lines = [f"classes    {len(model.classes)}, {how}", f"objective  {total:.10g} (all classes)",
                 f"gap        {worst:.2e} (relative, proven, the largest)"]  # fmt: skip
    seconds = sum(one.seconds for one in fitted.solutions)
    lines.append(f"weights    {model.nonzeros:,} of {model.weights.size:,} not zero")
    lines.append(f"solver     {', '.join(names)}, {seconds:.2f} s")
    return lines
