"""Coordinate descent for the squared loss: every combination to its gap, scikit-learn's optimum, safe screening."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet, Lasso, Ridge

from support import random_problem, real_data
from widemargin import Problem, solve
from widemargin.solvers import LassoCD

PENALTIES = ("l1", "elasticnet", "l2")
INTERCEPTS = ("none", "regularized", "free")
ORDERS = ("cyclic", "permuted", "permuted_once", "random", "adaptive")
STORAGES: dict[str, Callable[[sp.csr_array], Any]] = {
    "csr": lambda X: X,
    "csc": lambda X: X.tocsc(),
    "csr float32": lambda X: X.astype(np.float32),
    "dense": lambda X: X.toarray(),
    "dense float32": lambda X: X.toarray().astype(np.float32),
    "binary": lambda X: sp.csr_array(X != 0, dtype=np.float64),
}


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_combination_reaches_the_gap(penalty: str, intercept: str) -> None:
    weights = np.random.default_rng(1).integers(0, 3, 60) * 0.7
    for storage in STORAGES.values():
        for C in (0.01, 1.0, 100.0):
            for sample_weight in (None, weights):
                problem = random_problem(
                    2, "squared", penalty, intercept, C=C, sample_weight=sample_weight, convert=storage
                )
                solution = solve(problem, "lasso_cd", tol=1e-8)
                assert solution.converged
                exact = problem.certificate(solution.coef, solution.intercept, solution.dual)
                assert exact.relative_gap <= 1e-8


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    penalty=st.sampled_from(PENALTIES),
    intercept=st.sampled_from(INTERCEPTS),
    order=st.sampled_from(ORDERS),
    working_set=st.booleans(),
    screening=st.booleans(),
    extrapolation=st.sampled_from([0, 2, 5]),
    C=st.sampled_from([0.02, 0.5, 20.0]),
    l1_ratio=st.sampled_from([0.1, 0.5, 0.95]),
    columns=st.sampled_from([5, 40, 150]),
)
def test_any_setting_finds_the_same_optimum(
    seed: int,
    penalty: str,
    intercept: str,
    order: str,
    working_set: bool,
    screening: bool,
    extrapolation: int,
    C: float,
    l1_ratio: float,
    columns: int,
) -> None:
    problem = random_problem(seed, "squared", penalty, intercept, C=C, l1_ratio=l1_ratio, columns=columns)
    solver = LassoCD(order=order, working_set=working_set, screening=screening, extrapolation=extrapolation)
    solution = solve(problem, solver, tol=1e-7, seed=seed)
    assert solution.converged
    plain = solve(problem, LassoCD(working_set=False, screening=False), tol=1e-7)
    assert solution.certificate.primal == pytest.approx(plain.certificate.primal, rel=3e-7)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_agrees_with_scikit_learn(C: float, fit_intercept: bool) -> None:
    intercept = "free" if fit_intercept else "none"
    for penalty in PENALTIES:
        problem = random_problem(5, "squared", penalty, intercept, C=C, l1_ratio=0.4, rows=80, columns=30)
        n, X = 80, random_dense(problem)
        peers = {
            "l1": Lasso(alpha=1 / (2 * n * C), fit_intercept=fit_intercept, tol=1e-12, max_iter=10**6),
            "elasticnet": ElasticNet(
                alpha=1 / (2 * n * C), l1_ratio=0.4, fit_intercept=fit_intercept, tol=1e-12, max_iter=10**6
            ),
            "l2": Ridge(alpha=1 / (2 * C), fit_intercept=fit_intercept),
        }
        peer = peers[penalty].fit(X, problem.y)
        solution = solve(problem, "lasso_cd", tol=1e-10)
        theirs = problem.objective(peer.coef_, float(peer.intercept_))
        assert solution.certificate.primal == pytest.approx(theirs, rel=1e-6)
        np.testing.assert_allclose(solution.coef, peer.coef_, atol=1e-4)


def random_dense(problem: Problem) -> np.ndarray:
    """The rows of a problem's matrix, seen through its products."""
    return np.column_stack([problem.X.matvec(unit) for unit in np.eye(problem.X.shape[1])])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.01, 0.1, 1.0]), intercept=st.sampled_from(INTERCEPTS))
def test_screening_never_removes_a_feature_of_the_optimum(seed: int, C: float, intercept: str) -> None:
    from widemargin.solvers.base import Run
    from widemargin.solvers.sparse.lasso_cd import _LassoState

    problem = random_problem(seed, "squared", "l1", intercept, C=C, rows=50, columns=80)
    best = solve(problem, LassoCD(screening=False), tol=1e-11, max_iter=2000)
    run = Run(tol=1e-9, seed=0, max_iter=np.inf, every_step=False, start=None, seconds_left=lambda: np.inf)
    state = _LassoState(LassoCD(working_set=False), problem, run)
    for _ in range(30):
        found = state.screen(state.assess(state.alive))
        assert set(np.flatnonzero(np.abs(best.coef) > 1e-7)) <= set(state.alive.tolist())
        state.choose_working(found)
        state.native.run(1, 1.0)
    assert len(state.alive) < 80 or C > 0.01


def test_warm_start_goes_on_where_it_was() -> None:
    problem = random_problem(3, "squared", "l1", "free", C=1.0, rows=200, columns=300)
    cold = solve(problem, "lasso_cd", tol=1e-6)
    assert solve(problem, "lasso_cd", tol=1e-6, warm_start=cold).n_iter == 0
    harder = random_problem(3, "squared", "l1", "free", C=1.3, rows=200, columns=300)
    assert solve(harder, "lasso_cd", tol=1e-6, warm_start=cold).converged


def test_a_constant_column_is_left_to_the_free_intercept() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(50, 0.3), rng.standard_normal((50, 3))])
    problem = Problem(X, X[:, 1] + 5, loss="squared", penalty="l1", C=10, intercept="free")
    solution = solve(problem, "lasso_cd", tol=1e-9)
    assert solution.converged
    assert solution.coef[0] == 0


def test_dependent_columns_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    problem = Problem(np.hstack([X, X, 2 * X]), X @ np.ones(5), loss="squared", penalty="l1", C=50)
    assert solve(problem, "lasso_cd", tol=1e-8).converged


def test_too_strong_a_penalty_leaves_nothing() -> None:
    problem = random_problem(3, "squared", "l1", "none", C=1e-6)
    solution = solve(problem, "lasso_cd", tol=1e-9)
    assert solution.converged
    assert not solution.coef.any()


def test_adaptive_order_needs_fewer_steps_on_real_text() -> None:
    X, y = real_data("reuters_moneyfx")
    problem = Problem(X, np.where(y > 0, 1.0, -1.0), loss="squared", penalty="l1", C=5.0)
    entries = {}
    for order in ("cyclic", "adaptive"):
        solver = LassoCD(order=order, working_set=False, screening=False, extrapolation=0)
        solution = solve(problem, solver, tol=1e-2)
        assert solution.converged
        entries[order] = solution.trace[-1].passes
    assert entries["adaptive"] < entries["cyclic"]
