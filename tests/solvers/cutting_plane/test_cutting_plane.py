"""Cutting planes: agreement with dual coordinate descent, the line search against brute force, the reduced problem."""

from __future__ import annotations

import math
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from support import random_problem, real_data
from widemargin import Problem, _core, solve
from widemargin.data.matrix import Matrix
from widemargin.solvers import Ocas, SvmPerf
from widemargin.solvers.base import Point, Run
from widemargin.solvers.cutting_plane.simplex_qp import solve_simplex_qp
from widemargin.solvers.registry import solver_class

SOLVERS = ("svm_perf", "ocas")


@pytest.mark.parametrize("columns", [12, 150], ids=["kept_by_weights", "kept_by_predictions"])
@pytest.mark.parametrize("intercept", ["none", "regularized"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_dual_coordinate_descent(solver, intercept, columns, seed):
    weights = np.random.default_rng(seed).integers(0, 4, 60)
    problem = random_problem(
        seed, "hinge", intercept=intercept, columns=columns, C=1.5, intercept_scaling=2.0, sample_weight=weights
    )
    best = solve(problem, "dual_cd", tol=1e-9).certificate.primal
    for tol in (1e-4, 1e-7):
        solution = solve(problem, solver, tol=tol)
        assert solution.converged
        assert abs(solution.certificate.primal - best) <= tol * best


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_reduced_problem_bounds_from_below_and_its_value_is_the_dual_value(solver):
    problem = random_problem(2, "hinge", C=3.0, intercept="regularized")
    best = solve(problem, "dual_cd", tol=1e-9).certificate
    duals: list[float] = []
    solution = solve(problem, solver, tol=1e-6, callback=lambda row: duals.append(row.dual))
    assert all(later >= earlier - 1e-9 * best.primal for earlier, later in pairwise(duals))
    assert all(dual <= best.primal * (1 + 1e-9) for dual in duals)
    # The last row is the exact certificate of the same point: by formula and by the data, the same number.
    assert solution.trace[-1].certified
    assert solution.trace[-1].dual == pytest.approx(problem.dual_value(solution.dual), rel=1e-9)


def test_ocas_never_gets_worse():
    problem = random_problem(3, "hinge", C=3.0)
    objectives: list[float] = []
    solve(problem, "ocas", tol=1e-6, callback=lambda row: objectives.append(row.objective))
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(objectives))


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), spread=st.sampled_from([0.1, 1.0, 10.0]))
def test_line_search_finds_the_minimum(seed, spread):
    rng = np.random.default_rng(seed)
    n, d = 30, 5
    X, w, towards = rng.standard_normal((n, d)), rng.standard_normal(d), spread * rng.standard_normal(d)
    y, C = rng.choice([-1.0, 1.0], n), rng.uniform(0, 2, n)
    z, e = X @ w, X @ towards

    def objective(k: float) -> float:
        at = w + k * towards
        return 0.5 * at @ at + C @ np.maximum(0, 1 - y * (z + k * e))

    k = _core.hinge_line_search(z, e, y, C, float(w @ towards), float(towards @ towards))
    best = minimize_scalar(objective, bounds=(0, 100 / spread), method="bounded", options={"xatol": 1e-10})
    assert k >= 0
    assert objective(k) <= min(best.fun, objective(0.0)) + 1e-9 * abs(best.fun)


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), rank=st.integers(1, 8))
def test_simplex_qp_meets_its_optimality_conditions(seed, rank):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((8, rank))
    G, b = A @ A.T, rng.standard_normal(8)
    beta = solve_simplex_qp(G, b, np.zeros(8), 1e-9)
    assert beta.min() >= 0 and beta.sum() <= 1 + 1e-12
    gradient = b - G @ beta
    # Frank-Wolfe gap: the best vertex (or zero) gains nothing.
    assert max(gradient.max(), 0.0) - gradient @ beta <= 1e-7


def test_forgetting_idle_cuts_bounds_their_number():
    problem = random_problem(4, "hinge", C=10.0)
    rows = [solve(problem, SvmPerf(patience=p), tol=1e-5).trace[-1].n_active for p in (2, 1000)]
    assert rows[0] < rows[1]


@pytest.mark.parametrize("solver", SOLVERS)
def test_warm_start_and_storage(solver):
    problem = random_problem(5, "hinge", C=1.0, columns=30)
    solution = solve(problem, solver, tol=1e-5)
    again = solve(problem, solver, tol=1e-4, warm_start=solution)
    assert again.converged and again.n_iter <= solution.n_iter
    dense = random_problem(5, "hinge", C=1.0, columns=30, convert=lambda X: X.toarray())
    assert solve(dense, solver, tol=1e-5).certificate.primal == pytest.approx(solution.certificate.primal, rel=1e-5)


def test_on_real_data():
    X, y = real_data("a9a")
    problem = Problem(X, y, loss="hinge", C=1.0)
    best = solve(problem, "dual_cd", tol=1e-5).certificate.primal
    solution = solve(problem, Ocas(), tol=1e-4)
    assert solution.converged
    assert abs(solution.certificate.primal - best) <= 1e-4 * best


@pytest.mark.parametrize("columns", [12, 150], ids=["kept_by_weights", "kept_by_predictions"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_passes_are_the_products_with_the_data(solver, columns, monkeypatch):
    """Seen from within, before the driver verifies: two products per step, and two for a warm start."""
    problem = random_problem(1, "hinge", columns=columns)
    warm = solve(problem, "dual_cd", tol=1e-1)
    products = []
    for name in ("matvec", "rmatvec"):
        plain = getattr(Matrix, name)
        monkeypatch.setattr(
            Matrix, name, lambda self, *a, _plain=plain, **k: (products.append(1), _plain(self, *a, **k))[1]
        )
    for start in (None, Point(warm.coef, 0.0, warm.dual)):
        products.clear()
        run = Run(1e-9, 0, math.inf, True, start, lambda: math.inf)
        for step in islice(solver_class(solver)().iterate(problem, run), 5):
            assert step.passes == len(products)
