"""Trains a chain CRF or a structured SVM from a file of tagged sequences and saves it.

DATA is plain, .gz, .bz2 or .xz; `-` reads standard input. With --template it has CoNLL's columns, the label last; with
--format attributes it is CRFsuite's: the label, then attributes, apart by tabs. How files are read is saved in MODEL.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .options import DEFAULT_TOL, count, jobs, positive
from .targets import refuse_target
from .watch import tell

if TYPE_CHECKING:
    from ..data.tagging.formats import TaggingFormat
    from ..estimators._chain import ChainModel

SUMMARY = "train a model of sequences"
EXAMPLES = """\
examples:
  widemargin tag train --template template train.txt.xz model.wm
  widemargin tag train --template template -c 0.5 --features observed --transitions observed train.txt model.wm
  widemargin tag train --template template --kind svm -c 0.1 train.txt model.wm
  widemargin tag train --format attributes train.crfsuite.txt model.wm

CRF++'s -c is C here too; crfsuite's c2 = 1 is C = 0.5. A template's lines:
  U00:%x[0,0]            the first column of the token itself
  U01:%x[-1,0]/%x[0,1]   that of the token before, with the second column of this one
  B                      weights of neighbouring labels
"""
CHOICES = ("all", "observed")
FORMATS = ("columns", "attributes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("model", metavar="MODEL")
    group = parser.add_argument_group("data")
    group.add_argument("--template", metavar="FILE", help="CRF++'s template for columns")
    group.add_argument("--format", choices=FORMATS, help="the file's format (columns, with a template)")
    group = parser.add_argument_group("model")
    group.add_argument("--kind", choices=("crf", "svm"), default="crf", help="CRF or structured SVM (crf)")
    group.add_argument("-c", "--cost", type=positive, default=1.0, metavar="C", help="weight of the losses (1)")
    group.add_argument("--penalty", choices=("l2", "l1"), default="l2", help="of the CRF (l2)")
    group.add_argument("--features", choices=CHOICES, default="all", help="which (attribute, label) have weights (all)")
    group.add_argument("--transitions", choices=CHOICES, default="all", help="which pairs of labels have weights (all)")
    group.add_argument("--min-count", type=count, default=1, metavar="N", help="leave out attributes of fewer tokens")
    group = parser.add_argument_group("run")
    group.add_argument("--solver", default="auto", metavar="NAME", help="see `widemargin solvers` (auto)")
    group.add_argument("--tol", "-e", type=positive, default=DEFAULT_TOL, help=f"relative gap ({DEFAULT_TOL:g})")
    group.add_argument("--max-seconds", type=positive, metavar="S", help="limit on time")
    group.add_argument("--n-jobs", "-m", type=jobs, default=jobs("-1"), metavar="N", help="threads; -1: all cores (-1)")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    refuse_target(arguments.model, "the model", arguments.data, arguments.template)
    files = _format(arguments)
    model = _estimator(arguments)
    began = time.monotonic()
    said = _fit(model, files, arguments.data)
    model._tagging = files.facts()
    model.save(arguments.model)
    for warning in said:
        tell(f"warning: {warning}")
    _report(arguments, model, time.monotonic() - began)


def _format(arguments: argparse.Namespace) -> TaggingFormat:
    """How the options say that the file is read."""
    from ..data.tagging.formats import AttributeLines, TemplateColumns
    from ..data.tagging.template import read_template

    if arguments.template is None:
        if arguments.format != "attributes":
            raise ValueError("what describes a token? Give --template FILE for columns, or --format attributes")
        return AttributeLines()
    if arguments.format == "attributes":
        raise ValueError("--template is for columns: leave it out, or --format attributes")
    return TemplateColumns(read_template(arguments.template))


def _estimator(arguments: argparse.Namespace) -> ChainModel:
    """The model that the options ask for."""
    from ..estimators.chain_crf import ChainCRF
    from ..estimators.chain_svm import ChainSVM

    names = ("features", "transitions", "min_count", "solver", "tol", "max_seconds", "n_jobs")
    shared = {name: getattr(arguments, name) for name in names}
    if arguments.kind == "crf":
        return ChainCRF(arguments.cost, penalty=arguments.penalty, **shared)
    if arguments.penalty != "l2":
        raise ValueError("a structured SVM has penalty l2: leave --penalty out, or --kind svm")
    return ChainSVM(arguments.cost, **shared)


def _fit(model: ChainModel, files: TaggingFormat, path: str) -> list[str]:
    """Fits the model to a file, which is read once and not kept; what the fit warned of."""
    labels: list[list[str]] = []

    def tokens() -> Iterator[list[Any]]:
        for found in files.training(path):
            labels.append(found.labels or [])
            yield found.tokens
        if not labels:
            raise ValueError(f"{path}: no sequences")

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(tokens(), labels)
    return [str(warning.message) for warning in said]


def _report(arguments: argparse.Namespace, model: ChainModel, seconds: float) -> None:
    proof = model.certificate_
    facts = {
        "model": arguments.model,
        "labels": model.classes_.tolist(),
        "attributes": model.n_features_in_,
        "objective": proof.primal,
        "relative_gap": proof.relative_gap,
        "solver": model.solver_,
        "seconds": seconds,
    }
    if arguments.json:
        print(json.dumps(facts))
    elif not arguments.quiet:
        print(f"labels     {len(model.classes_)}, {model.n_features_in_:,} attributes")
        print(f"objective  {proof.primal:.10g}")
        print(f"gap        {proof.relative_gap:.2e} (relative, proven)")
        print(f"solver     {model.solver_}, {seconds:.2f} s with reading")
        print(f"model      {arguments.model}")
