"""Crammer and Singer's SVM: gaps, agreement with LIBLINEAR and the binary problem, weights, published accuracies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from multiclass_data import STORAGES, class_data
from support import real_data
from widemargin import CrammerSingerProblem, Problem, fit_joint, solve
from widemargin.solvers import CrammerSinger

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from liblinear.liblinearutil import train

INTERCEPTS = ["none", "regularized", "free"]


def liblinear_coefficients(X, y, C, bias):
    """LIBLINEAR's -s 4 in our order of classes and layout."""
    options = f"-s 4 -c {C} -B {1 if bias else -1} -e 1e-8 -q"
    model = train(y.astype(float).tolist(), sp.csr_matrix(X), options)
    labels = np.array(model.get_labels())
    decisions = [model.get_decfun(label_idx=at) for at in range(len(labels))]
    W = np.array([np.append(w, b) if bias else np.array(w) for w, b in decisions])
    return W[np.argsort(labels)].T.ravel()


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
def test_every_storage_reaches_the_gap(storage, intercept):
    X, y = class_data(1, rows=150)
    problem = CrammerSingerProblem(storage(X), y, intercept=intercept)
    solution = solve(problem, "crammer_singer", tol=1e-7)
    assert solution.converged
    assert problem.certificate(solution.coef, 0.0, solution.dual).relative_gap <= 1e-7


@pytest.mark.parametrize("order", ["auto", "cyclic", "permuted", "permuted_once", "random", "adaptive"])
@pytest.mark.parametrize("shrinking", [False, True])
def test_order_and_shrinking_do_not_change_the_optimum(order, shrinking):
    X, y = class_data(2, rows=200, classes=9)
    problem = CrammerSingerProblem(X, y, C=2.0)
    solution = solve(problem, CrammerSinger(order=order, shrinking=shrinking), tol=1e-7)
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(solve(problem, tol=1e-9).certificate.primal, rel=2e-7)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_liblinear_reaches_our_optimum_and_no_less(C, bias):
    X, y = class_data(3, rows=80, columns=60, classes=5)
    problem = CrammerSingerProblem(X, y, C=C, intercept="regularized" if bias else "none")
    ours = solve(problem, tol=1e-8)
    theirs = problem.objective(liblinear_coefficients(X, y, C, bias))
    assert theirs == pytest.approx(ours.certificate.primal, rel=1e-6)
    assert theirs >= ours.certificate.dual * (1 - 1e-12)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_two_classes_are_the_hinge_problem(intercept):
    """w_2 = -w_1 = w / 2: 1/4 |w|^2 + C sum max(0, 1 - y x . w), half the binary problem at 2 C."""
    X, y = class_data(4, classes=2)
    joint = solve(CrammerSingerProblem(X, y, C=0.5, intercept=intercept), tol=1e-9)
    binary = solve(Problem(X, y, loss="hinge", C=1.0, intercept=intercept), tol=1e-9)
    assert joint.converged
    assert binary.converged
    assert 2 * joint.certificate.primal == pytest.approx(binary.certificate.primal, rel=1e-8)
    W = joint.coef.reshape(-1, 2)[: X.shape[1]]
    np.testing.assert_allclose(W[:, 1], -W[:, 0], atol=1e-12)
    np.testing.assert_allclose(W[:, 1] - W[:, 0], binary.coef, atol=1e-3)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), intercept=st.sampled_from(INTERCEPTS))
def test_weights_count_as_repetitions(seed, intercept):
    X, y = class_data(seed, rows=40, columns=6, classes=3)
    weights = np.random.default_rng(seed).integers(0, 4, 40)
    weights[:3] = 1
    weighted = solve(CrammerSingerProblem(X, y, intercept=intercept, sample_weight=weights), tol=1e-8)
    again = np.repeat(np.arange(40), weights)
    repeated = solve(CrammerSingerProblem(X[again], y[again], intercept=intercept), tol=1e-8)
    assert weighted.converged
    assert repeated.converged
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=2e-8, abs=1e-9)


def test_rows_without_entries_cost_their_weight():
    X, y = class_data(5)
    X = sp.vstack([X, sp.csr_array((3, 10))], format="csr")
    y = np.append(y, [0, 1, 2])
    solution = solve(CrammerSingerProblem(X, y), tol=1e-9)
    assert solution.converged
    without = solve(CrammerSingerProblem(X[:60], y[:60]), tol=1e-9)
    assert solution.certificate.primal == pytest.approx(without.certificate.primal + 3, rel=1e-8)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_warm_start_goes_on_where_it_was(intercept):
    X, y = class_data(6, rows=200)
    cold = solve(CrammerSingerProblem(X, y, intercept=intercept), tol=1e-6)
    again = solve(CrammerSingerProblem(X, y, intercept=intercept), tol=1e-6, warm_start=cold)
    assert again.n_iter == 0
    moved = solve(CrammerSingerProblem(X, y, C=0.5, intercept=intercept), tol=1e-6, warm_start=cold)
    assert moved.converged


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    X, y = class_data(7, rows=300)
    problem = CrammerSingerProblem(X, y)
    one, two = (solve(problem, tol=1e-5, seed=3, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef, two.coef)


@pytest.mark.parametrize("name", ["dna.scale", "satimage.scale"])
def test_accuracy_is_that_of_liblinear_on_real_data(name):
    (X, y), (X_test, y_test) = real_data(name), real_data(f"{name}.t")
    n = max(X.shape[1], X_test.shape[1])
    X.resize((X.shape[0], n)), X_test.resize((X_test.shape[0], n))
    problem = CrammerSingerProblem(X, y, intercept="regularized")
    model = fit_joint(problem, tol=1e-3)
    assert model.converged
    theirs = liblinear_coefficients(X, y, 1.0, True).reshape(n + 1, -1)
    test = sp.hstack([X_test, np.ones((X_test.shape[0], 1))], format="csr")
    ours = np.mean(model.predict(X_test) == y_test)
    peer = np.mean(model.classes[(test @ theirs).argmax(axis=1)] == y_test)
    assert ours == pytest.approx(peer, abs=0.003)
