"""The command line: `widemargin <command>`.

A command is a file of this package with four names: SUMMARY (one line for --help), EXAMPLES (below its own --help),
`add_arguments(parser)` and `run(arguments)`, which returns nothing or an exit code. Its file imports nothing heavy
until `run`. To add one, write the file and its name into COMMANDS.

Exit codes: 0 done, 1 failed (one line on standard error says why), 2 wrong usage, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import NoReturn

from .. import __version__
from .options import with_long_weights

COMMANDS = ("train", "predict", "cv", "path", "info", "convert", "tag", "bench", "demo", "solvers")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code.

    Examples
    --------
    >>> from widemargin.cli import main
    >>> main(["solvers", "--names"])  # doctest: +ELLIPSIS
    dual_cd...
    """
    words = with_long_weights(sys.argv[1:] if argv is None else argv)
    arguments = build_parser(*[name for name in words[:1] if name in COMMANDS]).parse_args(words)
    try:
        code = int(arguments.run(arguments) or 0)
        sys.stdout.flush()  # here, where a full disk is still an error with a message
        return code
    except KeyboardInterrupt:
        print("\nwidemargin: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read us is gone (`widemargin solvers | head -1`): not an error, and nothing may be written any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if arguments.traceback:
            raise
        with contextlib.suppress(OSError):
            sys.stdout.flush()  # what cannot be written now is not tried again when Python ends
        print(f"widemargin: error: {_one_line(error) or type(error).__name__}", file=sys.stderr)
        return 1
    except Exception as error:
        if arguments.traceback:
            raise
        # Nobody foresaw it, so it is ours to mend; what the user sees is one line all the same.
        kind = type(error).__name__
        print(f"widemargin: internal error: {kind}: {_one_line(error)} (--traceback before the command shows where)",
              file=sys.stderr)  # fmt: skip
        return 1


def run() -> NoReturn:
    """The program itself: runs the command line and leaves.

    By then everything is written and closed. Taking down Python, NumPy and the data object by object would take longer
    than some commands do, so it is left to the system.
    """
    _open_what_is_closed()
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _open_what_is_closed() -> None:
    """A standard stream that the caller closed is empty, or swallows what it is given.

    Otherwise the next file to be opened would get its number, and be taken for it by whoever writes there.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # stays open as long as the program runs


def _one_line(error: BaseException) -> str:
    """What went wrong in one line; of a file that cannot be used, its name and why."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror[0].lower()}{error.strerror[1:]}"
    return " ".join(str(error).split())


class _Help(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal. argparse makes one for every option, and would load shutil to measure the width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


@lru_cache
def _columns() -> int:
    with contextlib.suppress(ValueError):
        return max(20, int(os.environ.get("COLUMNS", "")))
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return max(20, os.get_terminal_size(sys.__stdout__.fileno()).columns)  # type: ignore[union-attr]
    return 80


def build_parser(*names: str) -> argparse.ArgumentParser:
    """The parser of those commands, or of the whole command line; one of one command is made faster."""
    parser = argparse.ArgumentParser(
        prog="widemargin",
        description="Large-scale linear classification with a proof of accuracy for every fit.",
        formatter_class=_Help,
    )
    parser.add_argument("--version", action="version", version=f"widemargin {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    commands = parser.add_subparsers(prog="widemargin", title="commands", metavar="<command>", required=True)
    for name in names or COMMANDS:
        command = import_module(f".{name}", __name__)
        sub = commands.add_parser(
            name,
            help=command.SUMMARY,
            description=command.__doc__,
            epilog=command.EXAMPLES,
            allow_abbrev=False,
            formatter_class=_Help,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser
