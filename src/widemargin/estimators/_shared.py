"""What every estimator needs between scikit-learn's conventions and `Problem` and `solve`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from ..objective.losses import LOSSES
from ..solvers.solution import Solution, Status

Vector = NDArray[np.float64]

PENALISED_OR_NOT = ("free", "regularized")


def validated(estimator: Any, X: Any, *, fitting: bool = False) -> Any:
    """X as `Matrix` takes it. `fitting` notes the features' number and names; otherwise they must be those of `fit`.

    Whether all values are finite is left to `Matrix`, which names the row and the column.
    """
    return validate_data(
        estimator, X, reset=fitting, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
    )


def two_classes(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """y as one column of labels, and its two classes in ascending order."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: a classifier learns from labels")
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    classes = np.unique(labels)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}: y holds "
            f"{len(classes)} classes, and more than two are not there yet. Wrap the estimator in "
            "sklearn.multiclass.OneVsRestClassifier meanwhile."
        )
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes.tolist()[0]!r}): two are needed to tell them apart")
    return labels, classes


def require_classification(name: str, loss: str) -> None:
    """Refuses a loss that is not made for labels."""
    able = [key for key, known in LOSSES.items() if known.classification]
    if loss not in able:
        raise ValueError(f"{name} takes a classification loss, one of {', '.join(able)}; got {loss!r}")


def row_weights(X: Any, y: NDArray[Any], classes: NDArray[Any], class_weight: Any, sample_weight: Any) -> Vector | None:
    """sample_weight_i * class_weight[y_i]; None where every row counts one."""
    if sample_weight is None and class_weight is None:
        return None
    weights: Vector = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    codes = np.searchsorted(classes, y)
    if class_weight is not None:
        weights = weights * class_factors(classes, codes, class_weight, weights)[codes]
    totals = np.bincount(codes, weights=weights, minlength=len(classes))
    if totals.sum() > 0 and not totals.all():
        name = classes.tolist()[int(np.argmin(totals))]
        raise ValueError(f"every row of class {name!r} has weight 0: two classes are needed to tell them apart")
    return weights


def class_factors(classes: NDArray[Any], codes: NDArray[Any], class_weight: Any, weights: Vector) -> Vector:
    """One factor per class. "balanced" gives every class the same total, counting a row by its weight."""
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}")
        totals = np.bincount(codes, weights=weights, minlength=len(classes))
        return np.asarray(totals.sum() / (len(classes) * np.where(totals > 0, totals, np.inf)))
    known = classes.tolist()
    unknown = [key for key in class_weight if key not in known]
    if unknown:
        raise ValueError(f"class_weight names {unknown[0]!r}, which is no class of y: the classes are {known}")
    return np.array([float(class_weight.get(name, 1.0)) for name in known])


def intercept_kind(fit_intercept: bool, intercept: str) -> str:
    """The intercept in `Problem`'s words."""
    if intercept not in PENALISED_OR_NOT:
        raise ValueError(f"intercept must be one of {', '.join(PENALISED_OR_NOT)}, got {intercept!r}")
    return intercept if fit_intercept else "none"


def seed_of(random_state: Any) -> int:
    """A seed; None means 0, so that the same call gives the same model."""
    if random_state is None:
        return 0
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def report_end(name: str, solution: Solution, tol: float) -> None:
    """Says how a run ended when it did not converge: a warning, or Ctrl-C passed on so that a search stops too."""
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if solution.converged:
        return
    raise_limit = "raise max_iter, " if solution.status is Status.ITERATION_LIMIT else ""
    warnings.warn(
        f"{name} ended with status '{solution.status}' at a relative gap of "
        f"{solution.certificate.relative_gap:.2g}, above tol={tol:g}: the objective may be that far from the best "
        f"possible. To go on, {raise_limit}scale the features, lower C, or accept a larger tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
