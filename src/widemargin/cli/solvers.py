"""Lists the solvers with the losses, penalties and intercepts that each of them solves."""

from __future__ import annotations

import argparse

SUMMARY = "list the solvers and what each solves"
EXAMPLES = """\
examples:
  widemargin solvers
  widemargin solvers --names
  widemargin train --solver tron data.svm model.wm
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("--names", action="store_true", help="print the names alone, one per line")


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    from ..solvers.registry import table

    print("\n".join(table()) if arguments.names else table())
