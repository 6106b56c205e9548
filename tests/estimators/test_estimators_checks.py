"""scikit-learn's own checks of an estimator, all of them, for every estimator that solves a problem to a gap."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LassoCV,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    QuantileRegressor,
    Ridge,
)

# scikit-learn compares some fits to seven digits: a gap of 1e-12 or less is what it takes to agree that far.
CHECKED = [
    LinearSVC(tol=1e-13),
    LinearSVC(tol=1e-13, intercept="regularized"),
    LinearSVC(tol=1e-13, loss="hinge"),
    LogisticRegression(tol=1e-15),
    LinearSVR(tol=1e-13),
    LinearSVR(loss="squared_epsilon_insensitive", tol=1e-13),
    Ridge(tol=1e-13),
    Lasso(tol=1e-13),
    ElasticNet(tol=1e-13),
    HuberRegressor(tol=1e-13),
    QuantileRegressor(tol=1e-13, alpha=0.01),
    LinearSVCCV(tol=1e-13, Cs=[0.1, 1.0], cv=3),
    LinearSVCCV(tol=1e-13, Cs=[0.1, 1.0], cv=3, multi_class="crammer_singer"),
    LogisticRegressionCV(tol=1e-13, Cs=[0.1, 1.0], cv=3, multi_class="ovr"),
    LogisticRegressionCV(tol=1e-20, Cs=[0.1, 1.0], cv=3),
    LassoCV(tol=1e-11, alphas=[0.1, 0.01], cv=3),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*SCIPY_ARRAY_API")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # scikit-learn's own, on NaN
@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
