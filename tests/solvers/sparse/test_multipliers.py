"""The method of multipliers: every combination to its gap, and agreement with linear programming."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from support import random_problem, real_data
from widemargin import Problem, solve
from widemargin.solvers import Multipliers

LOSSES = ("hinge", "epsilon_insensitive", "quantile")
PENALTIES = ("l1", "elasticnet", "l2")
INTERCEPTS = ("none", "regularized", "free")
STORAGES = {
    "csr": lambda X: X,
    "csr float32": lambda X: X.astype(np.float32),
    "dense": lambda X: X.toarray(),
    "dense float32": lambda X: X.toarray().astype(np.float32),
    "binary": lambda X: sp.csr_array(X != 0, dtype=np.float64),
}


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_combination_reaches_the_gap(loss: str, penalty: str, intercept: str) -> None:
    weights = np.random.default_rng(1).integers(0, 3, 60) * 0.7
    for storage in STORAGES.values():
        for C in (0.02, 1.0, 100.0):
            problem = random_problem(2, loss, penalty, intercept, C=C, sample_weight=weights, convert=storage)
            solution = solve(problem, "multipliers", tol=1e-7)
            assert solution.converged
            exact = problem.certificate(solution.coef, solution.intercept, solution.dual)
            assert exact.relative_gap <= 1e-7


def by_linear_programming(problem: Problem, X: np.ndarray) -> float:
    """The optimum of the l1 problem by HiGHS: w = p - q, and one slack per row (two sides for regression)."""
    n = X.shape[0]
    s = problem.intercept_scaling
    features = {"none": X, "regularized": np.hstack([X, np.full((n, 1), s)]), "free": np.hstack([X, np.ones((n, 1))])}
    A = features[problem.intercept]
    cost = np.ones(A.shape[1])
    if problem.intercept == "free":
        cost[-1] = 0.0
    y, slack = problem.y, -np.eye(n)
    if problem.loss.classification:
        yA = y[:, None] * A
        upper, right = np.hstack([-yA, yA, slack]), -np.ones(n)
    else:  # each row's slack is its loss: above both lines
        e, above, below = problem.loss.zone, problem.loss.upper, -problem.loss.lower
        upper = np.vstack([np.hstack([below * A, -below * A, slack]), np.hstack([-above * A, above * A, slack])])
        right = np.concatenate([below * (y + e), above * (e - y)])
    found = linprog(np.concatenate([cost, cost, problem.weights]), A_ub=upper, b_ub=right, method="highs")
    assert found.status == 0
    return float(found.fun)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    loss=st.sampled_from(LOSSES),
    intercept=st.sampled_from(INTERCEPTS),
    C=st.sampled_from([0.05, 1.0, 20.0]),
    columns=st.sampled_from([3, 12, 70]),
)
def test_agrees_with_linear_programming(seed: int, loss: str, intercept: str, C: float, columns: int) -> None:
    problem = random_problem(seed, loss, "l1", intercept, C=C, columns=columns, rows=50)
    X = np.column_stack([problem.X.matvec(unit) for unit in np.eye(columns)])
    solution = solve(problem, "multipliers", tol=1e-8)
    assert solution.converged
    best = by_linear_programming(problem, X)
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    assert solution.certificate.dual <= best * (1 + 1e-9)


def test_elastic_net_with_a_tiny_share_of_l2_is_close_to_l1() -> None:
    settings_ = {"C": 1.0, "rows": 80, "columns": 20}
    l1 = solve(random_problem(4, "hinge", "l1", "free", **settings_), "multipliers", tol=1e-8)
    mixed = random_problem(4, "hinge", "elasticnet", "free", l1_ratio=1 - 1e-6, **settings_)
    assert solve(mixed, "multipliers", tol=1e-8).certificate.primal == pytest.approx(l1.certificate.primal, rel=1e-5)


@pytest.mark.parametrize(("start", "narrowing"), [(0.1, 0.5), (10.0, 0.5), (1.0, 0.2), (1.0, 0.9)])
def test_settings_change_the_way_not_the_end(start: float, narrowing: float) -> None:
    problem = random_problem(6, "hinge", "l1", "free", C=2.0)
    best = solve(problem, "multipliers", tol=1e-9).certificate.primal
    solution = solve(problem, Multipliers(first_width=start, narrowing=narrowing), tol=1e-8)
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(best, rel=1e-7)


def test_warm_start_goes_on_where_it_was() -> None:
    problem = random_problem(3, "hinge", "l1", "free", C=1.0, rows=150, columns=40)
    cold = solve(problem, "multipliers", tol=1e-6)
    warm = solve(problem, "multipliers", tol=1e-6, warm_start=cold)
    assert warm.converged
    assert warm.n_iter <= 2
    harder = random_problem(3, "hinge", "l1", "free", C=1.2, rows=150, columns=40)
    assert solve(harder, "multipliers", tol=1e-6, warm_start=cold).converged


@pytest.mark.parametrize(("name", "objective"), [("reuters_moneyfx", 623.116604), ("a9a", 11458.742978)])
def test_real_data_reach_the_linear_programs_optimum(name: str, objective: float) -> None:
    # The objectives were found by HiGHS, which takes 10 to 80 s for them.
    X, y = real_data(name)
    solution = solve(Problem(X, y, loss="hinge", penalty="l1", C=1.0), "multipliers", tol=1e-3)
    assert solution.converged
    assert objective * (1 - 1e-8) <= solution.certificate.primal <= objective * (1 + 1e-3)
    assert solution.certificate.dual <= objective * (1 + 1e-8)
