"""Maximum entropy: gaps for every solver, agreement with scikit-learn's multinomial regression, weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from multiclass_data import STORAGES, class_data
from support import real_data
from widemargin import MaximumEntropyProblem, fit_joint, solve
from widemargin.solvers import TRON
from widemargin.solvers.newton.class_blocks import ClassBlocks

INTERCEPTS = ["none", "regularized", "free"]
SOLVERS = ["tron", "lbfgs", "multinomial_dual_cd"]


def layout(model, free):
    """scikit-learn's coefficients in our order."""
    W = np.hstack([model.coef_, model.intercept_[:, None]]) if free else model.coef_
    return W.T.ravel()


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
def test_every_storage_reaches_the_gap(storage, solver, intercept):
    X, y = class_data(1, rows=150)
    problem = MaximumEntropyProblem(storage(X), y, intercept=intercept)
    solution = solve(problem, solver, tol=1e-9)
    assert solution.converged
    # A dual method proves its result by its own dual point, a primal one by the point that its gradient gives.
    v = solution.dual if solver == "multinomial_dual_cd" else None
    assert problem.certificate(solution.coef, 0.0, v).relative_gap <= 1e-8
    # The objective is 1-strongly convex in W: the gap bounds the distance to any other solution.
    other = solve(problem, tol=1e-11)
    held = problem.n_penalised
    assert np.sum((solution.coef[:held] - other.coef[:held]) ** 2) <= 8 * solution.certificate.gap


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_scikit_learn_reaches_our_optimum_and_no_less(C, free):
    X, y = class_data(2, rows=200, classes=5)
    problem = MaximumEntropyProblem(X, y, C=C, intercept="free" if free else "none")
    ours = solve(problem, tol=1e-10)
    assert ours.converged
    peer = LogisticRegression(C=C, fit_intercept=free, tol=1e-10, max_iter=100_000).fit(X.toarray(), y)
    theirs = problem.objective(layout(peer, free))
    assert theirs == pytest.approx(ours.certificate.primal, rel=1e-6)
    assert theirs >= ours.certificate.dual * (1 - 1e-12)


def test_probabilities_agree_with_scikit_learn():
    X, y = class_data(3, rows=200, classes=5)
    problem = MaximumEntropyProblem(X, y, intercept="free")
    model = fit_joint(problem, tol=1e-12)
    peer = LogisticRegression(tol=1e-10, max_iter=100_000).fit(X.toarray(), y)
    found = problem.probabilities(model.decision_values(X))
    np.testing.assert_allclose(found, peer.predict_proba(X.toarray()), atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), intercept=st.sampled_from(INTERCEPTS))
def test_weights_count_as_repetitions(seed, intercept):
    X, y = class_data(seed, rows=40, columns=6, classes=3)
    weights = np.random.default_rng(seed).integers(0, 4, 40)
    weights[:3] = 1
    weighted = solve(MaximumEntropyProblem(X, y, intercept=intercept, sample_weight=weights), tol=1e-10)
    again = np.repeat(np.arange(40), weights)
    repeated = solve(MaximumEntropyProblem(X[again], y[again], intercept=intercept), tol=1e-10)
    assert weighted.converged
    assert repeated.converged
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-9)


@pytest.mark.parametrize("preconditioner", ["auto", "blocks", "diagonal", "none"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_preconditioner_does_not_change_the_optimum(preconditioner, intercept):
    X, y = class_data(7, rows=300, classes=6)
    problem = MaximumEntropyProblem(X, y, C=3.0, intercept=intercept)
    solution = solve(problem, TRON(preconditioner=preconditioner), tol=1e-10)
    assert solution.converged
    reference = solve(problem, "lbfgs", tol=1e-10).certificate.primal
    assert solution.certificate.primal == pytest.approx(reference, rel=1e-9)


def test_blocks_are_the_hessian_at_the_start():
    """At W = 0 the blocks are the Hessian but for k / (k - 1): conjugate gradients need one product."""
    X, y = class_data(8, rows=300, columns=12, classes=5)
    f = MaximumEntropyProblem(X, y).smooth()
    at = f.start(None)
    blocks = ClassBlocks(f)
    blocks.refresh(at)
    step = blocks.solve(at.gradient)  # its classes sum to zero
    h = 1 / 5 * (1 - 1 / 5)
    G = (X.T @ X).toarray()
    for m in range(5):
        expected = np.linalg.solve(np.eye(12) + h * G, at.gradient[m::5])
        np.testing.assert_allclose(step[m::5], expected, rtol=1e-6)


def test_an_unknown_preconditioner_is_refused():
    with pytest.raises(ValueError, match="one of auto, blocks, diagonal, none, got 'cholesky'"):
        TRON(preconditioner="cholesky")


def test_unscaled_features_and_large_C_converge():
    X, y = class_data(4, rows=200)
    problem = MaximumEntropyProblem(X.toarray() * np.logspace(-2, 2, 10) + 3.0, y, C=100.0, intercept="free")
    assert solve(problem, tol=1e-4).converged


def test_scores_far_apart_do_not_overflow():
    X, y = class_data(5)
    problem = MaximumEntropyProblem(X * 1e4, y)
    at = 1e3 * np.ones(problem.size) * np.tile(np.arange(4), 10)
    assert np.isfinite(problem.objective(at))
    assert np.isfinite(problem.gradient(at)[0]).all()


@pytest.mark.parametrize("jobs", [2, 3])
def test_results_do_not_depend_on_threads(jobs):
    X, y = class_data(6, rows=3000)
    problem = MaximumEntropyProblem(X, y, intercept="free")
    one, many = (solve(problem, tol=1e-6, n_jobs=n) for n in (1, jobs))
    np.testing.assert_allclose(one.coef, many.coef, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["dna.scale", "satimage.scale"])
def test_scikit_learn_agrees_on_real_data(name):
    X, y = real_data(name)
    problem = MaximumEntropyProblem(X, y, intercept="free")
    ours = solve(problem, tol=1e-8)
    assert ours.converged
    peer = LogisticRegression(solver="newton-cg", tol=1e-8, max_iter=10_000).fit(X, y)
    assert problem.objective(layout(peer, True)) == pytest.approx(ours.certificate.primal, rel=1e-6)
