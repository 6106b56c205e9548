"""One side of `benchmarks.before_after`: fits what it is asked to, with whatever Widemargin its interpreter has.

Requests come in and answers go out as lines of JSON. Only public names that every version has are used, and nothing of
the other benchmarks is imported, for they belong to another checkout.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

import widemargin as wm


def two_classes(X: Any, y: Any, *, loss: str, C: float, tol: float) -> float:
    """A problem and its solution; the relative gap."""
    return wm.solve(wm.Problem(X, y, loss=loss, C=C, intercept="free"), tol=tol).certificate.relative_gap


def several_classes(X: Any, y: Any, *, loss: str, C: float, tol: float) -> float:
    """An estimator: all classes at once for the logistic loss, one against rest for the others; the relative gap."""
    settings: dict[str, Any] = {"C": C, "tol": tol}
    joint = loss == "logistic"
    model = (
        wm.LogisticRegression(multi_class="multinomial", **settings) if joint else wm.LinearSVC(loss=loss, **settings)
    )
    return model.fit(X, y).certificate_.relative_gap


def search(X: Any, y: Any) -> float:
    """A search for C; the score that it found."""
    return wm.find_C(X, y).best_score


FITS = {"two_classes": two_classes, "several_classes": several_classes, "search": search}


def warm_up() -> None:
    """Every kind of fit on a few rows, so that no run that is timed has to import anything."""
    rng = np.random.default_rng(0)
    X, y = sp.csr_matrix(rng.standard_normal((90, 40))), np.arange(90) % 3
    for loss in ("squared_hinge", "hinge", "logistic"):
        for tol in (1e-3, 1e-6):
            two_classes(X, np.sign(y - 0.5), loss=loss, C=100.0, tol=tol)
            several_classes(X, y, loss=loss, C=100.0, tol=tol)
    search(X, np.sign(y - 0.5))


def load(path: str) -> tuple[Any, Any]:
    """Rows and labels as `before_after` has written them."""
    with np.load(path) as stored:
        rows = (stored["data"], stored["indices"], stored["indptr"])
        return sp.csr_matrix(rows, shape=tuple(stored["shape"])), stored["y"]


def main() -> None:
    """Answers requests until there are no more: to load a data set, or to fit it."""
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a fit prints is no answer
    warm_up()
    X = y = None
    for line in sys.stdin:
        request = json.loads(line)
        if "load" in request:
            X, y = load(request["load"])
            answer = {}
        else:
            began = time.process_time()
            outcome = FITS[request["fit"]](X, y, **request["settings"])
            answer = {"seconds": time.process_time() - began, "outcome": float(outcome)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
