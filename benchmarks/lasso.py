"""The lasso: time to a relative suboptimality of 1e-2, 1e-3 and 1e-6 against scikit-learn, celer and skglm.

    python -m benchmarks.lasso [names ...]

Data come from the folder that WIDEMARGIN_DATA names; labels, less their mean, serve as targets. Each solver is run at
its own tolerances, from loose to tight, and the fastest run whose objective, recomputed here in float64, is within the
target of the best lower bound counts. Medians of interleaved repetitions in process time; columns are at hand on all
sides. celer and skglm are optional and warmed up first, so their compilation is not counted.

A second table counts column steps and entries read in uniform and adaptive order, without working sets, screening and
extrapolation, to a relative gap of 1e-3, beside the ratios in Table 3 of Glasmachers and Dogan (2013).
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from widemargin import Problem, read_svmlight, solve
from widemargin.solvers import LassoCD

from .datasets import data_file

TARGETS = (1e-2, 1e-3, 1e-6)
TOLERANCES = (3e-1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
RATIOS = (0.1, 0.01, 0.001)  # alpha as a share of the smallest one that leaves no feature
REPETITIONS = 3
MAX_SECONDS = 60.0
STEP_SECONDS = 30.0  # for one line of the table of steps
NAMES = ("reuters_moneyfx", "news20", "20ng_bigram_binary", "imdb_bow", "dorothea", "leu")
# Uniform over adaptive column steps in the paper's Table 3, from the smallest lambda to the largest.
PAPER = {
    "rcv1": (9.4, 5.0, 12, 15, 4.4, 1.8),
    "news20": (68, 46, 16, 0.7),
    "E2006-tfidf": (58, 41, 4.5, 0.9),
}

Fit = Callable[[float], np.ndarray]


def peers(X: sp.csc_matrix, y: np.ndarray, alpha: float) -> Iterator[tuple[str, Fit]]:
    """Each installed peer as a function from a tolerance to coefficients."""
    from sklearn.linear_model import Lasso

    yield "scikit-learn", lambda tol: Lasso(alpha=alpha, fit_intercept=False, tol=tol, max_iter=20_000).fit(X, y).coef_
    try:
        from celer import Lasso as CelerLasso

        yield "celer", lambda tol: CelerLasso(alpha=alpha, fit_intercept=False, tol=tol, max_iter=200).fit(X, y).coef_
    except ImportError:
        pass
    try:
        from skglm import Lasso as SkglmLasso

        yield "skglm", lambda tol: SkglmLasso(alpha=alpha, fit_intercept=False, tol=tol, max_iter=200).fit(X, y).coef_
    except ImportError:
        pass


def time_to_targets(problem: Problem, fits: dict[str, Fit]) -> dict[str, list[float]]:
    """Seconds to each target, the fastest tolerance that gets there; nan where none does."""
    best = solve(problem, LassoCD(), tol=1e-9, max_seconds=MAX_SECONDS).certificate.dual
    seconds = {name: np.full(len(TARGETS), np.nan) for name in fits}
    for name, fit in fits.items():
        fit(TOLERANCES[0])  # warm up, compile
        for tol in TOLERANCES:
            taken, coef = timed(fit, tol)
            objective = problem.objective(coef)
            reached = (objective - best) / objective <= np.array(TARGETS) * (1 + 1e-6)
            seconds[name] = np.where(reached, np.fmin(seconds[name], taken), seconds[name])
            if reached.all() or taken > MAX_SECONDS:
                break
    return {name: found.tolist() for name, found in seconds.items()}


def timed(fit: Fit, tol: float) -> tuple[float, np.ndarray]:
    began = time.process_time()
    coef = fit(tol)
    return time.process_time() - began, coef


def speed_table(name: str, X: sp.csc_matrix, y: np.ndarray) -> None:
    """Markdown: milliseconds, and each peer's time as a multiple of ours."""
    print(f"\n**{name}** ({X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros)\n")
    print("| alpha / alpha_max | | " + " | ".join(f"to {t:g}" for t in TARGETS) + " |\n" + "|---" * 5 + "|")
    smallest = float(np.abs(X.T @ y).max()) / X.shape[0]
    for ratio in RATIOS:
        alpha = ratio * smallest
        problem = Problem(X, y, loss="squared", penalty="l1", C=1 / (2 * X.shape[0] * alpha))
        fits = {"widemargin": lambda tol, problem=problem: solve(problem, tol=tol, max_seconds=MAX_SECONDS).coef}
        fits |= dict(peers(X, y, alpha))
        runs = [time_to_targets(problem, fits) for _ in range(REPETITIONS)]
        ours = np.median([run["widemargin"] for run in runs], axis=0)
        for solver in fits:
            median = np.median([run[solver] for run in runs], axis=0)
            cells = [cell(t, None if solver == "widemargin" else own) for t, own in zip(median, ours, strict=True)]
            print(f"| {ratio:g} | {solver} | " + " | ".join(cells) + " |", flush=True)


def cell(seconds: float, ours: float | None) -> str:
    """A time, with its multiple of ours."""
    if np.isnan(seconds):
        return "not reached"
    return f"{1e3 * seconds:.1f} ms" + ("" if ours is None else f" ({seconds / ours:.1f}x)")


def step_table(name: str, X: sp.csc_matrix, y: np.ndarray) -> None:
    """Markdown: steps and entries of the uniform order over those of the adaptive one."""
    print(f"\n**{name}**, column steps and entries read to a relative gap of 1e-3\n")
    print("| alpha / alpha_max | uniform | adaptive | steps, uniform / adaptive | entries, uniform / adaptive |")
    print("|---" * 5 + "|")
    smallest = float(np.abs(X.T @ y).max()) / X.shape[0]
    for ratio in RATIOS:
        problem = Problem(X, y, loss="squared", penalty="l1", C=1 / (2 * X.shape[0] * ratio * smallest))
        counts, cells = [], []
        for order in ("cyclic", "adaptive"):
            solver = LassoCD(order=order, working_set=False, screening=False, extrapolation=0)
            found = solve(problem, solver, tol=1e-3, max_seconds=STEP_SECONDS)
            counts.append((found.n_iter * X.shape[1], found.trace[-1].passes * X.nnz))
            ending = "" if found.converged else f" (gap {found.certificate.relative_gap:.0e} in {STEP_SECONDS:g} s)"
            cells.append(f"{counts[-1][0]:.2e}{ending}")
        ratios = [f"{uniform / adaptive:.1f}" for uniform, adaptive in zip(*counts, strict=True)]
        print(f"| {ratio:g} | " + " | ".join(cells + ratios) + " |", flush=True)


def load(name: str) -> tuple[sp.csc_matrix, np.ndarray]:
    X, y = read_svmlight(data_file(name))
    X, y = sp.csc_matrix(X), np.asarray(y, dtype=np.float64)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y - y.mean()


def main(names: Any) -> None:
    warnings.simplefilter("ignore")
    data = {name: load(name) for name in names or NAMES}
    for name, (X, y) in data.items():
        speed_table(name, X, y)
    for name, (X, y) in data.items():
        step_table(name, X, y)
    print("\nThe paper's ratios of steps, from its smallest lambda to its largest:")
    for name, ratios in PAPER.items():
        print(f"{name}: " + ", ".join(f"{ratio:g}" for ratio in ratios))


if __name__ == "__main__":
    main(sys.argv[1:])
