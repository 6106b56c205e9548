"""Two checkouts on the same fits: this one against another, before a change.

    python -m benchmarks.before_after --other /path/to/checkout [--data a9a ...] [--loss hinge ...] [--C 1 ...]
                                      [--tol 1e-3 ...] [--repetitions 5]

Each checkout has a process of its own, run by its own `.venv/bin/python` and fed the same rows, which fits when it is
told to. The two take turns, so that whatever else the machine does slows both. Processor time; importing and loading
are not timed. `auto` chooses the solver. The ratio of a row is the median over the repetitions of after / before; rows
that are slower by more than a tenth are marked.

Data come from the folder that WIDEMARGIN_DATA names, and generated text-like rows. news20 with its twenty classes: one
against rest, and all at once for the logistic loss. "search" is `find_C` with its defaults.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from widemargin import read_svmlight

from .datasets import Dataset, data_file, real, text_like

HERE = Path(__file__).resolve().parents[1]
WORKER = Path(__file__).with_name("before_after_worker.py")
LOSSES = ("squared_hinge", "hinge", "logistic")
SEARCHED = ("a9a", "w8a", "reuters_moneyfx")
SLOWER = 1.1


@dataclass(frozen=True)
class Case:
    """One fit: which of the worker's, and its settings."""

    fit: str
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.settings.items()) or self.fit


class Side:
    """A checkout's process."""

    def __init__(self, checkout: Path) -> None:
        python = checkout / ".venv" / "bin" / "python"
        if not python.exists():
            raise SystemExit(f"{checkout} has no .venv/bin/python: run `make` there first")
        # -I: the folder of the worker holds the modules of this checkout, and none of them may be found.
        self._process = subprocess.Popen(
            [python, "-I", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=checkout
        )

    def ask(self, **request: Any) -> dict[str, float]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self._process.args} ended at {request}")
        answer: dict[str, float] = json.loads(line)
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@dataclass(frozen=True)
class Row:
    """What a case took on both sides, repetition by repetition, and what came out."""

    dataset: str
    case: Case
    before: list[float]
    after: list[float]
    outcomes: tuple[float, float]

    @property
    def ratio(self) -> float:
        return statistics.median(a / b for a, b in zip(self.after, self.before, strict=True))

    def __str__(self) -> str:
        seconds = f"{statistics.median(self.before):.4f} | {statistics.median(self.after):.4f}"
        mark = " **slower**" if self.ratio > SLOWER else ""
        outcomes = " / ".join(f"{outcome:.3g}" for outcome in self.outcomes)
        return f"| {self.dataset} | {self.case} | {seconds} | {self.ratio:.2f}{mark} | {outcomes} |"


def several_classes(name: str) -> Dataset:
    """A real set with its classes as they are."""
    return Dataset(name, lambda: read_svmlight(data_file(name)))


DATASETS = {
    "text_like": text_like(),
    "20ng_bigram_binary": real("20ng_bigram_binary"),
    "reuters_moneyfx": real("reuters_moneyfx"),
    "a9a": real("a9a"),
    "w8a": real("w8a"),
    "news20": several_classes("news20"),
    "covtype": real("covtype", positive=2.0),
}


def cases(name: str, options: argparse.Namespace) -> Iterator[Case]:
    """What is fitted to that data set."""
    fit = "several_classes" if name == "news20" else "two_classes"
    for loss, C, tol in product(options.loss, options.C, options.tol):
        yield Case(fit, {"loss": loss, "C": C, "tol": tol})
    if name in SEARCHED:
        yield Case("search")


def write(dataset: Dataset, path: Path) -> None:
    """The rows and labels, for the two processes to load."""
    X, y = dataset.load()
    X = sp.csr_matrix(X)
    np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=np.array(X.shape), y=y)


def compare(before: Side, after: Side, name: str, case: Case, repetitions: int) -> Row:
    """Both in turn, and in the other order the next time."""
    seconds: dict[Side, list[float]] = {before: [], after: []}
    outcomes: dict[Side, float] = {}
    for k in range(repetitions):
        for side in (before, after) if k % 2 == 0 else (after, before):
            answer = side.ask(fit=case.fit, settings=case.settings)
            seconds[side].append(answer["seconds"])
            outcomes[side] = answer["outcome"]
    return Row(name, case, seconds[before], seconds[after], (outcomes[before], outcomes[after]))


def rows(before: Side, after: Side, options: argparse.Namespace) -> Iterator[Row]:
    """Every case of every data set."""
    with tempfile.TemporaryDirectory() as folder:
        for name in options.data:
            path = Path(folder) / "rows.npz"
            write(DATASETS[name], path)
            for side in (before, after):
                side.ask(load=str(path))
            for case in cases(name, options):
                yield compare(before, after, name, case, options.repetitions)


def main() -> None:
    """Prints a row as soon as it is known, and at the end how many were slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.before_after")
    parser.add_argument("--other", type=Path, required=True, help="the checkout before the change")
    parser.add_argument("--data", nargs="+", default=list(DATASETS), choices=list(DATASETS))
    parser.add_argument("--loss", nargs="*", default=LOSSES, choices=LOSSES)
    parser.add_argument("--C", nargs="+", type=float, default=[1.0, 100.0])
    parser.add_argument("--tol", nargs="+", type=float, default=[1e-3, 1e-6])
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    before, after = Side(options.other.resolve()), Side(HERE)
    print("| data | fit | before, s | after, s | after / before | gap or score |\n|---|---|---:|---:|---:|---|")
    slower = 0
    try:
        for row in rows(before, after, options):
            print(row, flush=True)
            slower += row.ratio > SLOWER
    finally:
        before.close()
        after.close()
    print(f"\n{slower} row(s) slower by more than {SLOWER - 1:.0%}", file=sys.stderr)


if __name__ == "__main__":
    main()
