"""The same fits in this checkout and in another one, alternately: `python -m benchmarks.before_after --other FOLDER`.

Two processes, one per checkout with that checkout's own interpreter (.venv/bin/python), each load the data once and are
then asked for one fit at a time, in turn, so that neither imports nor loading are timed and a noisy minute hits both. A
row is slower if the median of its ratios is above 1.1 and the difference is more than a millisecond.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

DATA = ["text_like", "20ng_bigram_binary", "reuters_moneyfx", "a9a", "w8a", "covtype"]
SLOWER, LEAST = 1.1, 1e-3

# What each process runs: the public interface alone, which both checkouts have. It reads a fit per line, and answers.
WORKER = """
import json, sys, time
from functools import lru_cache
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))
from benchmarks.datasets import available
from widemargin import LinearSVC, LogisticRegression, Matrix, Problem, find_C, solve


@lru_cache(maxsize=1)
def loaded(name):
    (dataset,) = available([name])
    X, y = dataset.load()
    return X, Matrix(X), y


def fit(ask):
    X, rows, y = loaded(ask["data"])
    begin = time.perf_counter()
    if ask["what"] == "find_C":
        find_C(X, y, ask["loss"], cv=3)
    elif ask["what"] == "ovr":
        LinearSVC(C=ask["C"], tol=ask["tol"]).fit(X, y)
    elif ask["what"] == "multinomial":
        LogisticRegression(C=ask["C"], tol=ask["tol"]).fit(X, y)
    else:
        solve(Problem(rows if ask["warm"] else X, y, ask["loss"], C=ask["C"]), tol=ask["tol"])
    return time.perf_counter() - begin


for line in sys.stdin:
    print(json.dumps(fit(json.loads(line))), flush=True)
"""


class Checkout:
    """A process in that folder."""

    def __init__(self, folder: Path) -> None:
        python = folder / ".venv" / "bin" / "python"
        self._process = subprocess.Popen(
            [python, "-W", "ignore", "-c", WORKER], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, ask: dict[str, Any]) -> float:
        """How long that fit took."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(ask) + "\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline()))


def fits(names: list[str], losses: list[str], Cs: list[float], tols: list[float]) -> list[dict[str, Any]]:
    """All fits that are compared."""
    asked: list[dict[str, Any]] = []
    for name in names:
        if name == "news20":
            asked += [{"what": "ovr", "data": name, "C": 1.0, "tol": 1e-3, "loss": "squared_hinge"}]
            asked += [{"what": "multinomial", "data": name, "C": 1.0, "tol": 1e-3, "loss": "multinomial"}]
            continue
        for loss in losses:
            asked += [
                {"what": "fit", "data": name, "loss": loss, "C": C, "tol": tol, "warm": False}
                for C in Cs
                for tol in tols
            ]
        if name in ("reuters_moneyfx", "a9a", "w8a"):
            asked.append({"what": "find_C", "data": name, "loss": "squared_hinge", "C": 0.0, "tol": 1e-3})
    return asked


def main() -> int:
    """Compares, prints a line per fit, and says which are slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.before_after", description=__doc__)
    parser.add_argument("--other", type=Path, required=True, help="the other checkout, set up by `make bench`")
    parser.add_argument("--data", nargs="+", default=[*DATA, "news20"])
    parser.add_argument("--loss", nargs="+", default=["squared_hinge", "hinge", "logistic"])
    parser.add_argument("--C", nargs="+", type=float, default=[1.0, 100.0])
    parser.add_argument("--tol", nargs="+", type=float, default=[1e-3])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--patience", type=float, default=20.0, help="seconds after which a fit is not repeated")
    asked = parser.parse_args()
    here, other = Checkout(Path.cwd()), Checkout(asked.other)
    slower = []
    for ask in fits(asked.data, asked.loss, asked.C, asked.tol):
        here.seconds(ask), other.seconds(ask)  # what is loaded, and the processor's caches
        pairs = [(here.seconds(ask), other.seconds(ask))]
        while len(pairs) < asked.repetitions and sum(map(sum, pairs)) < asked.patience:
            pairs.append((here.seconds(ask), other.seconds(ask)))
        ratio = statistics.median(mine / its for mine, its in pairs)
        mine, its = (statistics.median(times) for times in zip(*pairs, strict=True))
        label = f"{ask['data']:<20}{ask['what']:<12}{ask['loss']:<15}C={ask['C']:<6g}tol={ask['tol']:<8g}"
        is_slower = ratio > SLOWER and mine - its > LEAST
        print(f"{label}{mine:9.4f} s {its:9.4f} s  {ratio:6.2f}{'  slower' if is_slower else ''}", flush=True)
        slower += [label] if is_slower else []
    print(f"{len(slower)} slower by more than {100 * (SLOWER - 1):.0f} %")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
