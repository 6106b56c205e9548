"""Labels the tokens of sequences: trains, predicts and scores on files of columns or of CRFsuite's attributes.

Columns are CoNLL's: a token for each line, a blank line after each sequence, the label in the last column; a template
of CRF++ says what describes a token. `widemargin info MODEL` shows transitions and features.
"""

from __future__ import annotations

import argparse
from importlib import import_module

PARTS = ("train", "predict", "eval")
SUMMARY = "label the tokens of sequences"
EXAMPLES = """\
examples:
  widemargin tag train --template template train.txt model.wm
  widemargin tag predict model.wm test.txt > tagged.txt
  widemargin tag eval tagged.txt
  widemargin tag COMMAND --help                   tells the options of each
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the commands of this one."""
    parts = parser.add_subparsers(title="commands", metavar="<command>", required=True)
    for name in PARTS:
        part = import_module(f".tag_{name}", __package__)
        sub = parts.add_parser(
            name,
            help=part.SUMMARY,
            description=part.__doc__,
            epilog=part.EXAMPLES,
            allow_abbrev=False,
            formatter_class=parser.formatter_class,
        )
        part.add_arguments(sub)
        sub.set_defaults(part=part.run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    return int(arguments.part(arguments) or 0)
