"""Labels the sequences of a file with a saved model, some at a time: memory does not grow with the file.

DATA is read as the training file was; its labels may be missing. Every line of columns is written with the label behind
it, of attributes the label in front and the predicted one, as `widemargin tag eval` reads them. `-` is standard input.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .options import jobs
from .targets import refuse_overwriting

if TYPE_CHECKING:
    from .tag_model import Prediction

SUMMARY = "label the sequences of a file"
EXAMPLES = """\
examples:
  widemargin tag predict model.wm test.txt > tagged.txt
  widemargin tag predict --labels model.wm test.txt labels.txt
  zcat huge.txt.gz | widemargin tag predict model.wm - > tagged.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("data", metavar="DATA", nargs="?", default="-")
    parser.add_argument("output", metavar="OUT", nargs="?", default="-")
    parser.add_argument("--labels", action="store_true", help="write the predicted labels alone")
    parser.add_argument("--n-jobs", "-m", type=jobs, default=jobs("-1"), metavar="N", help="threads; -1: all (-1)")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not print the score")


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    from ..data.files import written_whole
    from .tag_model import load_tagger
    from .tag_score import TagScore

    if arguments.output != "-":
        refuse_overwriting(arguments.output, "the labels", arguments.model, arguments.data)
    tagger, score = load_tagger(arguments.model, arguments.n_jobs), TagScore()
    empty = True
    with written_whole(arguments.output) as file:
        for found in tagger.predictions(arguments.data):
            file.write(_lines(found, alone=arguments.labels).encode())
            empty = False
            if found.tagged.labels is not None:
                score.add(found.tagged.labels, found.labels)
        if empty:
            raise ValueError(f"{arguments.data}: no sequences")
    if score.tokens and not arguments.quiet:
        print(score.line(), file=sys.stderr if arguments.output == "-" else sys.stdout)


def _lines(found: Prediction, *, alone: bool) -> str:
    """The lines of a sequence, and the blank one behind it."""
    if alone:
        return "".join(f"{label}\n" for label in found.labels) + "\n"
    pairs = zip(found.tagged.shown, found.labels, strict=True)
    return "".join(f"{line}\t{label}\n" for line, label in pairs) + "\n"
