"""Trains on real text that every machine with Python has: the source lines of the standard library.

Does a line come from code about networks, or from code about Python itself? The demo reads the lines, turns them into
hashed words and character runs, trains a linear SVM to a proven accuracy, tests it on files it has never seen,
shows the most telling features and draws how the gap fell.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..demo.run import Result

SUMMARY = "train on the standard library's own source lines and see the proof"
EXAMPLES = """\
examples:
  widemargin demo
  widemargin demo --lines 20000 --tol 1e-6 --output gap.png
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("--output", type=Path, default=Path("widemargin-demo.png"), help="the picture (%(default)s)")
    parser.add_argument("--lines", type=_positive_int, metavar="N", help="use at most N lines")
    parser.add_argument("--seconds", type=_positive, metavar="S", help="train for at most S seconds")
    parser.add_argument("--tol", type=_positive, default=1e-4, help="relative gap to reach (%(default)s)")
    parser.add_argument("--quiet", action="store_true", help="print nothing, only write the picture")


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    began = time.perf_counter()
    from ..demo.corpus import standard_library
    from ..demo.run import Settings, run_demo

    say = _say_nothing if arguments.quiet else _say
    root = standard_library()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    say("demo", f"is a line of Python {version}'s standard library about networks, or about Python itself?")
    watched = not arguments.quiet and sys.stderr.isatty() and find_spec("rich") is not None
    settings = Settings(lines=arguments.lines, seconds=arguments.seconds, tol=arguments.tol, progress=watched)
    result = run_demo(root, settings, say)
    say("picture", _draw(result, arguments.output, arguments.tol))
    say("total", f"{time.perf_counter() - began:.1f} s")


def _draw(result: Result, path: Path, tol: float) -> str:
    """Writes the picture; says where it is, or how to get it."""
    from ..plots.convergence import plot_convergence

    rows, columns = result.problem.X.shape
    title = f"{result.solution.solver}, squared hinge, {rows:,} lines of Python, {columns:,} hashed features"
    try:
        plot_convergence(result.solution, path, tol=tol, title=title)
    except ImportError as error:
        return f"not drawn: {error}"
    return str(path)


def _say(heading: str, fact: str) -> None:
    print(f"{heading:<10}{fact}", flush=True)


def _say_nothing(heading: str, fact: str) -> None:
    pass


def _positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"must be greater than 0, got {text}")
    return value


def _positive_int(text: str) -> int:
    return int(_positive(str(int(text))))
