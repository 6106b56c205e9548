"""Who is timed. A contestant prepares its own form of the data once, untimed, and then solves at a given knob."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from widemargin import Problem, solve

Run = Callable[[float], tuple[float, np.ndarray]]  # knob -> seconds, weights

TOLERANCES = (3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
LIBLINEAR_EPS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class Contestant:
    """A solver of one loss at one C, with its stopping parameter's values from loose to tight."""

    name: str
    knobs: Sequence[float]
    prepare: Callable[[sp.csr_matrix, np.ndarray, str, float], Run | None]  # None: does not solve this loss


def widemargin(solver: str = "auto", dtype: str = "float64") -> Contestant:
    """One of our own solvers."""

    def prepare(X: sp.csr_matrix, y: np.ndarray, loss: str, C: float) -> Run:
        features = X.astype(dtype)

        def run(tol: float) -> tuple[float, np.ndarray]:
            # A new matrix each time: what a solver builds from it (columns, compact rows) belongs to the solve.
            problem = Problem(features, y, loss=loss, C=C)
            start = time.perf_counter()
            solution = solve(problem, solver, tol=tol, max_seconds=60)
            return time.perf_counter() - start, solution.coef

        return run

    suffix = ", float32" if dtype == "float32" else ""
    return Contestant(f"widemargin {solver}{suffix}", TOLERANCES, prepare)


LIBLINEAR_DUAL = {"squared_hinge": 1, "hinge": 3, "logistic": 7}
LIBLINEAR_PRIMAL = {"squared_hinge": 2, "logistic": 0}


def liblinear(numbers: dict[str, int], title: str) -> Contestant:
    """LIBLINEAR's compiled training function, called directly: the conversion of the data is not timed."""

    def prepare(X: sp.csr_matrix, y: np.ndarray, loss: str, C: float) -> Run | None:
        from liblinear import liblinear as native

        if loss not in numbers:
            return None
        data = native.problem(y, X)

        def run(eps: float) -> tuple[float, np.ndarray]:
            settings = native.parameter(f"-s {numbers[loss]} -c {C!r} -e {eps!r} -q")
            start = time.perf_counter()
            trained = native.liblinear.train(ctypes.byref(data), ctypes.byref(settings))
            seconds = time.perf_counter() - start
            model = native.toPyModel(trained)
            w = np.ctypeslib.as_array(model.w, (X.shape[1],)).copy()
            return seconds, w if model.get_labels()[0] == 1 else -w

        return run

    return Contestant(title, LIBLINEAR_EPS, prepare)


def sklearn_svc() -> Contestant:
    """scikit-learn's LinearSVC, dual; its own conversion is part of its fit and cannot be left out."""

    def prepare(X: sp.csr_matrix, y: np.ndarray, loss: str, C: float) -> Run | None:
        from sklearn.svm import LinearSVC

        if loss not in ("hinge", "squared_hinge"):
            return None

        def run(tol: float) -> tuple[float, np.ndarray]:
            model = LinearSVC(loss=loss, C=C, tol=tol, dual=True, fit_intercept=False, max_iter=1_000_000)
            start = time.perf_counter()
            model.fit(X, y)
            return time.perf_counter() - start, model.coef_.ravel()

        return run

    return Contestant("scikit-learn LinearSVC", LIBLINEAR_EPS, prepare)


def pecos() -> Contestant:
    """libpecos' dual coordinate descent in float32, where it is installed."""

    def prepare(X: sp.csr_matrix, y: np.ndarray, loss: str, C: float) -> Run | None:
        try:
            from pecos.core import clib
        except ImportError:
            return None
        numbers = {"squared_hinge": 1, "hinge": 3}
        if loss not in numbers:
            return None
        features = X.astype(np.float32)
        labels = sp.csc_matrix((y[:, None] > 0).astype(np.float32))

        def run(eps: float) -> tuple[float, np.ndarray]:
            start = time.perf_counter()
            W = clib.multilabel_train(
                features, labels, solver_type=numbers[loss], Cp=C, Cn=C, eps=eps, bias=-1.0, threads=1, threshold=0.0
            )
            return time.perf_counter() - start, np.asarray(W.todense()).ravel().astype(np.float64)

        return run

    return Contestant("libpecos", LIBLINEAR_EPS, prepare)


PEERS: dict[str, Contestant] = {
    "liblinear": liblinear(LIBLINEAR_DUAL, "LIBLINEAR dual"),
    "liblinear-primal": liblinear(LIBLINEAR_PRIMAL, "LIBLINEAR primal"),
    "sklearn": sklearn_svc(),
    "pecos": pecos(),
}
