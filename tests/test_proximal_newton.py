"""Proximal Newton: every combination to a tiny gap, agreement with other solvers, and features of any scale."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from support import random_problem
from widemargin import Problem, ProximalNewton, Status, solve

LOSSES = sorted(ProximalNewton.losses)


@pytest.mark.parametrize(
    ("loss", "penalty", "intercept"),
    list(product(LOSSES, ["l1", "elasticnet", "l2"], ["none", "regularized", "free"])),
)
def test_every_combination_reaches_the_gap(loss: str, penalty: str, intercept: str) -> None:
    for seed, C in enumerate((0.1, 10.0)):
        problem = random_problem(seed, loss, penalty, intercept, C=C)
        solution = solve(problem, "proximal_newton", tol=1e-10, max_iter=200)
        assert solution.status is Status.CONVERGED, solution
        assert problem.certificate(solution.coef, solution.intercept, solution.dual).relative_gap <= 1e-10
        other = solve(problem, "newglmnet", tol=1e-8)
        assert solution.certificate.primal <= other.certificate.primal * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "modified_huber"])
@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_raw_features_need_few_steps(loss: str, penalty: str, C: float, load: object) -> None:
    """Features from 0.001 to 4,000, on which coordinate descent alone takes thousands of steps."""
    X, y = load(return_X_y=True)  # type: ignore[operator]
    problem = Problem(X, y == 1, loss=loss, penalty=penalty, C=C, intercept="free")
    solution = solve(problem, "proximal_newton", max_iter=200)
    assert solution.converged, solution


def test_the_optimality_conditions_hold() -> None:
    problem = random_problem(3, "logistic", "l1", "free", C=0.3)
    solution = solve(problem, "proximal_newton", tol=1e-12)
    assert np.count_nonzero(solution.coef) < len(solution.coef)
    shortest, in_intercept = problem.gradient(solution.coef, solution.intercept)
    np.testing.assert_allclose(np.append(shortest, in_intercept), 0.0, atol=1e-5)


def test_a_warm_start_is_where_it_begins() -> None:
    problem = random_problem(4, "logistic", "l1", "free", C=5.0)
    first = solve(problem, "proximal_newton", tol=1e-9)
    assert solve(problem, "proximal_newton", tol=1e-9, warm_start=first).n_iter == 0
    near = random_problem(4, "logistic", "l1", "free", C=5.1)
    warm = solve(near, "proximal_newton", tol=1e-9, warm_start=first)
    assert warm.n_iter <= solve(near, "proximal_newton", tol=1e-9).n_iter


def test_threads_do_not_matter() -> None:
    problem = random_problem(5, "squared_hinge", "elasticnet", "free", rows=400)
    one, two = (solve(problem, "proximal_newton", n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.coef, two.coef)


def test_many_features_are_refused_with_advice() -> None:
    with pytest.raises(ValueError, match=r"dense matrix of 12 features.*newglmnet"):
        solve(random_problem(0, "logistic", "l1"), ProximalNewton(max_features=5))


def test_what_cannot_be_reached_ends_as_stalled() -> None:
    solution = solve(random_problem(6, "logistic", "l1", "free", C=100.0), "proximal_newton", tol=0.0)
    assert solution.status is Status.STALLED
    assert solution.certificate.relative_gap <= 1e-10
