"""Who fits what: ours, scikit-learn's classes with their defaults, LIBLINEAR's types with its defaults.

Each fit returns how it ended, the objective of what it found, recomputed here, and what proves it, if anything does.
scikit-learn's LinearSVC and LinearSVR, and LIBLINEAR, penalise the intercept: they are judged on that problem, which
ours then solves as well.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from widemargin import OneClassProblem, OrdinalProblem, Problem, solve

TOL = 1e-3
EPSILON = 0.1  # of the epsilon-insensitive losses: LIBLINEAR's default
L1_RATIO = 0.5


@dataclass(frozen=True)
class Task:
    """One problem of the grid. For a one-class SVM, C stands for nu."""

    loss: str
    penalty: str
    C: float
    intercept: str = "free"

    def problem(self, X: Any, y: np.ndarray) -> Any:
        """What is to be minimised."""
        if self.loss == "one_class":
            return OneClassProblem(X, nu=self.C)
        if self.penalty == "ordinal":
            return OrdinalProblem(X, y, loss=self.loss, C=self.C)
        return Problem(X, y, self.loss, self.penalty, self.C, l1_ratio=L1_RATIO, intercept=self.intercept)


Outcome = dict[str, Any]
Fit = Callable[[Task, Any, np.ndarray], Outcome]


def ours(task: Task, X: Any, y: np.ndarray, solver: str = "auto") -> Outcome:
    """Our solver, to a relative gap of TOL."""
    problem = task.problem(X, y)
    began = time.process_time()
    found = solve(problem, solver, tol=TOL)
    return {
        "seconds": time.process_time() - began,
        "status": "time_limit" if str(found.status) == "interrupted" else str(found.status),
        "solver": found.solver,
        "objective": found.certificate.primal,
        "gap": found.certificate.relative_gap,
        "passes": found.trace[-1].passes,
    }


def sklearn(task: Task, X: Any, y: np.ndarray) -> Outcome:
    """The class that minimises this problem, with its own defaults."""
    from sklearn.exceptions import ConvergenceWarning

    model = _sklearn_model(task, len(y))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        began = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - began
    warned = any(issubclass(warning.category, ConvergenceWarning) for warning in seen)
    coef, b = np.asarray(model.coef_, dtype=np.float64).ravel(), float(np.ravel(model.intercept_)[0])
    objective = task.problem(X, y).objective(coef, b)
    return {"seconds": seconds, "status": "warned" if warned else "returned", "objective": objective}


def _sklearn_model(task: Task, rows: int) -> Any:
    from sklearn import linear_model, svm

    C, penalty, alpha = task.C, task.penalty, 1 / (2 * task.C * rows)
    if task.loss in ("hinge", "squared_hinge"):
        return svm.LinearSVC(loss=task.loss, penalty=penalty, C=C, random_state=0)
    if task.loss == "logistic" and penalty == "l2":
        return linear_model.LogisticRegression(C=C)
    if task.loss == "logistic":
        ratio = 1.0 if penalty == "l1" else L1_RATIO
        return linear_model.LogisticRegression(C=C, l1_ratio=ratio, solver="saga", random_state=0)
    if task.loss == "squared":
        if penalty == "l2":
            return linear_model.Ridge(alpha=1 / (2 * C))
        return linear_model.ElasticNet(alpha=alpha, l1_ratio=1.0 if penalty == "l1" else L1_RATIO)
    return svm.LinearSVR(loss=task.loss, epsilon=EPSILON, C=C, random_state=0)


# What the peers offer, and whether their intercept is free.
SKLEARN_INTERCEPT = {
    ("hinge", "l2"): "regularized",
    ("squared_hinge", "l2"): "regularized",
    ("squared_hinge", "l1"): "regularized",
    ("logistic", "l2"): "free",
    ("logistic", "l1"): "free",
    ("logistic", "elasticnet"): "free",
    ("squared", "l2"): "free",
    ("squared", "l1"): "free",
    ("squared", "elasticnet"): "free",
    ("epsilon_insensitive", "l2"): "regularized",
    ("squared_epsilon_insensitive", "l2"): "regularized",
}
LIBLINEAR_TYPES = {
    ("squared_hinge", "l2"): 1,
    ("hinge", "l2"): 3,
    ("logistic", "l2"): 0,
    ("squared_hinge", "l1"): 5,
    ("logistic", "l1"): 6,
    ("squared_epsilon_insensitive", "l2"): 11,
    ("epsilon_insensitive", "l2"): 13,
}


def liblinear(task: Task, X: Any, y: np.ndarray) -> Outcome:
    """LIBLINEAR's type of this loss and penalty with its default stopping rule, and a constant feature of 1."""
    import ctypes

    import scipy.sparse as sp
    from liblinear import liblinear as native

    data = native.problem(y, sp.csr_matrix(X), bias=1)
    number = LIBLINEAR_TYPES[task.loss, task.penalty]
    settings = native.parameter(f"-s {number} -c {task.C!r} -p {EPSILON} -B 1 -q")
    warned: list[bytes] = []
    print_function = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(warned.append)
    native.liblinear.set_print_string_function(print_function)
    began = time.process_time()
    trained = native.liblinear.train(ctypes.byref(data), ctypes.byref(settings))
    seconds = time.process_time() - began
    model = native.toPyModel(trained)
    w = np.ctypeslib.as_array(model.w, (X.shape[1] + 1,)).copy()
    if task.loss in ("hinge", "squared_hinge", "logistic") and model.get_labels()[0] != 1:
        w = -w
    complained = b"WARNING" in b"".join(warned)
    objective = task.problem(X, y).objective(w[:-1], float(w[-1]))
    return {"seconds": seconds, "status": "warned" if complained else "returned", "objective": objective}


FITS: dict[str, Fit] = {"widemargin": ours, "scikit-learn": sklearn, "LIBLINEAR": liblinear}
