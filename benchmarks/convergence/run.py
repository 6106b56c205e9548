"""The grid, fit by fit, each in a process of its own whose processor time is limited; outcomes go to a file.

A fork costs nothing here, shares the data, and makes the limit the same for everybody: the system sends SIGXCPU when
the seconds are used up. Ours takes it as Ctrl-C and tells the gap it has; others just end.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .data import CLASSIFICATION, ORDINAL, REGRESSION, Dataset
from .fits import FITS, LIBLINEAR_TYPES, SKLEARN_INTERCEPT, Outcome, Task

CS = tuple(10.0**k for k in range(-3, 4))
NUS = (0.01, 0.1, 0.5)
PENALTIES = ("l2", "l1", "elasticnet")
LOSSES = {
    CLASSIFICATION: ("squared_hinge", "logistic", "hinge", "modified_huber"),
    REGRESSION: ("squared", "epsilon_insensitive", "squared_epsilon_insensitive"),
    ORDINAL: ("squared_hinge", "hinge", "modified_huber"),
}
GRACE = 30  # seconds beyond the limit after which a process that does not listen is ended


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
            row |= in_a_process(name, task, X, y, seconds)
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")


def warm_up(who: set[str]) -> None:
    """Every kind of fit once on a few rows, so that no process has to import anything."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 3.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    for name, task in {key: key for kind in LOSSES for key in tasks(kind)}:
        if name in who and task.C in (CS[0], NUS[0]):
            FITS[name](task, X, y)


def in_a_process(name: str, task: Task, X: Any, y: np.ndarray, seconds: float) -> Outcome:
    """The outcome of one fit; "time_limit" where it was ended, "failed" where it raised."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        outcome = _limited(name, task, X, y, seconds)
        os.write(writer, json.dumps(outcome).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"seconds": seconds, "status": "time_limit"}


def _limited(name: str, task: Task, X: Any, y: np.ndarray, seconds: float) -> Outcome:
    if name == "widemargin":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGXCPU, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    limit = int(np.ceil(used + seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + GRACE))
    try:
        return FITS[name](task, X, y)
    except KeyboardInterrupt:
        return {"seconds": seconds, "status": "time_limit"}
    except Exception as error:
        return {"seconds": 0.0, "status": "failed", "error": f"{type(error).__name__}: {error}"[:300]}
