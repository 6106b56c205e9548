"""Whole commands against LIBLINEAR's: `python -m benchmarks.commandline [--megabytes 30 300] [--types 0 1 3]`.

Both programs train on, and then predict, the same generated LIBSVM file, warm in the page cache; wall clock and
processor seconds (user and system) of the whole process are taken, in turn, several times over, and a table of medians
is printed. LIBLINEAR's -e is chosen first, from a list that gets tighter, as the loosest one whose final objective,
recomputed here in float64, is at most ours: so both deliver the same. Needs Debian's liblinear-tools. Run it on a quiet
machine; an editable install adds some milliseconds to every start.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from widemargin import Problem, load_model, read_svmlight, write_svmlight

WIDEMARGIN = [str(Path(sys.executable).with_name("widemargin"))]
BYTES_PER_ROW = 956
LOSSES = {0: "logistic", 1: "squared_hinge", 2: "squared_hinge", 3: "hinge", 7: "logistic"}
TIGHTER = (0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5)


def generate(path: Path, megabytes: float, seed: int = 0) -> None:
    """Writes sparse rows of 60 entries out of 50,000 features, frequent ones first, with noisy labels."""
    rng = np.random.default_rng(seed)
    rows = max(100, int(megabytes * 1e6 / BYTES_PER_ROW))
    columns = np.minimum(49_999, (50_000 * rng.random((rows, 60)) ** 3).astype(np.int64))
    X = sp.csr_array((rng.random(rows * 60).round(3) + 0.001, columns.ravel(), np.arange(0, rows * 60 + 1, 60)),
                     shape=(rows, 50_000))  # fmt: skip
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)))
    X = sp.csr_array(X.multiply(1 / norms[:, np.newaxis]).astype(np.float32))
    score = X @ rng.standard_normal(50_000)
    write_svmlight(path, X, np.where(score + 0.3 * rng.standard_normal(rows) > 0, 1, -1))


class Cost(NamedTuple):
    """What a whole process took."""

    wall: float
    cpu: float


def cost_of(command: Sequence[str]) -> Cost:
    """Runs the command; seconds on the clock and of the processors."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(wall, used.ru_utime + used.ru_stime)


def in_turn(commands: dict[str, list[str]], repetitions: int) -> dict[str, Cost]:
    """Medians of each command, run in turn."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(repetitions):
        for name, command in commands.items():
            costs[name].append(cost_of(command))
    return {name: Cost(*map(statistics.median, zip(*each, strict=True))) for name, each in costs.items()}


def fair_epsilon(problem: Problem, train: list[str], model: Path, ours: float) -> float:
    """The loosest -e with which LIBLINEAR gets as low as we do."""
    for epsilon in TIGHTER:
        subprocess.run([*train, "-e", str(epsilon), *_files(problem, model)], check=True, stdout=subprocess.DEVNULL)
        if objective_of(problem, model) <= ours:
            return epsilon
    return TIGHTER[-1]


def _files(problem: Problem, model: Path) -> list[str]:
    return [str(model.parent / "data.svm"), str(model)]


def objective_of(problem: Problem, model: Path) -> float:
    """The objective of a saved model, recomputed."""
    loaded = load_model(model)
    return problem.objective(np.asarray(loaded.weights[0], dtype=np.float64), float(loaded.intercepts[0]))


def compare(folder: Path, kind: int, tol: float, repetitions: int) -> None:
    """Prints the medians for one type of model on the file in that folder."""
    data, ours, theirs = folder / "data.svm", folder / "ours.model", folder / "theirs.model"
    X, y = read_svmlight(data, n_jobs=-1)
    problem = Problem(X, y, loss=LOSSES[kind])
    options = ["-q", "-s", str(kind)]
    our_train = [*WIDEMARGIN, "train", *options, "-e", str(tol), str(data), str(ours)]
    subprocess.run(our_train, check=True)
    goal = objective_of(problem, ours)
    epsilon = fair_epsilon(problem, ["liblinear-train", *options], theirs, goal)
    their_train = ["liblinear-train", *options, "-e", str(epsilon), *_files(problem, theirs)]
    training = in_turn({"ours": our_train, "theirs": their_train}, repetitions)
    reached = objective_of(problem, theirs)
    out = str(folder / "out.txt")
    predicting = in_turn(
        {
            "ours": [*WIDEMARGIN, "predict", "-q", str(ours), str(data), out],
            "theirs": ["liblinear-predict", str(data), str(ours), out],
        },
        repetitions,
    )
    size = f"{data.stat().st_size / 1e6:.3g} MB"
    for name, found in ((f"train -s {kind}", training), (f"predict -s {kind}", predicting)):
        we, they = found["ours"], found["theirs"]
        print(
            f"| {size} | {name} | {we.wall:.3f} s | {they.wall:.3f} s | {they.wall / we.wall:.1f}x | {we.cpu:.3f} s "
            f"| {they.cpu:.3f} s | {they.cpu / we.cpu:.1f}x |",
            flush=True,
        )
    print(f"<!-- objective {goal:.8g}; LIBLINEAR with -e {epsilon:g}: {reached:.8g} -->", flush=True)


def main() -> None:
    """Runs the comparison that the command line describes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commandline", description=__doc__)
    parser.add_argument("--megabytes", nargs="+", type=float, default=[0.1, 30.0, 300.0])
    parser.add_argument("--types", nargs="+", type=int, default=[0, 1, 3], choices=list(LOSSES))
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    print("| file | command | wall | LIBLINEAR | ratio | processor | LIBLINEAR | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for megabytes in arguments.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data.svm"
            generate(data, megabytes)
            for kind in arguments.types:
                compare(Path(folder), kind, arguments.tol, arguments.repetitions)


if __name__ == "__main__":
    main()
