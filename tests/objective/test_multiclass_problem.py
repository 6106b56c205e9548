"""The multi-class problems: gradients, weak duality against an independent optimiser, balanced dual points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

from multiclass_data import STORAGES, class_data, reference_optimum
from widemargin import CrammerSingerProblem, MaximumEntropyProblem, Problem, solve
from widemargin.objective.balance import balancing_factors

PROBLEMS = [CrammerSingerProblem, MaximumEntropyProblem]
INTERCEPTS = ["none", "regularized", "free"]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_gradient_is_that_of_the_objective(kind, intercept):
    X, y = class_data(1)
    problem = kind(X, y, C=0.7, intercept=intercept, intercept_scaling=2.0, sample_weight=np.arange(60) % 3)
    at = np.random.default_rng(1).standard_normal(problem.size)
    slope = problem.gradient(at)[0]
    error = check_grad(problem.objective, lambda coef: problem.gradient(coef)[0], at)
    assert error <= 1e-5 * np.linalg.norm(slope)


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_scores_and_adjoint_are_products_on_any_number_of_threads(kind, storage):
    X, y = class_data(2, rows=2500, classes=13, density=0.3)
    problem = kind(storage(X), y, intercept="regularized", intercept_scaling=3.0)
    A = np.asarray(storage(X).toarray() if hasattr(storage(X), "toarray") else storage(X), dtype=np.float64)
    A = np.hstack([A, np.full((len(A), 1), 3.0)])
    rng = np.random.default_rng(3)
    W, U = rng.standard_normal((11, 13)), rng.standard_normal((2500, 13))
    U[::2] = 0
    np.testing.assert_allclose(problem.scores(W.ravel()), A @ W, atol=1e-10)
    np.testing.assert_allclose(problem.adjoint(U), (A.T @ U).ravel(), atol=1e-9)
    threaded = problem.with_jobs(3)
    np.testing.assert_array_equal(threaded.scores(W.ravel()), problem.scores(W.ravel()))
    np.testing.assert_array_equal(threaded.adjoint(U), problem.adjoint(U))
    assert threaded.objective(W.ravel()) == problem.objective(W.ravel())


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_weak_duality_and_no_gap_at_an_independent_optimum(kind, intercept):
    X, y = class_data(4, rows=40, columns=6, classes=3)
    problem = kind(X, y, C=0.3, intercept=intercept, intercept_scaling=2.0)
    best = reference_optimum(problem, X.toarray())
    rng = np.random.default_rng(5)
    for scale in (0.01, 0.1, 1.0):
        certificate = problem.certificate(scale * rng.standard_normal(problem.size))
        assert certificate.dual <= best + 1e-7 * abs(best)
        assert certificate.primal >= best - 1e-7 * abs(best)
        assert problem.dual_value(scale * rng.standard_normal((40, 3))) <= best + 1e-7 * abs(best)
    solution = solve(problem, tol=1e-8)
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(best, rel=1e-7)
    assert solution.certificate.dual == pytest.approx(best, rel=1e-7)


def test_the_gap_of_a_smooth_loss_is_half_the_squared_gradient():
    X, y = class_data(6)
    problem = MaximumEntropyProblem(X, y, intercept="regularized")
    at = np.random.default_rng(0).standard_normal(problem.size)
    g, _ = problem.gradient(at)
    assert problem.certificate(at).gap == pytest.approx(0.5 * g @ g, rel=1e-10)


def test_two_classes_of_maximum_entropy_are_logistic_regression():
    """w_2 - w_1 = w costs 1/2 |w_1|^2 + 1/2 |w_2|^2 = 1/4 |w|^2: half the penalty, or twice C."""
    X, y = class_data(7, classes=2)
    joint = solve(MaximumEntropyProblem(X, y, C=0.5, intercept="free"), tol=1e-12)
    binary = solve(Problem(X, y, loss="logistic", C=1.0, intercept="free"), tol=1e-12)
    assert 2 * joint.certificate.primal == pytest.approx(binary.certificate.primal, rel=1e-10)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), classes=st.integers(2, 8))
def test_balancing_leaves_equal_flows_and_never_grows_one(seed, classes):
    flow = np.random.default_rng(seed).exponential(size=(classes, classes)) ** 3
    np.fill_diagonal(flow, 0.0)
    factors = balancing_factors(flow)
    balanced = factors * flow
    assert (balanced <= flow * (1 + 1e-12)).all()
    np.testing.assert_allclose(balanced.sum(axis=0), balanced.sum(axis=1), atol=1e-12 * flow.sum())
    assert balanced.sum() > 0


def test_a_class_that_only_gives_leaves_nothing_to_balance():
    assert not balancing_factors(np.array([[0.0, 1.0], [0.0, 0.0]])).any()
    flow = np.array([[0.0, 1.0, 0.5], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(balancing_factors(flow) * flow, [[0, 1, 0], [1, 0, 0], [0, 0, 0]], atol=1e-12)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_mistakes_are_explained(kind):
    X, y = class_data(8)
    with pytest.raises(ValueError, match="unknown intercept"):
        kind(X, y, intercept="yes")
    with pytest.raises(ValueError, match="two classes or more"):
        kind(X, np.zeros(60))
    problem = kind(X, y)
    with pytest.raises(ValueError, match="coef has 3 entries, expected 40"):
        problem.objective(np.zeros(3))
    with pytest.raises(ValueError, match="rows by classes"):
        problem.dual_value(np.zeros((60, 3)))
    with pytest.raises(ValueError, match="does not solve loss"):
        solve(problem, "dual_cd")
