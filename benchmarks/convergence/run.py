"""The grid, fit by fit, each in a process of its own whose processor time is limited; outcomes go to a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .data import CLASSIFICATION, ORDINAL, REGRESSION, Dataset
from .fits import FITS, LIBLINEAR_TYPES, SKLEARN_INTERCEPT, Task
from .limited import limited

CS = tuple(10.0**k for k in range(-3, 4))
NUS = (0.01, 0.1, 0.5)
PENALTIES = ("l2", "l1", "elasticnet")
LOSSES = {
    CLASSIFICATION: ("squared_hinge", "logistic", "hinge", "modified_huber"),
    REGRESSION: ("squared", "epsilon_insensitive", "squared_epsilon_insensitive"),
    ORDINAL: ("squared_hinge", "hinge", "modified_huber"),
}


def tasks(kind: str) -> Iterator[tuple[str, Task]]:
    """Who fits what on a data set of that kind."""
    for C in CS:
        for loss in LOSSES[kind]:
            if kind == ORDINAL:
                yield "widemargin", Task(loss, "ordinal", C)
                continue
            for penalty in PENALTIES:
                yield from _contestants(loss, penalty, C)
    if kind == CLASSIFICATION:
        for nu in NUS:
            yield "widemargin", Task("one_class", "l2", nu)


def _contestants(loss: str, penalty: str, C: float) -> Iterator[tuple[str, Task]]:
    yield "widemargin", Task(loss, penalty, C)
    theirs = SKLEARN_INTERCEPT.get((loss, penalty))
    if theirs == "regularized" or (loss, penalty) in LIBLINEAR_TYPES:
        yield "widemargin", Task(loss, penalty, C, "regularized")
    if theirs is not None:
        yield "scikit-learn", Task(loss, penalty, C, theirs)
    if (loss, penalty) in LIBLINEAR_TYPES:
        yield "LIBLINEAR", Task(loss, penalty, C, "regularized")


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    """What tells one fit from another."""
    return tuple(row[name] for name in ("who", "data", "kind", "loss", "penalty", "C", "intercept"))


def read(path: Path) -> list[dict[str, Any]]:
    """The outcomes so far; of one fit made twice, the last."""
    lines = path.read_text().splitlines() if path.exists() else []
    return list({key(row): row for row in map(json.loads, lines)}.values())


def run(chosen: list[Dataset], path: Path, seconds: float, who: set[str], only: dict[str, set[Any]]) -> None:
    """Makes the fits that are not in the file yet and appends them to it."""
    done = {key(row) for row in read(path)}
    warm_up(who)
    for dataset in chosen:
        X, y = None, np.zeros(0)
        for name, task in tasks(dataset.kind):
            row = {"who": name, "data": dataset.name, "kind": dataset.kind, **vars(task)}
            wanted = name in who and all(row[word] in values for word, values in only.items() if values)
            if not wanted or key(row) in done:
                continue
            if X is None:
                X, y = dataset.load()
            row |= limited(partial(FITS[name], task, X, y), seconds, listens=name == "widemargin")
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")


def warm_up(who: set[str]) -> None:
    """Every kind of fit once on a few rows, so that no process has to import anything."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 3.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    for name, task in {key: key for kind in LOSSES for key in tasks(kind)}:
        if name in who and task.C in (CS[0], NUS[0]):
            FITS[name](task, X, y)
