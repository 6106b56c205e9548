"""The one-class SVM: gaps, agreement with LIBLINEAR and scikit-learn, weights, and the estimator's conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from liblinear.liblinearutil import parameter, problem, train
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

from support import random_data, real_data
from widemargin import LinearOneClassSVM, OneClassProblem, solve
from widemargin.solvers import OneClassCD

STORAGES: list[Callable[[sp.csr_array], Any]] = [
    lambda X: X,
    lambda X: X.astype(np.float32),
    lambda X: X.toarray(),
    lambda X: X.toarray().astype(np.float32),
    lambda X: sp.csr_array(X != 0, dtype=np.float64),
]


def shifted_data(seed: int, rows: int = 120, columns: int = 10) -> sp.csr_array:
    """Sparse rows that lie to one side of the origin."""
    X, _ = random_data(seed, rows=rows, columns=columns)
    X.data += 1.5
    return X


@pytest.mark.parametrize("nu", [0.03, 0.3, 0.77, 1.0])
@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage_reaches_the_gap(storage: Callable[[sp.csr_array], Any], nu: float) -> None:
    found = OneClassProblem(storage(shifted_data(1)), nu)
    solution = solve(found, "one_class", tol=1e-8)
    assert solution.converged
    assert found.certificate(solution.coef, solution.intercept, solution.dual).relative_gap <= 1e-8
    assert found.objective(solution.coef, solution.intercept) == pytest.approx(solution.certificate.primal, rel=1e-12)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5, 0.9])
def test_agrees_with_scikit_learn(nu: float) -> None:
    X = shifted_data(2).toarray()
    solution = solve(OneClassProblem(X, nu), "one_class", tol=1e-10)
    other = OneClassSVM(kernel="linear", nu=nu, tol=1e-9).fit(X)
    best = OneClassProblem(X, nu).certificate(other.coef_[0]).primal
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(solution.coef, other.coef_[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("nu", [0.1, 0.5])
@pytest.mark.parametrize("name", ["heart_scale", "reuters_moneyfx"])
def test_agrees_with_liblinear_on_real_data(name: str, nu: float) -> None:
    X, _ = real_data(name)
    X = sp.csr_matrix(X)
    found = OneClassProblem(X, nu)
    solution = solve(found, "one_class", tol=1e-7)
    assert solution.converged
    model = train(problem(np.ones(X.shape[0]), X), parameter(f"-s 21 -n {nu} -e 1e-7 -q"))
    theirs = found.certificate(np.array(model.w[: X.shape[1]])).primal
    assert solution.certificate.primal == pytest.approx(theirs, rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), nu=st.floats(0.02, 1.0))
def test_weights_count_as_repetitions(seed: int, nu: float) -> None:
    X = shifted_data(seed, rows=40, columns=6)
    weights = np.random.default_rng(seed).integers(0, 4, 40)
    weights[0] = 1
    weighted = solve(OneClassProblem(X, nu, sample_weight=weights), "one_class", tol=1e-9)
    repeated = solve(OneClassProblem(X[np.repeat(np.arange(40), weights)], nu), "one_class", tol=1e-9)
    assert weighted.converged
    assert repeated.converged
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-8, abs=1e-12)


def test_the_origin_among_the_rows_ends_at_zero() -> None:
    X = np.random.default_rng(0).standard_normal((200, 5))
    solution = solve(OneClassProblem(X - X.mean(axis=0), 0.5), "one_class", tol=1e-6)
    assert solution.converged
    assert np.linalg.norm(solution.coef) < 1e-3 * 100


def test_warm_start_goes_on_where_it_was() -> None:
    X = shifted_data(5, rows=400)
    cold = solve(OneClassProblem(X, 0.2), "one_class", tol=1e-8)
    warm = solve(OneClassProblem(X, 0.2), "one_class", tol=1e-8, warm_start=cold)
    assert warm.converged and warm.n_iter == 0
    moved = solve(OneClassProblem(X, 0.25), OneClassCD(), tol=1e-8, warm_start=cold)
    assert moved.converged


@pytest.mark.parametrize("nu", [0.0, -1.0, 1.5, np.nan])
def test_impossible_nu_is_refused(nu: float) -> None:
    with pytest.raises(ValueError, match="nu must lie in"):
        OneClassProblem([[1.0]], nu)


def test_the_dual_is_feasible_and_nu_bounds_the_outliers() -> None:
    X = shifted_data(7, rows=300)
    for nu in (0.1, 0.4):
        model = LinearOneClassSVM(nu=nu, tol=1e-9).fit(X)
        alpha = model.solution_.dual
        assert alpha is not None
        assert alpha.min() >= 0
        assert alpha.max() <= 1
        assert alpha.sum() == pytest.approx(nu * 300, rel=1e-12)
        outside = np.mean(model.decision_function(X) < -1e-6 * abs(model.offset_))
        assert outside <= nu
        np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)
        assert set(model.predict(X)) == {-1, 1}


def test_estimator_conventions() -> None:
    # The checks compare decision values to seven digits, which the default tolerance does not promise.
    check_estimator(LinearOneClassSVM(tol=1e-15), on_skip=None)
