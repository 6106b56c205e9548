"""No stochastic solver explodes: on features of any scale it ends at a finite point, never worse than w = 0."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from support import random_data, random_problem, real_data
from widemargin import Problem, _core, solve
from widemargin.objective.losses import LOSSES
from widemargin.solvers import Pegasos, Solver, table
from widemargin.solvers.stochastic.best_epoch import SAMPLE
from widemargin.solvers.stochastic.svm_sgd import best_first_rate, usual_rate

STOCHASTIC = [cls() for cls in table().values() if ".stochastic." in cls.__module__]
PAIRS = [(solver, loss) for solver in STOCHASTIC for loss in sorted(solver.losses)]
PAIRS += [(Pegasos(average=False), "hinge"), (Pegasos(subsample=None), "hinge"), (Pegasos(subsample=8), "hinge")]


def wild_problem(seed: int, loss: str, rows: int = 80) -> Problem:
    """Column scales and weights over many decades, heavy tails, constant columns, sparse or dense, any C."""
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(1, 12))
    X = rng.standard_normal((rows, columns)) + rng.choice([0.0, 5.0], columns)
    if rng.random() < 0.4:
        X *= np.abs(rng.standard_cauchy((rows, 1)))
    if rng.random() < 0.3:
        X[:, 0] = 1.0
    response = X @ rng.standard_normal(columns) + rng.standard_normal(rows)
    X *= 10.0 ** rng.uniform(-6, 9, columns)
    y = np.where(response > np.median(response), 1.0, -1.0)
    weights = 10.0 ** rng.uniform(-6, 6, rows) if rng.random() < 0.4 else None
    kind = rng.choice(["dense", "float32", "sparse"])
    data = {"dense": X, "float32": X.astype(np.float32), "sparse": sp.csr_matrix(X * (rng.random(X.shape) < 0.5))}[kind]
    intercept = str(rng.choice(["none", "regularized"]))
    return Problem(data, y, loss, C=10.0 ** rng.uniform(-6, 6), intercept=intercept, sample_weight=weights)


def assert_sane(problem: Problem, solver: Solver, epochs: int, seed: int = 0) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(problem, solver, tol=1e-3, max_iter=epochs, seed=seed)
    at_nothing = problem.loss_sum(np.zeros(problem.X.shape[0]))
    assert np.isfinite(solution.coef).all() and np.isfinite(solution.intercept)
    assert np.isfinite([solution.certificate.primal, solution.certificate.dual]).all()
    assert problem.objective(solution.coef, solution.intercept) <= at_nothing * (1 + 1e-9)


@pytest.mark.parametrize(("solver", "loss"), PAIRS, ids=lambda one: getattr(one, "title", one))
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32), epochs=st.sampled_from([1, 2, 12]))
def test_ends_finite_and_no_higher_than_at_zero(solver, loss, seed, epochs):
    assert_sane(wild_problem(seed, loss), solver, epochs, seed)


@pytest.mark.parametrize(("solver", "loss"), PAIRS, ids=lambda one: getattr(one, "title", one))
def test_rows_that_no_sample_sees_count_in_the_answer(solver, loss):
    """Three rows a million times as long as the others, among more rows than judge an epoch."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((2 * SAMPLE, 4))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0] > 0, 1.0, -1.0)
    X[[7, 99, 4321]] *= 1e6 * y[[7, 99, 4321], None] * -1
    for C in (1e-3, 1e3):
        for epochs in (1, 4):
            assert_sane(Problem(X, y, loss, C=C), solver, epochs)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "modified_huber"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_the_scale_of_the_features_alone_changes_nothing(loss, C, scale):
    """X times a and C over a^2 is the same problem in w / a: so are the first rate and the epochs, to rounding."""
    X, response = random_data(3, rows=200)
    problem = Problem(X, np.sign(response), loss, C=C)
    scaled = Problem(scale * X, np.sign(response), loss, C=C / scale**2)
    plain = solve(problem, "svm_sgd", tol=0, max_iter=3)
    found = solve(scaled, "svm_sgd", tol=0, max_iter=3)
    ratio = found.certificate.primal / scaled.loss_sum(np.zeros(200))
    assert ratio == pytest.approx(plain.certificate.primal / problem.loss_sum(np.zeros(200)), rel=0.2)


def test_a_first_rate_is_judged_on_the_same_rows():
    problem = random_problem(2, "squared_hinge", rows=3000)
    native = _core.Sgd(problem.X.native_rows, problem.loss.native, problem.y, problem.weights, 0.0, "permuted", 0)
    costs = [native.trial(100, 1e3) for _ in range(3)]
    assert costs[0] == costs[1] == costs[2]
    assert native.trial(100, np.inf) == pytest.approx(1.0)  # a rate of zero: the loss at w = 0


def test_a_first_rate_has_the_lowest_cost_up_to_the_bound():
    assert best_first_rate(lambda rate: (np.log2(rate or 2.0**-60) + 7) ** 2, 1.0) == 2.0**-7
    assert best_first_rate(lambda rate: (np.log2(rate or 2.0**-60) - 3) ** 2, 1.0) == 2.0**3
    assert best_first_rate(lambda rate: (np.log2(rate or 2.0**-60) - 3) ** 2, 1.0, most=2.0) == 2.0
    assert best_first_rate(lambda rate: 1.0 + rate, 1.0) < 1e-11  # nothing is learned: as little harm as can be


@pytest.mark.parametrize("name", sorted(name for name, family in LOSSES.items() if family.classification))
def test_the_usual_rate_is_bounded_by_the_curvature(name):
    problem = random_problem(1, name, intercept="regularized")
    q = np.empty(60)
    _core.row_sqnorms(problem.X.native_rows, q)
    z = np.linspace(-5, 5, 2001)
    curvature = max(float(problem.loss.curvature(z, np.ones_like(z)).max()), 0.0) or 1.0
    assert 0.5 < usual_rate(problem) * curvature * float(np.mean(q + 1)) <= 1.0


@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber", "logistic"])
def test_the_squared_hinge_of_a9a_comes_near_its_optimum(loss):
    X, y = real_data("a9a")
    for C in (0.1, 1.0):
        for intercept in ("none", "regularized"):
            problem = Problem(X, y, loss, C=C, intercept=intercept)
            best = solve(problem, tol=1e-4).certificate.primal
            for seed in range(5):
                solution = solve(problem, "svm_sgd", tol=1e-3, max_iter=40, seed=seed)
                assert solution.certificate.primal <= 1.1 * best
