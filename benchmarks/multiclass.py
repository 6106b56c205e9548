"""Several classes: time to a relative suboptimality of 1e-2, 1e-3 and 1e-6 against LIBLINEAR and scikit-learn.

    python -m benchmarks.multiclass [--kind crammer_singer maximum_entropy] [names ...]

Crammer and Singer's SVM against LIBLINEAR's -s 4, multinomial logistic regression against each of scikit-learn's
solvers. Data come from the folder that WIDEMARGIN_DATA names. Every contestant is run at its own tolerances, from loose
to tight; the objective of what it returns is recomputed here in float64 and compared with a tight lower bound of our
own. The least median time among the runs that reached a target counts. Without intercept.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from widemargin import CrammerSingerProblem, MaximumEntropyProblem, read_svmlight, solve
from widemargin.multiclass.problem import MulticlassProblem

NAMES = ("dna.scale", "satimage.scale", "usps", "letter.scale", "news20", "mnist")
TARGETS = (1e-2, 1e-3, 1e-6)
REPETITIONS = 3
PATIENCE = 20.0  # seconds after which no tighter run is asked for

Fit = Callable[[float], np.ndarray]


def ours(problem: MulticlassProblem, solver: str) -> tuple[Fit, tuple[float, ...]]:
    """Our solver of that name."""
    return lambda tol: solve(problem, solver, tol=tol).coef, (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def liblinear(X: sp.csr_matrix, problem: MulticlassProblem) -> tuple[Fit, tuple[float, ...]]:
    """LIBLINEAR's -s 4, its own data structure built beforehand."""
    from liblinear.liblinear import problem as as_problem
    from liblinear.liblinearutil import parameter, train

    prepared = as_problem(problem.codes.astype(np.float64), X)

    def fit(eps: float) -> np.ndarray:
        model = train(prepared, parameter(f"-s 4 -c {problem.C} -e {eps} -q"))
        w = np.array(model.w[: model.nr_feature * model.nr_class]).reshape(model.nr_feature, -1)
        return np.ascontiguousarray(w[:, np.argsort(model.get_labels())]).ravel()

    return fit, (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5)


def scikit_learn(X: sp.csr_matrix, problem: MulticlassProblem, solver: str) -> tuple[Fit, tuple[float, ...]]:
    """One of scikit-learn's solvers for the multinomial loss."""
    from sklearn.linear_model import LogisticRegression

    def fit(tol: float) -> np.ndarray:
        model = LogisticRegression(C=problem.C, fit_intercept=False, solver=solver, tol=tol, max_iter=10_000)
        return np.ascontiguousarray(model.fit(X, problem.codes).coef_.T).ravel()

    return fit, (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def contestants(kind: str, X: sp.csr_matrix, problem: MulticlassProblem) -> dict[str, tuple[Fit, tuple[float, ...]]]:
    """Ours first."""
    if kind == "crammer_singer":
        return {"widemargin": ours(problem, "crammer_singer"), "liblinear -s 4": liblinear(X, problem)}
    found = {name: ours(problem, name) for name in ("multinomial_newton", "multinomial_lbfgs")}
    solvers = ("lbfgs", "newton-cg", "sag", "saga", "newton-cholesky")
    peers = {f"sklearn {name}": scikit_learn(X, problem, name) for name in solvers}
    if X.shape[1] * problem.n_classes > 5000:  # its Hessian would not fit
        del peers["sklearn newton-cholesky"]
    return found | peers


def time_to_targets(problem: MulticlassProblem, best: float, fit: Fit, knobs: tuple[float, ...]) -> list[float]:
    """Seconds to each target; not a number where it was not reached."""
    seconds = np.full(len(TARGETS), np.nan)
    for knob in knobs:
        times = []
        for _ in range(REPETITIONS):
            began = time.perf_counter()
            coef = fit(knob)
            times.append(time.perf_counter() - began)
            if times[-1] > 2.0:
                break
        objective = problem.objective(coef)
        reached = (objective - best) / best <= np.array(TARGETS)
        seconds = np.where(reached, np.fmin(seconds, statistics.median(times)), seconds)
        if reached.all() or times[-1] > PATIENCE:
            break
    return [float(s) for s in seconds]


def load(name: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """A data set; raw pixel values are divided by 255."""
    folder = os.environ.get("WIDEMARGIN_DATA")
    if folder is None:
        raise SystemExit("set WIDEMARGIN_DATA to the folder that holds the data sets")
    X, y = read_svmlight(Path(folder) / f"{name}.svm.xz")
    X = sp.csr_matrix(X)
    return (X / 255.0 if name == "mnist" else X), np.asarray(y)


KINDS = {"crammer_singer": CrammerSingerProblem, "maximum_entropy": MaximumEntropyProblem}


def main() -> None:
    """Runs what the command line describes."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.multiclass", description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--kind", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--C", type=float, default=1.0)
    arguments = parser.parse_args()
    for name in arguments.names:
        X, y = load(name)
        for kind in arguments.kind:
            problem = KINDS[kind](X, y, C=arguments.C)
            best = solve(problem, tol=1e-7, max_seconds=120).certificate.dual
            print(f"\n{name}, {kind}, C = {arguments.C:g}; seconds to {', '.join(f'{t:g}' for t in TARGETS)}")
            for contestant, (fit, knobs) in contestants(kind, X, problem).items():
                found = time_to_targets(problem, best, fit, knobs)
                print(f"  {contestant:<24}" + "".join(f"{s:>10.4f}" for s in found), flush=True)


if __name__ == "__main__":
    main()
