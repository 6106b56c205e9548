"""The Newton solvers against their peers, time to the same objective: `python -m benchmarks.newton`.

Few features: newton_cholesky; many: tron, and what `auto` takes there. Peers are LIBLINEAR's primal solvers (-s 2,
-s 0) and dual ones (-s 1, -s 7) and, for logistic regression, scikit-learn's newton-cholesky and lbfgs. Every cell is
the time to a relative suboptimality of 1e-6, in brackets over ours. `--threads 2` measures what threads gain instead.
Set OPENBLAS_NUM_THREADS=1 to keep the peers to one thread, as ours are.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings

import numpy as np
import scipy.sparse as sp

from widemargin import Problem, solve

from .contestants import LIBLINEAR_DUAL, LIBLINEAR_PRIMAL, Contestant, Run, liblinear, widemargin
from .datasets import available
from .harness import Curve, Result, compete

FEW_FEATURES = ("a9a", "w8a", "ijcnn1", "census_income", "covtype")
MANY_FEATURES = ("reuters_moneyfx", "imdb_bow", "20ng_bigram_binary")
LARGE = ("covtype", "census_income", "20ng_bigram_binary", "text_like")  # more than 5 million nonzeros each
SKLEARN_TOL = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
TARGET = 1e-6
PATIENCE = 8.0


def sklearn_logistic(solver: str) -> Contestant:
    """scikit-learn's LogisticRegression; newton-cholesky takes dense rows only."""

    def prepare(X: sp.csr_matrix, y: np.ndarray, loss: str, C: float) -> Run | None:
        from sklearn.linear_model import LogisticRegression

        if loss != "logistic" or (solver == "newton-cholesky" and X.shape[1] > 1000):
            return None
        rows = X.toarray() if solver == "newton-cholesky" else X

        def run(tol: float) -> tuple[float, np.ndarray]:
            model = LogisticRegression(C=C, solver=solver, tol=tol, fit_intercept=False, max_iter=1000)
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "failed to converge": the referee sees it in the objective
                model.fit(rows, y)
            return time.perf_counter() - start, model.coef_.ravel()

        return run

    return Contestant(f"scikit-learn {solver}", SKLEARN_TOL, prepare)


PEERS = (
    liblinear(LIBLINEAR_PRIMAL, "LIBLINEAR -s 2, -s 0"),
    liblinear(LIBLINEAR_DUAL, "LIBLINEAR -s 1, -s 7"),
    sklearn_logistic("newton-cholesky"),
    sklearn_logistic("lbfgs"),
)


def cell(curve: Curve | None, ours: float | None) -> str:
    """The time to the target with its ratio; where it was not reached, the longest run and what that reached."""
    if curve is None:
        return ""
    seconds = curve.time_to(TARGET)
    if seconds is None:
        least = max(curve.seconds)
        ratio = "" if ours is None else f", > {least / ours:.0f}x"
        return f"not reached ({min(curve.suboptimality):.0e} in {least:.1f} s{ratio})"
    ratio = "" if ours in (None, seconds) else f" ({seconds / ours:.1f}x)"
    return f"{1e3 * seconds:.1f} ms{ratio}"


def line(result: Result, names: list[str]) -> str:
    """One problem as a row of the table."""
    curves = {curve.contestant: curve for curve in result.curves}
    ours = curves[names[0]].time_to(TARGET)
    return f"| {result.dataset}, {result.loss} | " + " | ".join(cell(curves.get(n), ours) for n in names) + " |"


def speed_table(title: str, data: list[str], mine: list[str], losses: list[str], C: float, repetitions: int) -> None:
    """One row per data set and loss; the first of our solvers is the measure."""
    contestants = [*(widemargin(solver) for solver in mine), *PEERS]
    names = [c.name for c in contestants]
    print(f"\n**{title}**, C = {C:g}, to a relative suboptimality of {TARGET:g}\n")
    print("| | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|", flush=True)
    for dataset in available(data):
        X, y = dataset.load()
        for loss in losses:
            result = compete(dataset.name, X, y, loss, C, contestants, repetitions=repetitions, patience=PATIENCE)
            print(line(result, names), flush=True)


def threads_table(data: list[str], losses: list[str], C: float, repetitions: int, threads: int) -> None:
    """One thread against several: time, and whether every bit of the weights is the same."""
    print(f"\n**{threads} threads against one**, C = {C:g}, relative gap 1e-6\n")
    print(f"| | solver | one thread | {threads} threads | gain | same bits |\n|---|---|---|---|---|---|", flush=True)
    for dataset in available([name for name in data if name in LARGE]):
        X, y = dataset.load()
        for loss in losses:
            solver = "newton_cholesky" if X.shape[1] <= 1000 else "tron"
            times: dict[int, list[float]] = {1: [], threads: []}
            found = {}
            for _ in range(repetitions):
                for n_jobs, seconds in times.items():
                    problem = Problem(X, y, loss=loss, C=C)
                    start = time.perf_counter()
                    found[n_jobs] = solve(problem, solver, tol=1e-6, n_jobs=n_jobs, max_seconds=60).coef
                    seconds.append(time.perf_counter() - start)
            one, many = (statistics.median(seconds) for seconds in times.values())
            same = "yes" if np.array_equal(found[1], found[threads]) else "NO"
            print(
                f"| {dataset.name}, {loss} | {solver} | {1e3 * one:.0f} ms | {1e3 * many:.0f} ms "
                f"| {one / many:.2f}x | {same} |",
                flush=True,
            )


def main() -> None:
    """Prints the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", help="data sets (default: those of each table)")
    parser.add_argument("--loss", nargs="+", default=["squared_hinge", "logistic"])
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="compare so many threads with one, instead of peers")
    asked = parser.parse_args()
    if asked.threads > 1:
        threads_table(asked.data or list(LARGE), asked.loss, asked.C, asked.repetitions, asked.threads)
        return
    settings = (asked.loss, asked.C, asked.repetitions)
    few = [name for name in FEW_FEATURES if asked.data is None or name in asked.data]
    many = [name for name in asked.data or MANY_FEATURES if name not in FEW_FEATURES]
    if few:
        speed_table("Few features", few, ["newton_cholesky"], *settings)
    if many:
        speed_table("Many features", many, ["tron", "auto"], *settings)


if __name__ == "__main__":
    main()
