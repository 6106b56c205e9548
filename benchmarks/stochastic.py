"""Stochastic solvers beside the SGD paper's tables, scikit-learn's SGDClassifier, dual CD and Vowpal Wabbit.

    python -m benchmarks.stochastic [epochs] [speed] [small_C] [online]

WIDEMARGIN_DATA names the folder of data sets.

epochs   T to (J - J_opt) / J_opt <= 0.01, median over seeds, beside Tables 2, 4 and 6 of Panagiotakopoulos and
         Tsampouka (2013)
speed    one epoch of sgd_s against one of SGDClassifier
small_C  the time of sgd_m to 1 % at C = 0.05 against that of dual CD
online   rows per second, reading the file included, against Vowpal Wabbit if it is installed

Every pair is timed in turns in the same run, and the best of several rounds is taken.
"""

from __future__ import annotations

import argparse
import lzma
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from widemargin import OnlineClassifier, Problem, read_svmlight, solve
from widemargin.solvers.base import Run
from widemargin.solvers.registry import make_solver

from .datasets import data_file

# T of the paper per data set, C and solver.
PAPER = {
    ("a9a", 1.0): {"sgd_r": 116, "sgd_s": 111, "sgd_m": 50},
    ("a9a", 10.0): {"sgd_r": 1146, "sgd_s": 1172, "sgd_m": 455},
    ("a9a", 0.05): {"sgd_r": 12, "sgd_s": 10, "sgd_m": 6},
    ("w8a", 1.0): {"sgd_r": 46, "sgd_s": 26, "sgd_m": 14},
    ("w8a", 10.0): {"sgd_r": 330, "sgd_s": 220, "sgd_m": 99},
    ("w8a", 0.05): {"sgd_r": 4, "sgd_s": 2, "sgd_m": 2},
    ("covtype", 1.0): {"sgd_r": 62, "sgd_s": 65, "sgd_m": 18},
    ("covtype", 10.0): {"sgd_r": 472, "sgd_s": 462, "sgd_m": 269},
    ("covtype", 0.05): {"sgd_r": 4, "sgd_s": 4, "sgd_m": 5},
}


def load(name: str) -> tuple[Any, np.ndarray]:
    """A data set as the paper had it: covtype as its first class against the rest, features times 0.001."""
    X, y = read_svmlight(data_file(name))
    if name == "covtype":
        y = np.where(y == 1, 1, -1)
        X = X * 0.001
    return X, y


def epochs_to(problem: Problem, solver: str, target: float, seed: int, limit: int) -> float:
    """Epochs until the exact objective is at most `target`."""
    run = Run(0.0, seed, math.inf, True, None, lambda: math.inf)
    for step in make_solver(solver).iterate(problem, run):
        if step.objective < 1.1 * target and problem.objective(step.point().w) <= target:
            return step.iteration
        if step.iteration >= limit:
            return math.inf
    return math.inf


def epoch_table(seeds: int) -> None:
    """The paper's T beside ours."""
    print(f"{'data':<10}{'C':>6}  {'solver':<8}{'paper':>7}{'ours':>8}   seeds")
    for (name, C), row in PAPER.items():
        X, y = load(name)
        problem = Problem(X, y, loss="hinge", C=C)
        optimum = solve(problem, "dual_cd", tol=1e-4, max_seconds=120).certificate.dual
        n = 1 if name == "covtype" else seeds
        for solver, published in row.items():
            found = sorted(epochs_to(problem, solver, 1.01 * optimum, seed, 4 * published + 20) for seed in range(n))
            print(f"{name:<10}{C:>6g}  {solver:<8}{published:>7}{np.median(found):>8g}   {found}", flush=True)


def in_turns(rounds: int, *works: Callable[[], Any]) -> list[float]:
    """The best time of each, taken in turns."""
    best = [math.inf] * len(works)
    for _ in range(rounds):
        for k, work in enumerate(works):
            began = time.perf_counter()
            work()
            best[k] = min(best[k], time.perf_counter() - began)
    return best


