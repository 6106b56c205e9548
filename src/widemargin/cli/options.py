"""Options that several commands share: LIBLINEAR's letters, our long names, and how data are read."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.liblinear_text import BY_NUMBER

if TYPE_CHECKING:
    from ..data.datasets import Reading
    from ..model.fit import Recipe

OTHER_LOSSES = ("one_class", "crammer_singer")  # which are problems of their own
FORMATS = ("svm", "npz", "csv", "tsv", "parquet", "arrow", "blocks")
DEFAULT_TYPE = 1
LIBLINEAR_LETTERS = {"epsilon": "-p"}
DEFAULT_TOL = 1e-3

_WEIGHT = re.compile(r"^-w([+-]?\d+(?:\.\d+)?)$")

TYPES_HELP = """\
types (-s), as LIBLINEAR numbers them; the solver behind each is chosen by the data unless --solver names one:
   0, 7    logistic, l2                    11, 12  squared epsilon-insensitive regression, l2
   1, 2    squared hinge, l2               13      epsilon-insensitive regression, l2
   3       hinge, l2                       21      one-class SVM
   5       squared hinge, l1                6      logistic, l1
   4       Crammer and Singer's SVM of all classes at once
The others train more than two classes one against the rest.
"""


def with_long_weights(argv: Sequence[str]) -> list[str]:
    """LIBLINEAR's `-w1 5`, whose name holds a label, as `--class-weight 1=5`.

    >>> with_long_weights(["train", "-w-1", "5", "data"])
    ['train', '--class-weight=-1=5', 'data']
    """
    words = list(argv)
    rewritten: list[str] = []
    while words:
        word = words.pop(0)
        found = _WEIGHT.match(word)
        if found and words:
            rewritten += ["--class-weight", f"{found[1].removeprefix('+')}={words.pop(0)}"]
        else:
            rewritten.append(word)
    # argparse takes "-1=5" for an option of its own, unless it is glued to the one it belongs to.
    return _glued(rewritten)


def _glued(words: list[str]) -> list[str]:
    glued: list[str] = []
    for word in words:
        if glued and glued[-1] == "--class-weight" and word.startswith("-"):
            glued[-1] += f"={word}"
        else:
            glued.append(word)
    return glued


def positive(text: str) -> float:
    """A finite number above zero."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number greater than 0, got {text}")
    return value


def not_negative(text: str) -> float:
    """A finite number, zero or above."""
    value = _number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number >= 0, got {text}")
    return value


