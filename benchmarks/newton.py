"""The Newton solvers against their peers, time to the same objective: `python -m benchmarks.newton`.

Few features: newton_cholesky; many: tron. Peers are LIBLINEAR's primal solvers (-s 2, -s 0) and, for logistic
regression, scikit-learn's newton-cholesky and lbfgs. Set OPENBLAS_NUM_THREADS=1 to compare on one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import scipy.sparse as sp

from .contestants import PEERS, Contestant, Run, widemargin
from .datasets import available
from .harness import compete
from .report import table

FEW_FEATURES = ("a9a", "w8a", "ijcnn1", "census_income", "covtype")
MANY_FEATURES = ("reuters_moneyfx", "imdb_bow", "20ng_bigram_binary")
SKLEARN_TOL = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


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


def main() -> None:
    """Prints one table per data set and loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=[*FEW_FEATURES, *MANY_FEATURES])
    parser.add_argument("--loss", nargs="+", default=["squared_hinge", "logistic"])
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    peers = [PEERS["liblinear-primal"], sklearn_logistic("newton-cholesky"), sklearn_logistic("lbfgs")]
    for dataset in available(arguments.data):
        ours = "newton_cholesky" if dataset.name in FEW_FEATURES else "tron"
        X, y = dataset.load()
        for loss in arguments.loss:
            contestants = [widemargin(ours), *peers]
            result = compete(
                dataset.name, X, y, loss, arguments.C, contestants, repetitions=arguments.repetitions, patience=10.0
            )
            print(table([result]), flush=True)


if __name__ == "__main__":
    main()
