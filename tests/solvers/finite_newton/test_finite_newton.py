"""Finite Newton: optimality of every declared combination, its finite end, the exact line search, its starts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from support import random_data, random_problem, real_data
from widemargin import Problem, kkt_violation, solve
from widemargin.objective.losses import LOSSES, make_loss
from widemargin.solvers import FiniteNewton
from widemargin.solvers.finite_newton.binary_model import BinaryModel
from widemargin.solvers.finite_newton.cgls import CGLS, Stop
from widemargin.solvers.finite_newton.line_search import exact_step
from widemargin.solvers.finite_newton.ramps import ramp_of, rounded_step
from widemargin.solvers.finite_newton.rescaled_start import rescaled_start

LOSS_NAMES = sorted(FiniteNewton.losses)
INTERCEPTS = sorted(FiniteNewton.intercepts)
TOL = {"hinge": 1e-8}
CONVERT = {
    "sparse": lambda X: X,
    "sparse32": lambda X: X.astype(np.float32),
    "dense": lambda X: X.toarray(),
    "dense32": lambda X: X.toarray().astype(np.float32),
    "uniform": lambda X: sp.csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape),
}


def tol_of(loss: str) -> float:
    return TOL.get(loss, 1e-8)


@pytest.mark.parametrize(("loss", "intercept", "C"), list(product(LOSS_NAMES, INTERCEPTS, [0.01, 1.0, 100.0])))
def test_every_declared_combination_is_solved(loss: str, intercept: str, C: float) -> None:
    problem = random_problem(3, loss, intercept=intercept, C=C, rows=80)
    solution = solve(problem, "finite_newton", tol=tol_of(loss))
    assert solution.converged
    exact = problem.certificate(solution.coef, solution.intercept, solution.dual)
    assert exact.relative_gap <= tol_of(loss)


@pytest.mark.parametrize(("storage", "loss"), list(product(CONVERT, LOSS_NAMES)))
def test_every_storage_with_weights_that_may_be_zero(storage: str, loss: str) -> None:
    weights = np.random.default_rng(0).integers(0, 4, size=60).astype(float)
    settings_ = {"sample_weight": weights, "intercept": "free", "convert": CONVERT[storage]}
    problem = random_problem(5, loss, **settings_)
    solution = solve(problem, "finite_newton", tol=tol_of(loss))
    assert solution.converged
    assert problem.certificate(solution.coef, solution.intercept, solution.dual).relative_gap <= tol_of(loss)


@pytest.mark.parametrize(("loss", "intercept"), list(product(LOSS_NAMES, INTERCEPTS)))
def test_weights_are_repetitions(loss: str, intercept: str) -> None:
    X, response = random_data(8)
    y = np.sign(response) if LOSSES[loss].classification else response
    weights = np.random.default_rng(1).integers(0, 3, size=len(y))
    weighted = Problem(X, y, loss=loss, intercept=intercept, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = Problem(X[rows], y[rows], loss=loss, intercept=intercept)
    tol = 1e-12 if loss != "hinge" else 1e-6
    a, b = solve(weighted, "finite_newton", tol=tol), solve(repeated, "finite_newton", tol=tol)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=max(1e-11, tol))
    np.testing.assert_allclose(a.coef, b.coef, atol=5e-6 if loss != "hinge" else 5e-3)


@pytest.mark.parametrize(("loss", "intercept"), list(product(LOSS_NAMES, ["none", "regularized"])))
def test_agrees_with_dual_coordinate_descent(loss: str, intercept: str) -> None:
    problem = random_problem(1, loss, intercept=intercept, rows=100)
    newton = solve(problem, "finite_newton", tol=tol_of(loss))
    dual = solve(problem, "dual_cd", tol=1e-9)
    assert dual.converged
    assert newton.certificate.primal == pytest.approx(dual.certificate.primal, rel=tol_of(loss) + 1e-9)


def test_agrees_with_liblinear() -> None:
    liblinear = pytest.importorskip("liblinear.liblinearutil")
    X, response = random_data(2, rows=150, columns=20)
    y = np.where(response > 0, 1.0, -1.0)
    data = liblinear.problem(y, sp.csr_matrix(X), bias=1)
    model = liblinear.train(data, liblinear.parameter("-s 2 -c 0.7 -e 1e-12 -B 1 -q"))
    flip = 1.0 if model.get_labels()[0] == 1 else -1.0
    weights, bias = flip * np.array(model.get_decfun()[0]), flip * model.get_decfun()[1]
    problem = Problem(X, y, C=0.7, intercept="regularized")
    ours = solve(problem, "finite_newton", tol=1e-12)
    theirs = problem.objective(weights, bias)
    assert ours.certificate.primal == pytest.approx(theirs, rel=1e-8)
    np.testing.assert_allclose(ours.coef, weights, atol=1e-5)


# The finite end.


@pytest.mark.parametrize(("loss", "intercept"), list(product(["squared_hinge", "modified_huber"], INTERCEPTS)))
def test_ends_in_few_steps_on_the_minimum_of_its_active_set(loss: str, intercept: str) -> None:
    """Theorem 1: once the right sets are found, their least squares solution is the minimum: no row changes sides."""
    problem = random_problem(4, loss, intercept=intercept, rows=300, columns=15, C=2.0)
    solution = solve(problem, "finite_newton", tol=1e-14)
    assert solution.converged
    assert solution.n_iter < 50
    model = BinaryModel.of(problem)
    at = model.at(model.beta(solution.coef, solution.intercept))
    A = np.asarray(model.sign[:, None] * problem_rows(problem))
    if intercept != "none":
        A = np.column_stack([A, model.sign])
    k = 2.0 * problem.weights
    linear = (at.residuals >= model.ramp.hi).astype(float)
    reg = np.ones(A.shape[1])
    reg[problem.X.shape[1] :] = model.extra_reg
    H = A.T @ ((k * at.active)[:, None] * A) + np.diag(reg)
    rhs = A.T @ (k * at.active) + 2 * A.T @ (k * linear)
    minimum = np.linalg.solve(H, rhs)
    np.testing.assert_allclose(at.beta, minimum, atol=1e-7)
    after = model.at(minimum)
    np.testing.assert_array_equal(after.active, at.active)


def problem_rows(problem: Problem) -> np.ndarray:
    rows, columns = problem.X.shape
    return np.stack([problem.X.matvec(e) for e in np.eye(columns)], axis=1).reshape(rows, columns)


def test_active_set_of_the_last_steps_is_unchanged() -> None:
    problem = random_problem(4, "squared_hinge", rows=300, columns=15)
    trace = solve(problem, "finite_newton", tol=1e-14).trace
    assert trace[-1].n_active == trace[-2].n_active


def test_least_squares_takes_one_step() -> None:
    for intercept in INTERCEPTS:
        problem = random_problem(6, "squared", intercept=intercept)
        assert solve(problem, "finite_newton", tol=1e-9).n_iter == 1


def test_every_newton_step_decreases_the_objective() -> None:
    problem = random_problem(7, "squared_hinge", rows=400, columns=30, C=50.0)
    objective = [row.objective for row in solve(problem, "finite_newton", tol=1e-12).trace]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(objective))


# Conjugate gradients and the line search.


def test_conjugate_gradients_solve_the_newton_system_and_keep_count_of_the_residual() -> None:
    problem = random_problem(9, "modified_huber", intercept="regularized", rows=50)
    model = BinaryModel.of(problem)
    at = model.at(np.random.default_rng(0).standard_normal(problem.X.shape[1] + 1))
    for precondition in (False, True):
        system = model.newton_system(at, precondition)
        cg = CGLS(system)
        assert list(cg.steps(Stop(eps=0.0, floor=1e-24), 200))
        left = system.product(cg.direction) + cg.direction - system.r
        assert np.linalg.norm(left) < 1e-9
    crude = CGLS(system)
    for _ in crude.steps(Stop(eps=1e-2), 200):
        pass
    curvature = np.where(at.active, 2 * problem.weights, 0.0)
    z = at.residuals + model.residual_change(model.scores(crude.direction[:-1]), crude.direction[-1:])
    r = system.r - system.product(crude.direction) - crude.direction
    assert crude.optimal
    assert np.linalg.norm(r) <= 1e-2 * np.sqrt(np.sum(curvature * z * z)) * (1 + 1e-6)


RAMPS = [
    *(ramp_of(LOSSES[name].usual) for name in LOSS_NAMES),
    rounded_step(make_loss("hinge"), 0.25),
    rounded_step(make_loss("quantile", q=0.9), 0.25),
]
FLOATS = st.floats(-3, 3, allow_nan=False, width=32)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(arrays(float, n, elements=FLOATS), arrays(float, n, elements=FLOATS))
    ),
    st.sampled_from(RAMPS),
    st.floats(-5, 5, width=32),
    st.floats(0.0625, 5, width=32),
)
def test_line_search_equals_brute_force(ray: tuple, ramp: object, slope: float, curvature: float) -> None:
    residuals, change = ray
    weights = 1.0 + np.arange(len(residuals)) % 3

    def value(delta: np.ndarray) -> np.ndarray:
        r = residuals + np.asarray(delta)[..., None] * change
        return slope * delta + 0.5 * curvature * delta**2 + np.sum(weights * ramp.value(r, ramp.position(r)), axis=-1)

    found = exact_step(ramp, residuals, change, weights, slope, curvature)
    lo, hi = 0.0, 1e4
    for _ in range(100):  # bisection on the convex function's slope, by thirds
        a, b = lo + (hi - lo) / 3, hi - (hi - lo) / 3
        lo, hi = (lo, b) if value(np.array(a)) <= value(np.array(b)) else (a, hi)
    best = min(float(value(np.array(lo))), float(value(np.array(0.0))))
    assert float(value(np.array(found))) <= best + 1e-9 * (1 + abs(best))


def test_line_search_reports_a_function_that_falls_for_ever() -> None:
    one = np.ones(1)
    assert exact_step(ramp_of(make_loss("modified_huber")), 5 * one, one, one, slope=-100.0) == np.inf
    assert exact_step(ramp_of(make_loss("squared_hinge")), -one, -one, one) == 0.0


def test_line_search_refuses_lengths_that_differ() -> None:
    with pytest.raises(ValueError, match="length"):
        exact_step(ramp_of(make_loss("squared")), np.ones(3), np.ones(2), np.ones(3))


# Starts and heuristics change the way, not the result.

VARIANTS = [
    FiniteNewton(first_cg_limit=0, two_rounds=False),
    FiniteNewton(first_cg_limit=0),
    FiniteNewton(two_rounds=False),
    FiniteNewton(subset=0.3),
    FiniteNewton(precondition=False),
    FiniteNewton(precondition=False, crude_forcing=0.0),
    FiniteNewton(guess=np.arange(12.0) - 5),
    FiniteNewton(guess=np.zeros(12)),
]


@pytest.mark.parametrize(("variant", "loss"), list(product(range(len(VARIANTS)), LOSS_NAMES)))
def test_heuristics_and_starts_lead_to_the_same_minimum(variant: int, loss: str) -> None:
    problem = random_problem(11, loss, intercept="free", rows=200)
    reference = solve(problem, "finite_newton", tol=tol_of(loss))
    other = solve(problem, VARIANTS[variant], tol=tol_of(loss))
    assert other.converged
    assert other.certificate.primal == pytest.approx(reference.certificate.primal, rel=2 * tol_of(loss))


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_seeding_along_C_gives_the_same_minima(loss: str) -> None:
    before = None
    for C in 2.0 ** np.arange(-3, 4):
        problem = random_problem(12, loss, intercept="regularized", C=C)
        before = solve(problem, "finite_newton", tol=tol_of(loss), warm_start=before)
        cold = solve(problem, "finite_newton", tol=tol_of(loss))
        assert before.converged
        assert before.certificate.primal == pytest.approx(cold.certificate.primal, rel=2 * tol_of(loss))


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_rescaled_start_minimises_formula_8(intercept: str) -> None:
    problem = random_problem(13, "squared_hinge", intercept=intercept, intercept_scaling=2.0, C=0.5)
    guess = np.random.default_rng(2).standard_normal(12)
    found = rescaled_start(problem, guess, rounds=1)
    s = problem.X.matvec(guess)
    reg = {"none": 0.0, "free": 0.0, "regularized": 0.25}[intercept]

    def cost(gamma: float, b: float) -> float:
        fit = problem.weights * (gamma * s + b - problem.y) ** 2
        return 0.5 * (gamma**2 * guess @ guess + reg * b**2) + fit.sum()

    gamma = float(found.w @ guess / (guess @ guess))
    at = cost(gamma, found.intercept)
    assert intercept != "none" or found.intercept == 0
    moves = [(1e-4, 0.0), (-1e-4, 0.0)] + ([(0.0, 1e-4), (0.0, -1e-4)] if intercept != "none" else [])
    assert all(cost(gamma + dg, found.intercept + db) > at for dg, db in moves)
    assert rescaled_start(problem, guess).w @ guess == pytest.approx(
        rescaled_start(problem, 7 * guess).w @ guess, rel=0.05
    )


def test_a_guess_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="12 features"):
        solve(random_problem(0, "squared_hinge"), FiniteNewton(guess=np.ones(3)))


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="share"):
        FiniteNewton(subset=2)
    with pytest.raises(ValueError, match="first_cg_limit"):
        FiniteNewton(first_cg_limit=-1)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_results_do_not_depend_on_the_number_of_threads(loss: str) -> None:
    problem = random_problem(14, loss, intercept="free", rows=3000)
    one, two = (solve(problem, FiniteNewton(subset=0.2), tol=1e-6, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.coef, two.coef)
    assert one.intercept == two.intercept


def test_logistic_is_refused_with_advice() -> None:
    with pytest.raises(ValueError, match="does not solve"):
        solve(random_problem(0, "logistic"), "finite_newton")


# Section 4.7.


@pytest.mark.parametrize(("loss", "intercept"), list(product(LOSS_NAMES, INTERCEPTS)))
def test_kkt_violation_vanishes_at_the_optimum_and_not_elsewhere(loss: str, intercept: str) -> None:
    problem = random_problem(15, loss, intercept=intercept)
    solution = solve(problem, "finite_newton", tol=1e-13 if loss != "hinge" else 1e-7)
    at_optimum = kkt_violation(problem, solution.coef, solution.intercept, solution.dual)
    assert at_optimum < (1e-5 if loss != "hinge" else 1e-2)
    assert kkt_violation(problem, np.ones(12)) > 0.1


def test_kkt_violation_is_the_papers_for_the_squared_hinge() -> None:
    problem = random_problem(16, "squared_hinge", intercept="regularized", C=0.5)  # C_paper = 2 C = 1, lambda = 1
    w, b = np.full(12, 0.1), 0.2
    t, X = problem.y, problem_rows(problem)
    d = X @ w + b - t
    alpha = np.where(t * (X @ w + b) < 1, -t * d, 0.0)
    beta, beta_0 = X.T @ (alpha * t), float(alpha @ t)
    g = t * (X @ beta + beta_0) + alpha - 1
    expected = max(np.abs(g[alpha > 0]).max(), np.maximum(0, -g[alpha == 0]).max(initial=0.0))
    assert kkt_violation(problem, w, b) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", [name for name in LOSSES if LOSSES[name].usual.piecewise])
def test_kkt_violation_is_defined_for_every_loss_made_of_pieces(loss: str) -> None:
    problem = random_problem(17, loss, intercept="free", C=0.5)
    solution = solve(problem, "dual_cd", tol=1e-10)
    assert kkt_violation(problem, solution.coef, solution.intercept, solution.dual) < 1e-3
    off = solution.dual * np.where(np.arange(60) % 2, 0.5, 0.9)
    assert kkt_violation(problem, solution.coef, solution.intercept, off) > 0.1


def test_kkt_violation_refuses_what_it_is_not_defined_for() -> None:
    with pytest.raises(ValueError, match="logistic"):
        kkt_violation(random_problem(0, "logistic"), np.zeros(12))


# Real data.


@pytest.mark.parametrize(("name", "C_paper", "sv_fraction"), [("a9a", 1.0, 0.605), ("w8a", 1.0, 0.219)])
def test_share_of_support_vectors_is_that_of_table_3(name: str, C_paper: float, sv_fraction: float) -> None:
    X, y = real_data(name)
    solution = solve(Problem(X, y, C=C_paper / 2, intercept="regularized"), "finite_newton", tol=1e-8)
    assert solution.converged
    assert np.count_nonzero(solution.dual) / len(y) == pytest.approx(sv_fraction, abs=2e-3)


@pytest.mark.parametrize(("name", "log2_C", "error"), [("a9a", -3.0, 15.21), ("w8a", 1.0, 1.33)])
def test_cross_validation_error_is_that_of_tables_4_and_5(name: str, log2_C: float, error: float) -> None:
    X, y = real_data(name)
    fold = np.random.default_rng(0).permutation(len(y)) % 10
    wrong, before = 0, None
    for k in range(10):
        held, rest = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        problem = Problem(X[rest], y[rest], C=0.5 * 2.0**log2_C, intercept="regularized")
        before = solve(problem, "finite_newton", tol=1e-4, warm_start=before)
        assert before.converged
        wrong += np.count_nonzero(np.sign(X[held] @ before.coef + before.intercept) != np.sign(y[held]))
    assert 100 * wrong / len(y) == pytest.approx(error, abs=0.1)


def test_heuristics_save_cg_iterations_on_real_data() -> None:
    """Table 3: each heuristic saves, both together save most."""
    X, y = real_data("a9a")
    problem = Problem(X, y, C=0.5, intercept="regularized")
    paper = FiniteNewton(precondition=False, crude_forcing=0.0)
    variants = {
        "none": replace(paper, first_cg_limit=0, two_rounds=False),
        "first": replace(paper, two_rounds=False),
        "second": replace(paper, first_cg_limit=0),
        "both": paper,
    }
    passes = {name: solve(problem, solver, tol=1e-8).trace[-1].passes for name, solver in variants.items()}
    assert passes["first"] < 0.9 * passes["none"]
    assert passes["second"] < 0.9 * passes["none"]
    assert passes["both"] < min(passes["first"], passes["second"])
    assert passes["both"] < 0.8 * passes["none"]


def test_seeding_along_the_papers_path_costs_less_than_a_third() -> None:
    """Table 1: 21 values of C, sqrt(2)^k for k = -10 .. 10; their C is twice ours."""
    X, y = real_data("a9a")
    data = Problem(X, y, intercept="regularized")
    apart = along = 0.0
    before = None
    for C in 0.5 * np.sqrt(2.0) ** np.arange(-10, 11):
        problem = data.with_C(C)
        before = solve(problem, "finite_newton", tol=1e-3, warm_start=before)
        assert before.converged
        along += before.trace[-1].passes
        apart += solve(problem, "finite_newton", tol=1e-3).trace[-1].passes
    assert along < apart / 3


def test_steps_on_the_subset_count():
    """The trace goes on where the round on the subset ended."""
    problem = random_problem(3, "squared_hinge", rows=300, columns=20, C=5.0)
    rows = solve(problem, FiniteNewton(subset=0.3), tol=1e-9).trace
    for before, after in pairwise(rows):
        assert before.iteration < after.iteration or (before.iteration == after.iteration and after.certified)
        assert before.passes <= after.passes
