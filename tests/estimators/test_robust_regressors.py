"""HuberRegressor and QuantileRegressor: scikit-learn's objectives, minimised better, and proven with their scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import linear_model

from widemargin import HuberRegressor, LinearSVR, OnlineRegressor, Problem, QuantileRegressor, solve
from widemargin.estimators._joint_scale import best_scale

ROWS = 150


def data_with_outliers(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, 6))
    y = X @ np.arange(1.0, 7.0) + 2 + rng.standard_normal(ROWS)
    y[:15] += 30 * rng.standard_normal(15)
    return X, y


def weights(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 4, ROWS).astype(float)


def huber_value(model: Any, X: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
    """Written out, so that nothing of ours is used to judge ours."""
    t = np.abs(y - X @ model.coef_ - model.intercept_) / model.scale_
    e = model.epsilon
    H = np.where(t <= e, t**2, 2 * e * t - e**2)
    return float(s @ (model.scale_ * (1 + H)) + model.alpha * model.coef_ @ model.coef_)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-4, 1.0, 100.0])
@pytest.mark.parametrize("epsilon", [1.1, 1.35, 3.0])
def test_huber_is_that_of_scikit_learn(epsilon: float, alpha: float, fit_intercept: bool) -> None:
    X, y = data_with_outliers()
    s = weights()
    settings = {"epsilon": epsilon, "alpha": alpha, "fit_intercept": fit_intercept}
    ours = HuberRegressor(**settings, tol=1e-9).fit(X, y, s)
    theirs = linear_model.HuberRegressor(**settings, tol=1e-9, max_iter=10_000).fit(X, y, s)
    values = [huber_value(model, X, y, s) for model in (ours, theirs)]
    assert values[0] == pytest.approx(2 * alpha * ours.certificate_.primal, rel=1e-10)
    assert ours.certificate_.relative_gap <= 1e-9
    assert values[0] <= values[1] * (1 + 1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=2e-4)
    assert ours.scale_ == pytest.approx(theirs.scale_, rel=2e-4)
    np.testing.assert_array_equal(ours.outliers_, theirs.outliers_)


def test_at_its_scale_it_is_the_problem_with_the_huber_loss() -> None:
    X, y = data_with_outliers(1)
    model = HuberRegressor(alpha=0.5, tol=1e-11).fit(X, y)
    problem = Problem(
        X, y, "huber", C=1 / (2 * 0.5 * model.scale_), intercept="free", delta=model.epsilon * model.scale_
    )
    np.testing.assert_allclose(solve(problem, tol=1e-12).coef, model.coef_, rtol=1e-5)


def test_huber_without_a_penalty_and_with_everything_in_the_parabola() -> None:
    """A large epsilon leaves least squares, whatever the scale, which is then the root mean square."""
    X, y = data_with_outliers(2)
    model = HuberRegressor(alpha=0, epsilon=100.0, tol=1e-8).fit(X, y)
    A = np.column_stack([X, np.ones(ROWS)])
    exact = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), exact, atol=1e-5)
    assert model.scale_ == pytest.approx(np.sqrt(np.mean((y - A @ exact) ** 2)), rel=1e-6)
    assert not model.outliers_.any()


def test_weights_are_repetitions_and_sparse_is_dense() -> None:
    X, y = data_with_outliers(3)
    counts = weights(1)
    rows = np.repeat(np.arange(ROWS), counts.astype(int))
    for model in (HuberRegressor(tol=1e-10), QuantileRegressor(alpha=0.01, tol=1e-10)):
        whole = model.fit(X, y, counts).predict(X)
        np.testing.assert_allclose(model.fit(X[rows], y[rows]).predict(X), whole, atol=1e-5)
        np.testing.assert_allclose(model.fit(sp.csr_array(X), y, counts).predict(X), whole, atol=1e-5)


@pytest.mark.filterwarnings("error")
def test_targets_that_are_met_exactly_have_a_scale_of_nothing() -> None:
    X, _ = data_with_outliers(4)
    exact = HuberRegressor(tol=1e-6).fit(X, X @ np.ones(6))
    np.testing.assert_allclose(exact.coef_, 1.0, atol=1e-3)
    assert 0 < exact.scale_ < 1e-2
    constant = HuberRegressor().fit(X, np.full(ROWS, 7.0))
    assert np.abs(constant.coef_).max() == 0 and constant.intercept_ == pytest.approx(7.0)


def test_a_warm_start_goes_on() -> None:
    X, y = data_with_outliers(5)
    model = HuberRegressor(warm_start=True, tol=1e-8).fit(X, y)
    first, cold = model.coef_, model.n_iter_
    np.testing.assert_allclose(model.fit(X, y).coef_, first, atol=1e-5)
    assert model.n_iter_ < cold


RESIDUALS = arrays(np.float64, st.integers(1, 12), elements=st.floats(-8, 8, width=16))


@given(RESIDUALS, st.sampled_from([1.0, 1.35, 2.0]), st.integers(0, 100))
def test_the_best_scale_is_the_best(residuals: np.ndarray, epsilon: float, seed: int) -> None:
    s = np.random.default_rng(seed).integers(1, 4, len(residuals)).astype(float)

    def value(sigma: float) -> float:
        t = np.abs(residuals) / sigma
        return float(s @ (sigma * (1 + np.where(t <= epsilon, t**2, 2 * epsilon * t - epsilon**2))))

    best = max(best_scale(residuals, s, epsilon), 1e-12)
    for other in np.geomspace(1e-6, 10, 200):
        assert value(best) <= value(other) * (1 + 1e-9) + 1e-9


def pinball(model: Any, X: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
    r, q = y - X @ model.coef_ - model.intercept_, model.quantile
    return float(s @ np.maximum(q * r, (q - 1) * r) / s.sum() + model.alpha * np.abs(model.coef_).sum())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.1, 1.0])
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_quantile_is_that_of_scikit_learn(quantile: float, alpha: float, weighted: bool) -> None:
    X, y = data_with_outliers()
    s = weights() if weighted else np.ones(ROWS)
    ours = QuantileRegressor(quantile=quantile, alpha=alpha, tol=1e-9, solver="highs").fit(X, y, s)
    theirs = linear_model.QuantileRegressor(quantile=quantile, alpha=alpha, solver="highs").fit(X, y, s)
    values = [pinball(model, X, y, s) for model in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    if alpha > 0:
        assert values[0] == pytest.approx(alpha * ours.certificate_.primal, rel=1e-10)


def test_mistakes_are_explained() -> None:
    X, y = data_with_outliers()
    with pytest.raises(ValueError, match=r"epsilon must be a finite number >= 1, got 0\.9"):
        HuberRegressor(epsilon=0.9).fit(X, y)
    with pytest.raises(ValueError, match=r"q must be a finite number > 0 and < 1, got 1\.5"):
        QuantileRegressor(quantile=1.5).fit(X, y)
    for estimator in (HuberRegressor(alpha=-1.0), QuantileRegressor(alpha=-1.0)):
        with pytest.raises(ValueError, match="alpha must be a finite number >= 0"):
            estimator.fit(X, y)
    with pytest.raises(ValueError, match="LinearSVR takes a regression loss, one of squared, epsilon_insensitive"):
        LinearSVR(loss="huber").fit(X, y)


def test_online_regressors_take_the_parameters() -> None:
    X, y = data_with_outliers()
    low, high = (OnlineRegressor("quantile", q=q, n_passes=20).fit(X, y).predict(X).mean() for q in (0.1, 0.9))
    assert low < y.mean() < high
    narrow = OnlineRegressor("huber", delta=0.1, n_passes=20).fit(X, y)
    assert narrow.learner_.spec.parameters == {"delta": 0.1}
