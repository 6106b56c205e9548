"""newGLMNET: optimal on everything it declares, in agreement with other solvers, LIBLINEAR and scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from liblinear.liblinearutil import parameter, train
from liblinear.liblinearutil import problem as liblinear_problem

from support import random_data, random_problem, real_data
from widemargin import Problem, Status, solve
from widemargin.objective.losses import LOSSES
from widemargin.objective.penalties import PENALTIES
from widemargin.objective.problem import INTERCEPTS
from widemargin.solvers import CMLS, NewGLMNET, PrimalCD

CASES = list(product(sorted(NewGLMNET.losses), PENALTIES, INTERCEPTS))
STORAGES = {
    "csr": lambda X: X,
    "csr32": lambda X: X.astype(np.float32),
    "dense": lambda X: X.toarray(),
    "dense32": lambda X: X.toarray().astype(np.float32),
    "binary": lambda X: (abs(X) > 0.5).astype(np.float64),
}


@pytest.mark.parametrize(("loss", "penalty", "intercept"), CASES)
def test_every_combination_reaches_a_small_gap_and_agrees_with_primal_cd(loss, penalty, intercept):
    problem = random_problem(3, loss, penalty, intercept, C=2.0, sample_weight=np.arange(60) % 4)
    newton, descent = (solve(problem, s, tol=1e-8, max_iter=20000) for s in (NewGLMNET(), PrimalCD()))
    assert newton.status is Status.CONVERGED
    assert descent.status is Status.CONVERGED
    assert newton.certificate.primal == pytest.approx(descent.certificate.primal, rel=2e-8)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(
    case=st.sampled_from(CASES),
    storage=st.sampled_from(sorted(STORAGES)),
    seed=st.integers(0, 10**6),
    C=st.sampled_from([1e-3, 0.1, 1.0, 20.0]),
    weighted=st.booleans(),
)
def test_drawn_problems_reach_a_small_gap(case, storage, seed, C, weighted):
    weight = np.random.default_rng(seed).integers(0, 3, 60) + (np.arange(60) < 2) if weighted else None
    problem = random_problem(seed, *case, C=C, convert=STORAGES[storage], sample_weight=weight)
    solution = solve(problem, "newglmnet", tol=1e-6, max_iter=5000)
    assert solution.status is Status.CONVERGED, solution.certificate
    assert problem.certificate(solution.coef, solution.intercept).relative_gap <= 1.1e-6


@pytest.mark.parametrize(("loss", "type_"), [("squared_hinge", 5), ("logistic", 6)])
@pytest.mark.parametrize("C", [0.3, 1.0])
def test_optimum_is_that_of_liblinear(loss, type_, C):
    X, response = random_data(11, rows=150, columns=40)
    y = np.sign(response)
    problem = random_problem(11, loss, "l1", rows=150, columns=40, C=C)
    solution = solve(problem, "newglmnet", tol=1e-9)
    model = train(liblinear_problem(y, sp.csr_matrix(X)), parameter(f"-s {type_} -c {C} -e 1e-9 -q"))
    w = np.array(model.get_decfun()[0]) * (1 if model.get_labels()[0] == 1 else -1)
    assert solution.certificate.primal == pytest.approx(problem.objective(w), rel=1e-6)
    np.testing.assert_allclose(solution.coef, w, atol=1e-3 * np.abs(w).max())


def test_elastic_net_optimum_is_that_of_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    X, response = random_data(12, rows=150, columns=20)
    problem = random_problem(12, "logistic", "elasticnet", "free", rows=150, columns=20, l1_ratio=0.3)
    solution = solve(problem, "newglmnet", tol=1e-10)
    peer = LogisticRegression(solver="saga", C=1.0, l1_ratio=0.3, tol=1e-10, max_iter=100_000)
    peer.fit(X, np.sign(response))
    value = problem.objective(peer.coef_[0], float(peer.intercept_[0]))
    assert solution.certificate.primal == pytest.approx(value, rel=1e-6)


def test_warm_start_needs_fewer_steps_and_stays_where_it_is_optimal():
    problem = random_problem(5, "logistic", "l1", "free", rows=200, columns=50)
    first = solve(problem, "newglmnet", tol=1e-7)
    again = solve(problem, "newglmnet", tol=1e-7, warm_start=first)
    assert first.n_iter > 2
    assert again.n_iter == 0
    near = random_problem(5, "logistic", "l1", "free", rows=200, columns=50, C=1.1)
    assert solve(near, "newglmnet", tol=1e-7, warm_start=first).n_iter < solve(near, "newglmnet", tol=1e-7).n_iter


def test_objective_never_rises():
    problem = random_problem(8, "squared_hinge", "l1", "free", rows=300, columns=80, C=10.0)
    values = [row.objective for row in solve(problem, NewGLMNET(inner_passes=3), tol=1e-8).trace]
    assert len(values) > 5
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(values))


def test_zero_is_optimal_for_small_C():
    problem = random_problem(1, "logistic", "l1", C=1e-4)
    solution = solve(problem, "newglmnet", tol=1e-10)
    assert not solution.coef.any()
    assert solution.status is Status.CONVERGED


def test_a_loss_without_curvature_is_refused():
    with pytest.raises(ValueError, match="does not solve"):
        solve(random_problem(0, "hinge", "l1"), "newglmnet")
    with pytest.raises(ValueError, match="newglmnet"):
        solve(random_problem(0, "logistic", "l1"), CMLS())


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("loss", sorted(NewGLMNET.losses))
def test_newton_steps_on_the_support_end_badly_scaled_problems(loss, penalty, intercept):
    X, response = random_data(21, rows=120, columns=40, density=0.8)
    scales = np.logspace(-2, 2, 40)
    y = np.sign(response) if LOSSES[loss].classification else response
    data = X.toarray() * scales + 3 * scales  # columns far from zero, of very different lengths
    problem = Problem(data, y, loss=loss, penalty=penalty, intercept=intercept, C=30.0)
    solution = solve(problem, "newglmnet", tol=1e-7, max_iter=1500)
    assert solution.status is Status.CONVERGED, solution
    other = solve(problem, "prox_newton", tol=1e-7)
    assert solution.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-7)


def test_support_steps_by_conjugate_gradients_agree_with_dense_ones(monkeypatch):
    from widemargin.solvers.sparse import newglmnet_support

    problem = random_problem(22, "squared_hinge", "l1", "free", rows=400, columns=150, C=50.0)
    dense = solve(problem, "newglmnet", tol=1e-9)
    monkeypatch.setattr(newglmnet_support, "LARGEST_DENSE", 0)
    by_cg = solve(problem, "newglmnet", tol=1e-9)
    assert dense.converged
    assert by_cg.converged
    assert by_cg.certificate.primal == pytest.approx(dense.certificate.primal, rel=1e-8)


@pytest.mark.parametrize(("name", "C"), [("colon-cancer", 10.0), ("leu", 10.0)])
def test_few_rows_at_large_C_end_in_few_hundred_steps(name, C):
    X, y = real_data(name)
    solution = solve(Problem(X, y, loss="squared_hinge", penalty="l1", C=C), "newglmnet", tol=1e-8)
    assert solution.converged
    assert solution.n_iter < 600


def test_rows_far_on_the_wrong_side_do_not_stop_the_logistic_loss():
    X, response = random_data(23, rows=200, columns=30)
    problem = Problem(100 * X, np.sign(response), loss="logistic", penalty="l1", intercept="free", C=100.0)
    far = solve(problem, "newglmnet", tol=0.5, max_iter=1)
    start = replace(far, coef=np.random.default_rng(0).standard_normal(30))  # predictions of hundreds, half wrong
    solution = solve(problem, "newglmnet", tol=1e-4, warm_start=start)
    assert solution.status is Status.CONVERGED, solution
