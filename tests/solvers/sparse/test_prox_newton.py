"""Proximal Newton: optimal for every combination it declares, blind to scales, in few steps."""

from __future__ import annotations

import numpy as np
import pytest

from support import random_data, random_problem, real_data
from widemargin import Problem, solve
from widemargin.objective.losses import LOSSES
from widemargin.solvers import ProxNewton

SMOOTH = sorted(ProxNewton.losses)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_reaches_the_optimum_that_newglmnet_finds(loss: str, penalty: str, intercept: str) -> None:
    weights = np.random.default_rng(1).uniform(0, 2, 60)
    weights[::7] = 0.0
    problem = random_problem(3, loss, penalty, intercept, C=0.7, sample_weight=weights)
    ours = solve(problem, "prox_newton", tol=1e-8)
    other = solve(problem, "newglmnet", tol=1e-7)
    assert ours.converged
    assert ours.certificate.relative_gap <= 1e-8
    assert ours.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-7)


@pytest.mark.parametrize("solver", ["prox_newton", "newglmnet"])
def test_threads_do_not_matter(solver: str) -> None:
    problem = random_problem(31, "logistic", "l1", "free", rows=6000, columns=30, density=0.2)
    one, two, three = (solve(problem, solver, tol=1e-6, n_jobs=n) for n in (1, 2, 3))
    assert one.converged
    assert np.array_equal(one.coef, two.coef) and np.array_equal(one.coef, three.coef)
    assert one.intercept == two.intercept == three.intercept


@pytest.mark.parametrize("convert", [lambda X: X, lambda X: X.toarray(), lambda X: X.astype(np.float32)])
def test_storage_does_not_matter(convert) -> None:
    reference = solve(random_problem(5, "logistic", "l1"), "prox_newton", tol=1e-10)
    other = solve(random_problem(5, "logistic", "l1", convert=convert), "prox_newton", tol=1e-9)
    assert other.converged
    assert other.certificate.primal == pytest.approx(reference.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("loss", SMOOTH)
def test_scales_of_the_features_cost_no_steps(loss: str) -> None:
    X, response = random_data(8, rows=200, columns=10, density=1.0)
    y = np.sign(response) if LOSSES[loss].classification else response
    scaled = X.toarray() * np.logspace(-3, 3, 10)
    solution = solve(Problem(scaled, y, loss=loss, penalty="l1", C=10.0, intercept="free"), "prox_newton", tol=1e-6)
    assert solution.converged
    assert solution.n_iter <= 60


def test_warm_start_from_another_C() -> None:
    start = solve(random_problem(9, "logistic", "l1", C=1.0), "prox_newton", tol=1e-6)
    warm = solve(random_problem(9, "logistic", "l1", C=1.1), "prox_newton", tol=1e-6, warm_start=start)
    cold = solve(random_problem(9, "logistic", "l1", C=1.1), "prox_newton", tol=1e-6)
    assert warm.converged
    assert warm.n_iter <= cold.n_iter
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a9a_at_large_C_ends_in_a_few_steps(loss: str) -> None:
    X, y = real_data("a9a")
    problem = Problem(X, y, loss=loss, penalty="l1", C=100.0, intercept="free")
    alone = solve(problem, "prox_newton", tol=1e-6)
    assert alone.converged
    assert alone.n_iter <= 30
    solution = solve(problem, tol=1e-6)
    assert solution.converged
    assert solution.solver == "newglmnet+prox_newton"
    assert solution.n_iter <= 40  # with those of newglmnet before the hand-over