def speed_table(rounds: int) -> None:
    """One epoch against SGDClassifier."""
    from sklearn.linear_model import SGDClassifier

    for name in ("a9a", "w8a", "imdb_bow", "20ng_bigram_binary"):
        X, y = load(name)
        problem = Problem(X, y, loss="hinge", C=1.0)
        n = 10

        def ours(problem: Problem = problem, n: int = n) -> None:
            run = Run(0.0, 0, n, False, None, lambda: math.inf)
            for step in make_solver("sgd_s").iterate(problem, run):
                if step.iteration >= n:
                    return

        peer = SGDClassifier(
            loss="hinge", alpha=1 / len(y), max_iter=n, tol=None, fit_intercept=False, learning_rate="optimal"
        )
        mine, theirs = in_turns(rounds, ours, lambda X=X, y=y, peer=peer: peer.fit(X, y))
        print(
            f"{name:<20} epoch: ours {mine / n * 1e3:7.2f} ms, SGDClassifier {theirs / n * 1e3:7.2f} ms, "
            f"{theirs / mine:.1f}x",
            flush=True,
        )


def small_C_table(rounds: int) -> None:
    """SGD-m against dual CD: as many passes as 1 % above the optimum takes, at C = 0.05."""
    for name in ("a9a", "w8a", "covtype", "20ng_bigram_binary"):
        X, y = load(name)
        problem = Problem(X, y, loss="hinge", C=0.05)
        target = 1.01 * solve(problem, "dual_cd", tol=1e-4, max_seconds=60).certificate.dual
        solvers = ("sgd_m", "dual_cd")
        passes = [int(epochs_to(problem, solver, target, 0, 500)) for solver in solvers]
        works = [
            lambda problem=problem, solver=solver, n=n: solve(problem, solver, tol=0.0, max_iter=n)
            for solver, n in zip(solvers, passes, strict=True)
        ]
        for solver, n, seconds in zip(solvers, passes, in_turns(rounds, *works), strict=True):
            print(f"{name:<20} C = 0.05 to 1 %: {solver:<8} {n:4d} passes {seconds * 1e3:8.1f} ms", flush=True)


def online_table(rounds: int) -> None:
    """Rows per second from the text file to the model."""
    name = "imdb_bow"
    with lzma.open(data_file(name)) as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"{name}.svm"
        path.write_bytes(text)
        shuffled = Path(scratch) / "shuffled.svm"
        lines = text.decode().splitlines()
        order = np.random.default_rng(0).permutation(len(lines))
        shuffled.write_text("\n".join(lines[i] for i in order) + "\n")
        vw_file = Path(scratch) / "shuffled.vw"
        vw_file.write_text("".join(_as_vw(lines[i]) for i in order))

        def ours() -> OnlineClassifier:
            X, y = read_svmlight(shuffled)
            return OnlineClassifier(shuffle=False).fit(X, y)

        works: list[Callable[[], Any]] = [ours]
        try:
            from vowpalwabbit import Workspace
        except ImportError:
            print("vowpalwabbit is not installed: pip install vowpalwabbit")
        else:

            def theirs() -> None:
                Workspace(f"-d {vw_file} --loss_function logistic --quiet -b 18").finish()

            works.append(theirs)
        seconds = in_turns(rounds, *works)
        for who, s in zip(("OnlineClassifier", "Vowpal Wabbit"), seconds, strict=False):
            print(f"{who:<20}{len(lines) / s:12,.0f} rows/s, {len(text) / s / 1e6:8.1f} MB/s of LIBSVM text")


def _as_vw(line: str) -> str:
    label, _, features = line.partition(" ")
    return f"{'1' if float(label) > 0 else '-1'} | {features}\n"


def main() -> None:
    """Runs what the command line names, all by default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["epochs", "speed", "small_C", "online"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    tables = {
        "epochs": lambda: epoch_table(arguments.seeds),
        "speed": lambda: speed_table(arguments.rounds),
        "small_C": lambda: small_C_table(arguments.rounds),
        "online": lambda: online_table(arguments.rounds),
    }
    unknown = [what for what in arguments.what if what not in tables]
    if unknown:
        sys.exit(f"unknown table {unknown[0]!r}: use one of {', '.join(tables)}")
    for what in arguments.what:
        tables[what]()


if __name__ == "__main__":
    main()
