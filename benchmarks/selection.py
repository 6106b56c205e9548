"""Choosing C: a 5-fold search against GridSearchCV over scikit-learn's LinearSVC and against LIBLINEAR's -C.

    python -m benchmarks.selection [names ...] [--repetitions 3] [--jobs 1]

Data come from the folder that WIDEMARGIN_DATA names. Squared hinge, regularized intercept (scikit-learn's and
LIBLINEAR's problem), the same folds for us and for scikit-learn, all on one thread unless --jobs says otherwise.
Interleaved repetitions, medians; processor time on one thread, so that other work on the machine counts less, and
elapsed time on several.

grid      20 values of C, from 2^-9 to 2^10: all of them, and with early stopping; the largest difference of a mean
          score from scikit-learn's shows that the work is the same
-C        the whole search for C, each with its own first value and its own end; LIBLINEAR's compiled function is called
          directly, its data are converted beforehand
"""

from __future__ import annotations

import argparse
import ctypes
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from widemargin import find_C, read_svmlight

from .datasets import data_file

NAMES = ("reuters_moneyfx", "a9a", "w8a", "ijcnn1", "mushrooms", "splice", "german.numer")
CS = 2.0 ** np.arange(-9, 11)
FOLDS = 5

Contest = dict[str, Callable[[], Any]]


def compete(contest: Contest, repetitions: int, jobs: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Median seconds of each contestant, and its last result."""
    seconds: dict[str, list[float]] = {name: [] for name in contest}
    results: dict[str, Any] = {}
    clock = time.process_time if jobs == 1 else time.perf_counter
    for _ in range(repetitions):
        for name, run in contest.items():
            began = clock()
            results[name] = run()
            seconds[name].append(clock() - began)
    return {name: float(np.median(taken)) for name, taken in seconds.items()}, results


def grid(X: Any, y: Any, repetitions: int, jobs: int) -> None:
    """20 values against GridSearchCV."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    ours: dict[str, Any] = {"Cs": CS, "cv": folds, "intercept": "regularized", "n_jobs": jobs}
    peer = GridSearchCV(LinearSVC(random_state=0), {"C": CS}, cv=folds, n_jobs=jobs, refit=True)
    contest: Contest = {
        "GridSearchCV": lambda: peer.fit(X, y),
        "widemargin, all 20": lambda: find_C(X, y, early_stopping=False, **ours),
        "widemargin": lambda: find_C(X, y, **ours),
    }
    seconds, results = compete(contest, repetitions, jobs)
    theirs = results["GridSearchCV"].cv_results_["mean_test_score"]
    for name, taken in seconds.items():
        mean = theirs if name == "GridSearchCV" else results[name].mean_scores
        best = int(np.argmax(mean))
        difference = float(np.abs(mean - theirs[: len(mean)]).max())
        print(
            f"  {name:<20}{taken:>9.3f} s {seconds['GridSearchCV'] / taken:>7.1f}x   best C {CS[best]:<9g} score "
            f"{mean[best]:.4f}   largest difference {difference:.4f}",
            flush=True,
        )


def liblinear_search(X: Any, y: Any) -> Callable[[], tuple[float, float]]:
    """LIBLINEAR's -C -s 2 with five folds, quiet."""
    from liblinear import liblinear as native

    data = native.problem(y, sp.csr_matrix(X), bias=1)
    settings = native.parameter("-s 2 -q")

    def run() -> tuple[float, float]:
        best_C, best_p, best_rate = ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
        native.liblinear.find_parameters(
            data, settings, FOLDS, -1.0, -1.0, ctypes.byref(best_C), ctypes.byref(best_p), ctypes.byref(best_rate)
        )
        return best_C.value, best_rate.value

    return run


def whole_search(X: Any, y: Any, repetitions: int, jobs: int) -> None:
    """Without given values, against LIBLINEAR's -C."""
    contest: Contest = {
        "LIBLINEAR -C": liblinear_search(X, y),
        "widemargin": lambda: find_C(X, y, cv=FOLDS, intercept="regularized", n_jobs=jobs),
    }
    seconds, results = compete(contest, repetitions, jobs)
    found = results["widemargin"]
    chosen = {"LIBLINEAR -C": results["LIBLINEAR -C"], "widemargin": (found.best_C, found.best_score)}
    for name, taken in seconds.items():
        C, score = chosen[name]
        print(
            f"  {name:<20}{taken:>9.3f} s {seconds['LIBLINEAR -C'] / taken:>7.1f}x   best C {C:<9g} score {score:.4f}",
            flush=True,
        )


def main() -> None:
    """Runs both contests on each data set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection")
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.names:
        X, y = read_svmlight(data_file(name))
        print(f"\n{name}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros, {FOLDS} folds", flush=True)
        grid(X, y, options.repetitions, options.jobs)
        whole_search(X, y, options.repetitions, options.jobs)


if __name__ == "__main__":
    main()
