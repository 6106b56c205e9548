"""Dual coordinate descent for maximum entropy: its optimum is that of the primal methods and of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from multiclass_data import class_data
from support import real_data
from widemargin import MaximumEntropyProblem, Problem, solve
from widemargin.solvers import MultinomialDualCD
from widemargin.solvers.dual import all_classes as class_dual

INTERCEPTS = ["none", "regularized", "free"]
ORDERS = ["auto", "cyclic", "permuted", "permuted_once", "random", "adaptive"]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_optimum_is_that_of_newtons_method(C, intercept):
    X, y = class_data(1, rows=120, columns=30, classes=5)
    problem = MaximumEntropyProblem(X, y, C=C, intercept=intercept, intercept_scaling=2.0)
    solution = solve(problem, "multinomial_dual_cd", tol=1e-7)
    assert solution.converged
    assert problem.certificate(solution.coef, 0.0, solution.dual).relative_gap <= 1e-7
    newton = solve(problem, "tron", tol=1e-9)
    assert solution.certificate.primal == pytest.approx(newton.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("free", [False, True])
def test_the_optimum_is_that_of_scikit_learn(free):
    X, y = class_data(2, rows=150, columns=200, classes=6, density=0.1)
    problem = MaximumEntropyProblem(X, y, intercept="free" if free else "none")
    ours = solve(problem, "multinomial_dual_cd", tol=1e-8)
    peer = LogisticRegression(fit_intercept=free, tol=1e-10, max_iter=100_000).fit(X.toarray(), y)
    W = np.hstack([peer.coef_, peer.intercept_[:, None]]) if free else peer.coef_
    theirs = problem.objective(W.T.ravel())
    assert theirs == pytest.approx(ours.certificate.primal, rel=1e-6)
    assert theirs >= ours.certificate.dual * (1 - 1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_order_does_not_change_the_optimum(order):
    X, y = class_data(3, rows=200, classes=9)
    problem = MaximumEntropyProblem(X, y, C=5.0)
    solution = solve(problem, MultinomialDualCD(order=order), tol=1e-8)
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(solve(problem, tol=1e-10).certificate.primal, rel=2e-8)


def test_two_classes_are_logistic_regression():
    """w_2 = -w_1 = w / 2: half the binary problem at 2 C."""
    X, y = class_data(4, classes=2)
    joint = solve(MaximumEntropyProblem(X, y, C=0.5), "multinomial_dual_cd", tol=1e-9)
    binary = solve(Problem(X, y, loss="logistic", C=1.0), tol=1e-9)
    assert 2 * joint.certificate.primal == pytest.approx(binary.certificate.primal, rel=1e-8)


@pytest.mark.parametrize("classes", [2, 7, 8, 9, 16, 25, 33, 40])
def test_any_number_of_classes_in_either_precision(classes):
    X, y = class_data(5, rows=5 * classes, columns=20, classes=classes)
    problem = MaximumEntropyProblem(X, y)
    best = solve(problem, "tron", tol=1e-9).certificate.primal
    for tol in (1e-4, 1e-7):  # float32 and float64 weights
        solution = solve(problem, "multinomial_dual_cd", tol=tol)
        assert solution.converged
        assert solution.certificate.primal == pytest.approx(best, rel=tol)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_compact_rows_change_nothing(intercept, monkeypatch):
    X, y = class_data(6, rows=80, columns=400, density=0.02)
    problem = MaximumEntropyProblem(X, y, intercept=intercept)
    plain = solve(problem, "multinomial_dual_cd", tol=1e-9)
    monkeypatch.setattr(class_dual, "WIDE", 0)
    compact = solve(problem, "multinomial_dual_cd", tol=1e-9)
    assert plain.converged
    assert compact.converged
    assert compact.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(compact.coef, plain.coef, atol=1e-3)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), intercept=st.sampled_from(INTERCEPTS))
def test_weights_count_as_repetitions(seed, intercept):
    X, y = class_data(seed, rows=40, columns=6, classes=3)
    weights = np.random.default_rng(seed).integers(0, 4, 40)
    weights[:3] = 1
    weighted = solve(
        MaximumEntropyProblem(X, y, intercept=intercept, sample_weight=weights), "multinomial_dual_cd", tol=1e-8
    )
    again = np.repeat(np.arange(40), weights)
    repeated = solve(MaximumEntropyProblem(X[again], y[again], intercept=intercept), "multinomial_dual_cd", tol=1e-8)
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=2e-8)


def test_rows_without_entries_cost_their_logarithm():
    X, y = class_data(7)
    empty = sp.vstack([X, sp.csr_array((3, 10))], format="csr")
    solution = solve(MaximumEntropyProblem(empty, np.append(y, [0, 1, 2])), "multinomial_dual_cd", tol=1e-9)
    assert solution.converged
    without = solve(MaximumEntropyProblem(X, y), "multinomial_dual_cd", tol=1e-9)
    assert solution.certificate.primal == pytest.approx(without.certificate.primal + 3 * np.log(4), rel=1e-8)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_warm_start_goes_on_where_it_was(intercept):
    X, y = class_data(8, rows=200)
    cold = solve(MaximumEntropyProblem(X, y, intercept=intercept), "multinomial_dual_cd", tol=1e-7)
    again = solve(MaximumEntropyProblem(X, y, intercept=intercept), "multinomial_dual_cd", tol=1e-7, warm_start=cold)
    assert again.n_iter == 0
    problem = MaximumEntropyProblem(X, y, C=0.5, intercept=intercept)
    moved = solve(problem, "multinomial_dual_cd", tol=1e-7, warm_start=cold)
    assert moved.converged
    assert moved.certificate.primal == pytest.approx(solve(problem, tol=1e-9).certificate.primal, rel=1e-6)


def test_huge_features_and_large_C_hand_over_and_converge():
    X, y = class_data(9, rows=150)
    X = X @ sp.diags_array(np.logspace(-3, 3, 10))
    solution = solve(MaximumEntropyProblem(sp.csr_array(X), y, C=1e3, intercept="free"), tol=1e-6)
    assert solution.converged


def test_the_same_seed_gives_the_same_bits():
    X, y = class_data(10, rows=300)
    problem = MaximumEntropyProblem(X, y)
    one, two = (solve(problem, "multinomial_dual_cd", tol=1e-5, seed=3, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef, two.coef)


def test_raw_counts_converge():
    X, y = real_data("news20")
    problem = MaximumEntropyProblem(X, y)
    solution = solve(problem, max_iter=300)
    assert solution.converged
    assert problem.certificate(solution.coef, 0.0, solution.dual).relative_gap <= 1e-3
