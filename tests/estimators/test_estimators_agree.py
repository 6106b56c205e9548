"""The estimators minimise what scikit-learn's estimators of the same name minimise, to at least its own accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model, multiclass, svm
from sklearn.datasets import make_classification, make_regression

import widemargin
from widemargin import Problem

ROWS = 150


def classes(n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        ROWS, 10, n_informative=5, n_classes=n_classes, flip_y=0.1, class_sep=0.7, random_state=seed
    )


def numbers(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_regression(ROWS, 12, n_informative=4, noise=5.0, random_state=seed)
    return X, y / 10 + 3.0


def weights(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 4, ROWS).astype(float)


def logistic_value(model: Any, X: np.ndarray, y: np.ndarray, rho: float, C: float, s: np.ndarray) -> float:
    """Written out, so that nothing of ours is used to judge ours."""
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
    losses = np.logaddexp(0.0, -sign * (X @ w + b))
    return float(rho * np.abs(w).sum() + (1 - rho) / 2 * (w @ w) + C * (s @ losses))


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize(
    ("penalty", "rho", "theirs"),
    [
        ("l2", 0.0, {"solver": "newton-cholesky", "l1_ratio": 0.0}),
        ("l1", 1.0, {"solver": "saga", "l1_ratio": 1.0}),
        ("elasticnet", 0.3, {"solver": "saga", "l1_ratio": 0.3}),
    ],
)
def test_logistic_regression(penalty: str, rho: float, theirs: dict[str, Any], C: float) -> None:
    X, y = classes()
    s = weights()
    ours = widemargin.LogisticRegression(penalty, l1_ratio=rho, C=C, tol=1e-9).fit(X, y, s)
    other = linear_model.LogisticRegression(C=C, tol=1e-9, max_iter=100_000, **theirs).fit(X, y, s)
    values = [logistic_value(model, X, y, rho, C, s) for model in (ours, other)]
    assert values[0] == pytest.approx(ours.certificate_.primal, rel=1e-12)
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    assert values[0] <= values[1] * (1 + 1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-3)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_ridge(alpha: float, fit_intercept: bool, weighted: bool) -> None:
    X, y = numbers()
    s = weights() if weighted else None
    settings = {"alpha": alpha, "fit_intercept": fit_intercept}
    ours = widemargin.Ridge(tol=1e-12, **settings).fit(X, y, s)
    theirs = linear_model.Ridge(solver="svd", **settings).fit(X, y, s)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-6, abs=1e-8)
    r = y - ours.predict(X)
    value = float((r**2).sum() if s is None else (s * r**2).sum()) + alpha * float(ours.coef_ @ ours.coef_)
    assert value == pytest.approx(2 * alpha * ours.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.01, 0.3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("weighted", [True, False])
def test_lasso_and_elastic_net(alpha: float, l1_ratio: float, weighted: bool) -> None:
    X, y = numbers(1)
    s = weights() if weighted else None
    share = {} if l1_ratio == 1 else {"l1_ratio": l1_ratio}
    name = "Lasso" if l1_ratio == 1 else "ElasticNet"
    ours = getattr(widemargin, name)(alpha, tol=1e-10, **share).fit(X, y, s)
    theirs = getattr(linear_model, name)(alpha, tol=1e-12, max_iter=100_000, **share).fit(X, y, sample_weight=s)

    def value(model: Any) -> float:
        r2 = np.average((y - model.predict(X)) ** 2, weights=s)
        w = model.coef_
        return float(r2 / 2 + alpha * (l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * (w @ w)))

    assert value(ours) == pytest.approx(alpha * ours.certificate_.primal, rel=1e-12)
    assert value(ours) == pytest.approx(value(theirs), rel=1e-6)
    assert value(ours) <= value(theirs) * (1 + 1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_linear_svr(loss: str, epsilon: float) -> None:
    X, y = numbers(2)
    s = weights(1)
    settings = {"loss": loss, "epsilon": epsilon, "C": 0.1}
    ours = widemargin.LinearSVR(intercept="regularized", tol=1e-9, **settings).fit(X, y, s)
    theirs = svm.LinearSVR(tol=1e-9, max_iter=1_000_000, random_state=0, dual=True, **settings).fit(X, y, s)

    def value(model: Any) -> float:
        w, b = np.append(model.coef_, model.intercept_), float(np.ravel(model.intercept_)[0])
        beyond = np.maximum(0.0, np.abs(y - X @ model.coef_ - b) - epsilon)
        return float(w @ w / 2 + 0.1 * (s @ (beyond if loss == "epsilon_insensitive" else beyond**2)))

    assert value(ours) == pytest.approx(ours.certificate_.primal, rel=1e-12)
    assert value(ours) == pytest.approx(value(theirs), rel=1e-6)
    assert value(ours) <= value(theirs) * (1 + 1e-8)


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [("squared_hinge", "l2"), ("hinge", "l2"), ("modified_huber", "elasticnet"), ("squared_hinge", "l1")],
)
def test_one_against_rest_is_one_fit_per_class(loss: str, penalty: str) -> None:
    X, y = classes(4, seed=1)
    base = widemargin.LinearSVC(penalty, loss, C=0.1, tol=1e-6)
    ours = widemargin.LinearSVC(penalty, loss, C=0.1, tol=1e-6).fit(X, y)
    theirs = multiclass.OneVsRestClassifier(base).fit(X, y)
    assert ours.coef_.shape == (4, 10) and ours.decision_function(X).shape == (ROWS, 4)
    for c, single in enumerate(theirs.estimators_):
        if (loss, penalty) == ("hinge", "l2"):  # these begin side by side: another way to the same model
            # Strong convexity: |w - w*|^2 / 2 is at most the gap.
            most = sum(np.sqrt(2 * certificate.gap) for certificate in (ours.certificates_[c], single.certificate_))
            assert np.linalg.norm(ours.coef_[c] - single.coef_[0]) <= most
            assert ours.certificates_[c].relative_gap <= 1e-6
            continue
        np.testing.assert_array_equal(ours.coef_[c], single.coef_[0])
        assert ours.certificates_[c] == single.certificate_
    # With the hinge loss two of the classes have no weights at all here: which of them wins is decided by the last bit.
    second, first = np.sort(ours.decision_function(X), axis=1)[:, -2:].T
    clear = (first - second > 1e-4) | (loss != "hinge")
    np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])
    assert clear.mean() > 0.5
    assert ours.certificate_.relative_gap == max(each.relative_gap for each in ours.certificates_) <= 1e-6


def test_one_against_rest_agrees_with_scikit_learn() -> None:
    X, y = classes(3, seed=2)
    ours = widemargin.LinearSVC(intercept="regularized", tol=1e-10, C=0.5).fit(X, y)
    theirs = svm.LinearSVC(tol=1e-10, max_iter=1_000_000, C=0.5, random_state=0).fit(X, y)
    for c in range(3):
        problem = Problem(X, np.where(y == c, 1, -1), C=0.5, intercept="regularized")
        mine, other = (problem.objective(m.coef_[c], float(m.intercept_[c])) for m in (ours, theirs))
        assert mine == pytest.approx(other, rel=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_probabilities_of_several_classes_are_normalised_as_in_scikit_learn() -> None:
    X, y = classes(3, seed=3)
    ours = widemargin.LogisticRegression(tol=1e-12, multi_class="ovr").fit(X, y)
    theirs = multiclass.OneVsRestClassifier(linear_model.LogisticRegression(tol=1e-10, solver="newton-cholesky"))
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(ours.predict_proba(X).argmax(axis=1), ours.predict(X))


def test_sparse_rows_give_the_same() -> None:
    X, y = classes(3, seed=4)
    X[np.abs(X) < 0.5] = 0
    dense = widemargin.LogisticRegression(tol=1e-12).fit(X, y)
    sparse = widemargin.LogisticRegression(tol=1e-12).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)
