"""What every estimator needs between scikit-learn's conventions and `Problem` and `solve`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..objective.class_weights import weighted_by_class
from ..objective.losses import LOSSES
from ..solvers.base import Solver
from ..vectors import Vector

# scikit-learn's solvers. Which of them a program asks for says how to compute, not what: here "auto" sees to that.
SKLEARN_SOLVERS = frozenset(
    {
        *("liblinear", "newton-cg", "newton-cholesky", "sag", "saga"),  # of logistic regression
        *("svd", "cholesky", "lsqr", "sparse_cg"),  # of least squares
        *("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex"),  # of quantiles
    }
)

PENALISED_OR_NOT = ("free", "regularized")


def validated(estimator: Any, X: Any, *, fitting: bool = False) -> Any:
    """X as `Matrix` takes it. `fitting` notes the features' number and names; otherwise they must be those of `fit`.

    Whether all values are finite is left to `Matrix`, which names the row and the column.
    """
    if hasattr(X, "offers"):  # rows by their verbs: a file of blocks, for example
        return _rows_by_verbs(estimator, X, fitting)
    return validate_data(
        estimator, X, reset=fitting, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
    )


def _rows_by_verbs(estimator: Any, X: Any, fitting: bool) -> Any:
    if fitting:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        name, expected = type(estimator).__name__, estimator.n_features_in_
        raise ValueError(f"X has {X.shape[1]} features, but {name} is expecting {expected} features as input")
    return X


def require_loss(name: str, loss: str, *, classification: bool, parameters: Collection[str] = ()) -> None:
    """Refuses a loss that is not made for labels, or not for numbers, or has other parameters than the estimator."""
    able = [
        key
        for key, known in LOSSES.items()
        if known.classification == classification and known.parameters.keys() <= set(parameters)
    ]
    if loss not in able:
        kind = "classification" if classification else "regression"
        raise ValueError(f"{name} takes a {kind} loss, one of {', '.join(able)}; got {loss!r}")


def known_solver(solver: str | Solver) -> str | Solver:
    """The solver as `solve` wants it: one of scikit-learn's own names stands for "auto"."""
    return "auto" if isinstance(solver, str) and solver in SKLEARN_SOLVERS else solver


def require_not_positive(positive: bool, name: str) -> None:
    """Refuses coefficients that may not be negative: a promise that is not kept would be worse."""
    if positive:
        raise ValueError(f"{name} does not solve positive=True: use the class of this name in sklearn.linear_model")


def require_penalty(name: str, penalty: Any) -> str:
    """Refuses no penalty at all, and says why."""
    if penalty is None or penalty == "none":
        raise ValueError(
            f"{name} needs a penalty: without one there may be no best model (on separable data the coefficients grow "
            "without end). Use penalty='l2' with a large C, such as C=1e6; LogisticRegression takes penalty=None."
        )
    return str(penalty)


def sample_weights(X: Any, sample_weight: Any) -> Vector | None:
    """The rows' weights as float64, none of them negative; None stays None."""
    if sample_weight is None:
        return None
    weights: Vector = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return weights


def class_row_weights(
    X: Any, codes: NDArray[np.intp], classes: NDArray[Any], class_weight: Any, sample_weight: Any
) -> Vector | None:
    """sample_weight_i * class_weight[y_i]; None where every row counts one. codes_i is the number of row i's class."""
    if sample_weight is None and class_weight is None:
        return None
    given: Vector = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    weights = weighted_by_class(given, codes, classes.tolist(), class_weight)
    totals = np.bincount(codes, weights=weights, minlength=len(classes))
    if totals.sum() > 0 and not totals.all():
        name = classes.tolist()[int(np.argmin(totals))]
        raise ValueError(f"every row of class {name!r} has weight 0: each class needs a row that counts")
    return weights


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
