"""Data as they come, features from 0.01 to 10,000 side by side: `python -m benchmarks.unscaled [covtype madelon ...]`.

Every smooth loss that applies, ours to a relative gap of 1e-6 by solver="auto", LIBLINEAR and scikit-learn as a user
calls them, with their own default tolerances and limits. A constant column stands for the intercept, so that all
minimise the same objective; (f - f*) / f* is worked out here from their weights, with f* our dual bound. "warned" says
that the peer itself told of failing to converge. `--dual` adds LIBLINEAR's dual solvers, which take minutes on covtype.
"""

from __future__ import annotations

import argparse
import lzma
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from widemargin import Problem, read_svmlight, solve
from widemargin.objective.losses import LOSSES

from .datasets import data_file

CLASSIFICATION = ("squared_hinge", "logistic", "modified_huber")
REGRESSION = ("squared", "squared_epsilon_insensitive")
SETS = ("covtype", "madelon", "cadata", "cpusmall", "winequality-red", "winequality-white")
EPSILON = 0.1


@dataclass(frozen=True)
class Outcome:
    """What a peer came back with."""

    w: np.ndarray
    seconds: float
    warned: bool


def load(name: str) -> tuple[sp.csr_matrix, list[tuple[np.ndarray, tuple[str, ...]]]]:
    """Raw features with a constant column; targets, each with the losses that apply to it."""
    if name.startswith("winequality"):
        with lzma.open(data_file(name, ".csv.xz"), "rt") as text:
            table = np.array([row.replace(";", ",").split(",") for row in text if row.strip()], dtype=float)
        X, y = table[:, :-1], table[:, -1]
    else:
        X, y = read_svmlight(data_file(name))
    X = sp.csr_matrix(sp.hstack([sp.csr_matrix(X), np.ones((X.shape[0], 1))]))
    if name in ("covtype", "madelon"):
        return X, [(np.where(y == (2.0 if name == "covtype" else y.max()), 1.0, -1.0), CLASSIFICATION)]
    if name.startswith("winequality"):  # better than 5, and how good
        return X, [(np.where(y > 5, 1.0, -1.0), CLASSIFICATION), (y, REGRESSION)]
    return X, [(y, REGRESSION)]


def by_liblinear(number: int) -> Callable[..., Outcome]:
    """LIBLINEAR with its default tolerance."""

    def run(X: sp.csr_matrix, y: np.ndarray, C: float) -> Outcome:
        from liblinear import liblinearutil as native
        from liblinear.liblinear import PRINT_STRING_FUN

        said: list[bytes] = []
        data, settings = native.problem(y, X), native.parameter(f"-s {number} -c {C!r} -p {EPSILON}")
        settings.print_func = PRINT_STRING_FUN(said.append)
        start = time.perf_counter()
        model = native.train(data, settings)
        seconds = time.perf_counter() - start
        warned = b"WARNING" in b"".join(said)
        w = np.array(model.get_decfun()[0])
        flip = number < 10 and model.get_labels()[0] != 1
        return Outcome(-w if flip else w, seconds, warned)

    return run


def by_sklearn(make: Callable[[float], Any]) -> Callable[..., Outcome]:
    """A scikit-learn estimator with its default tolerance and limits."""

    def run(X: sp.csr_matrix, y: np.ndarray, C: float) -> Outcome:
        model = make(C)
        rows = X.toarray()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            model.fit(rows, y)
            seconds = time.perf_counter() - start
        warned = any("converge" in str(w.message).lower() for w in caught)
        return Outcome(np.ravel(model.coef_), seconds, warned)

    return run


def _logistic(C: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C, fit_intercept=False)


def _svc(C: float) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, fit_intercept=False, dual="auto")


def _svr(C: float) -> Any:
    from sklearn.svm import LinearSVR

    return LinearSVR(
        C=C, epsilon=EPSILON, loss="squared_epsilon_insensitive", fit_intercept=False, dual="auto", random_state=0
    )


def _ridge(C: float) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(alpha=0.5 / C, fit_intercept=False)


PEERS: dict[str, dict[str, Callable[..., Outcome]]] = {
    "squared_hinge": {"LIBLINEAR -s 2": by_liblinear(2), "scikit-learn LinearSVC": by_sklearn(_svc)},
    "logistic": {"LIBLINEAR -s 0": by_liblinear(0), "scikit-learn lbfgs": by_sklearn(_logistic)},
    "modified_huber": {},
    "squared": {"scikit-learn Ridge": by_sklearn(_ridge)},
    "squared_epsilon_insensitive": {"LIBLINEAR -s 11": by_liblinear(11), "scikit-learn LinearSVR": by_sklearn(_svr)},
}
DUAL = {"squared_hinge": 1, "logistic": 7, "squared_epsilon_insensitive": 12}


def compare(name: str, X: sp.csr_matrix, y: np.ndarray, loss: str, C: float, with_dual: bool) -> None:
    """Our row and the peers' rows for one loss."""
    problem = Problem(X, y, loss=loss, C=C, **dict.fromkeys(LOSSES[loss].parameters, EPSILON))
    start = time.perf_counter()
    ours = solve(problem, tol=1e-6, max_seconds=120)
    seconds = time.perf_counter() - start
    bound = ours.certificate.dual

    def row(who: str, w: np.ndarray, taken: float, said: str) -> None:
        gap = (problem.objective(w) - bound) / abs(bound)
        print(f"| {name}, {loss} | {who} | {gap:.0e} | {1e3 * taken:.0f} ms | {said} |", flush=True)

    row(f"widemargin ({ours.solver})", ours.coef, seconds, "" if ours.converged else str(ours.status))
    peers = dict(PEERS[loss])
    if with_dual and loss in DUAL:
        peers[f"LIBLINEAR -s {DUAL[loss]}"] = by_liblinear(DUAL[loss])
    for who, run in peers.items():
        found = run(X, y, C)
        row(who, found.w, found.seconds, "warned" if found.warned else "")


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=list(SETS))
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--dual", action="store_true")
    asked = parser.parse_args()
    solve(Problem([[0.0], [1.0], [3.0]], [-1, -1, 1]), "newton_cholesky")  # imports are not timed
    print(f"**Unscaled data**, C = {asked.C:g}\n")
    print("| data, loss | | (f - f*) / f* | time | |\n|---|---|---|---|---|", flush=True)
    for name in asked.data:
        X, targets = load(name)
        for y, losses in targets:
            for loss in losses:
                compare(name, X, y, loss, asked.C, asked.dual)


if __name__ == "__main__":
    main()