def finite(text: str) -> float:
    """A finite number."""
    value = _number(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be finite, got {text}")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def count(text: str) -> int:
    """A whole number above zero."""
    value = _whole(text)
    if not 1 <= value <= 2**31 - 1:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 1, got {text}")
    return value


def jobs(text: str) -> int:
    """A number of threads; -1 becomes the number of cores, -2 one less, and so on."""
    value = _whole(text)
    if value == 0 or not -1024 <= value <= 1024:
        raise argparse.ArgumentTypeError(f"must be a number of threads, or -1 for all cores, got {text}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return value if value > 0 else max(1, cores + 1 + value)


def folds(text: str) -> int:
    """Two folds or more."""
    value = count(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"must be at least 2, got {text}")
    return value


def seed(text: str) -> int:
    """A seed."""
    value = _whole(text)
    if not 0 <= value < 2**64:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 2**64 - 1, got {text}")
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def memory(text: str) -> int:
    """An amount of memory such as 2G."""
    from ..data.block_file.memory import parse_memory

    try:
        return parse_memory(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def class_weight(text: str) -> tuple[str, float] | None:
    """`LABEL=FACTOR`, or `balanced` as None."""
    if text == "balanced":
        return None
    label, _, factor = text.rpartition("=")
    if not label:
        raise argparse.ArgumentTypeError(f"must be LABEL=FACTOR or balanced, got {text!r}")
    return label, positive(factor)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How the data are read."""
    group = parser.add_argument_group("data")
    group.add_argument("--format", choices=FORMATS, help="the file's format; by default its name tells")
    group.add_argument("--label", metavar="COLUMN", help="the column of the labels, in tables")
    group.add_argument("--text", metavar="COLUMN", action="append", default=[], help="hash the words of this column")
    group.add_argument("--bits", type=int, choices=range(8, 27), default=18, metavar="N", help="2^N hashed features")
    group.add_argument("--n-jobs", "-m", type=jobs, default=jobs("-1"), metavar="N", help="threads; -1: all cores (-1)")


def reading_of(arguments: argparse.Namespace) -> Reading:
    """Those options in one place."""
    from ..data.datasets import Reading

    return Reading(arguments.format, arguments.label, tuple(arguments.text), arguments.bits, arguments.n_jobs)


def add_training(parser: argparse.ArgumentParser, cost: bool = True) -> None:
    """What is trained, and how; without -c where the command searches for it."""
    from ..objective.loss_table import LOSSES

    losses = (*LOSSES, *OTHER_LOSSES)
    group = parser.add_argument_group("model")
    group.add_argument("-s", type=int, choices=tuple(BY_NUMBER), metavar="TYPE", help="type of model, see below (1)")
    group.add_argument("--loss", choices=losses, metavar="LOSS", help=f"instead of -s: {', '.join(losses)}")
    group.add_argument("--penalty", choices=("l2", "l1", "elasticnet"), help="with --loss (l2)")
    group.add_argument("--l1-ratio", type=_share, default=0.5, metavar="R", help="share of l1 in elasticnet (0.5)")
    if cost:
        group.add_argument("-c", "--cost", type=positive, default=1.0, metavar="C", help="weight of the losses (1)")
    add_loss_parameters(group)
    group.add_argument("-n", "--nu", type=positive, default=0.5, metavar="NU", help="share outside, one-class (0.5)")
    group.add_argument("-B", "--bias", type=finite, metavar="B", help="constant feature, penalised; < 0: none (-1)")
    group.add_argument("-R", action="store_true", help="do not penalise the bias; together with -B 1")
    group.add_argument("--intercept", choices=("none", "regularized", "free"), help="instead of -B and -R")
    group.add_argument("--class-weight", type=class_weight, action="append", default=[], metavar="LABEL=FACTOR",
                       help="multiply C of a class; 'balanced'; LIBLINEAR's -wLABEL FACTOR works too")  # fmt: skip
    group.add_argument("-M", type=int, choices=(0, 1), default=0, metavar="M",
                       help="more than two classes: 0 one against the rest, 1 one against one (0)")  # fmt: skip
    group = parser.add_argument_group("training")
    group.add_argument("-e", "--tol", type=positive, default=DEFAULT_TOL, metavar="TOL",
                       help="relative duality gap to reach, for every type (0.001)")  # fmt: skip
    group.add_argument("--solver", default="auto", metavar="NAME", help="one of `widemargin solvers --names` (auto)")
    group.add_argument(
        "--max-seconds", type=positive, metavar="S", help="stop training, or the whole search, after so long"
    )
    group.add_argument("--max-iter", type=count, metavar="N", help="stop after so many outer steps")
    group.add_argument("--seed", type=seed, default=0, metavar="N", help="of the order of rows (0)")


def add_loss_parameters(group: argparse._ArgumentGroup) -> None:
    """One option for each parameter that a loss has; LIBLINEAR's letter for epsilon."""
    from ..objective.loss_table import LOSSES

    for name in loss_parameter_names():
        whose = [loss for loss, family in LOSSES.items() if name in family.parameters]
        known = LOSSES[whose[0]].parameters[name]
        flags = (LIBLINEAR_LETTERS[name], f"--{name}") if name in LIBLINEAR_LETTERS else (f"--{name}",)
        group.add_argument(
            *flags, type=finite, metavar="P", help=f"{', '.join(whose)}: {known.words} ({known.default:g})"
        )


def loss_parameter_names() -> list[str]:
    """The names of all parameters that losses have."""
    from ..objective.loss_table import LOSSES

    return list(dict.fromkeys(name for family in LOSSES.values() for name in family.parameters))


def _parameters(arguments: argparse.Namespace, loss: str) -> dict[str, float]:
    """The loss's parameters, all of them; refuses one that is given and not its own."""
    from ..objective.loss_parameters import checked
    from ..objective.loss_table import LOSSES

    values = {name: getattr(arguments, name) for name in loss_parameter_names()}
    given = {name: value for name, value in values.items() if value is not None}
    known = LOSSES[loss].parameters if loss in LOSSES else {}
    if arguments.loss is None:  # a type of LIBLINEAR's ignores its letters for other types
        given = {name: value for name, value in given.items() if name in known or name not in LIBLINEAR_LETTERS}
    return checked(f"loss {loss!r}", known, given)


def _share(text: str) -> float:
    value = not_negative(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, got {text}")
    return value


def recipe_of(arguments: argparse.Namespace) -> Recipe:
    """Those options as a recipe."""
    from ..model.fit import Recipe

    loss, penalty, task, name = _kind(arguments)
    intercept, bias = _intercept(arguments)
    given = [weight for weight in arguments.class_weight if weight is not None]
    return Recipe(
        loss=loss,
        penalty=penalty,
        task=task,
        C=arguments.cost,
        l1_ratio=arguments.l1_ratio,
        parameters=_parameters(arguments, loss),
        nu=arguments.nu,
        intercept=intercept,
        bias=bias,
        class_weight=dict(given),
        balanced=None in arguments.class_weight,
        solver=arguments.solver,
        tol=arguments.tol,
        max_seconds=arguments.max_seconds,
        max_iter=arguments.max_iter,
        n_jobs=arguments.n_jobs,
        seed=arguments.seed,
        pairs=arguments.M == 1,
        liblinear=name,
    )


def _kind(arguments: argparse.Namespace) -> tuple[str, str, str, str | None]:
    """Loss, penalty, task and LIBLINEAR's name for them."""
    if arguments.loss is not None:
        if arguments.s is not None:
            raise ValueError("-s and --loss say the same thing twice: give one of them")
        return arguments.loss, arguments.penalty or "l2", _task(arguments.loss), None
    kind = BY_NUMBER[DEFAULT_TYPE if arguments.s is None else arguments.s]
    if arguments.penalty is not None and arguments.s is not None:
        raise ValueError("-s decides the penalty: give --loss and --penalty instead")
    if arguments.penalty is not None:
        return kind.loss, arguments.penalty, kind.task, None
    return kind.loss, kind.penalty, kind.task, kind.name


def _task(loss: str) -> str:
    """What is learnt with a loss."""
    from ..objective.loss_table import LOSSES

    if loss == "one_class":
        return "one_class"
    return "regression" if loss in LOSSES and not LOSSES[loss].classification else "classification"


def _intercept(arguments: argparse.Namespace) -> tuple[str, float]:
    bias = -1.0 if arguments.bias is None else arguments.bias
    if arguments.intercept is not None:
        if arguments.R:
            raise ValueError("-R and --intercept say the same thing twice: give one of them")
        return arguments.intercept, bias if bias > 0 else 1.0
    if arguments.R and bias != 1:
        raise ValueError("-R leaves the bias unpenalised, so it needs one: give -B 1 as well")
    if bias <= 0:  # a constant feature of 0 is none
        return "none", 1.0
    return ("free" if arguments.R else "regularized"), bias
