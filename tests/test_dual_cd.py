"""Dual coordinate descent: every loss, intercept, storage and setting reaches the optimum it proves."""

import numpy as np
import pytest
import scipy.sparse as sp

from support import random_data, random_problem
from widemargin import DualCD, Problem, Status, solve
from widemargin.objective.losses import LOSSES
from widemargin.solvers.base import Run

LOSS_NAMES = sorted(DualCD.losses)
INTERCEPTS = ("none", "regularized", "free")
ORDERS = ("auto", "permuted", "cyclic", "permuted_once", "random", "adaptive")

STORAGES = {
    "csr": lambda X: X,
    "csc": sp.csc_array,
    "dense": lambda X: X.toarray(),
    "csr32": lambda X: X.astype(np.float32),
    "dense32": lambda X: X.toarray().astype(np.float32),
}


def assert_optimal(solution, problem, tol):
    assert solution.status is Status.CONVERGED
    assert problem.certificate(solution.coef, solution.intercept, solution.dual).relative_gap <= tol


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_every_storage_reaches_the_same_optimum(loss, intercept):
    optimum = solve(random_problem(1, loss, "l2", intercept), tol=1e-8).certificate
    for name, convert in STORAGES.items():
        problem = random_problem(1, loss, "l2", intercept, convert=convert)
        solution = solve(problem, solver="dual_cd", tol=1e-6)
        assert_optimal(solution, problem, 1e-6)
        rounded = 1e-5 if name.endswith("32") else 2e-6  # float32 holds slightly other data
        assert solution.certificate.primal == pytest.approx(optimum.primal, rel=rounded)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_every_order_with_and_without_shrinking(loss, intercept, order):
    values = []
    for shrinking in (True, False):
        problem = random_problem(2, loss, "l2", intercept, rows=40, columns=6)
        solution = solve(problem, DualCD(order=order, shrinking=shrinking), tol=1e-6)
        assert_optimal(solution, problem, 1e-6)
        values.append(solution.certificate.primal)
    assert values[0] == pytest.approx(values[1], rel=2e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_float32_weights_meet_a_loose_tolerance(loss, intercept):
    """tol is loose enough for a float32 w; the certificate is exact all the same."""
    for convert in (STORAGES["csr32"], STORAGES["dense32"], lambda X: (X != 0).astype(np.float32)):
        problem = random_problem(3, loss, "l2", intercept, convert=convert)
        assert_optimal(solve(problem, tol=1e-4), problem, 1e-4)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_weights_count_as_repetitions(loss, intercept):
    X, response = random_data(4)
    y = np.sign(response) if LOSSES[loss].classification else response
    counts = np.random.default_rng(4).integers(0, 3, len(y))
    counts[:2] = 1
    rows = np.repeat(np.arange(len(y)), counts)
    setting = {"loss": loss, "intercept": intercept}
    weighted = solve(Problem(X, y, sample_weight=counts, **setting), tol=1e-7)
    repeated = solve(Problem(X[rows], y[rows], **setting), tol=1e-7)
    assert weighted.converged and repeated.converged
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=3e-7)
    assert (weighted.dual[counts == 0] == 0).all()


@pytest.mark.parametrize("C", [1e-4, 1e2])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_any_C(loss, C):
    problem = random_problem(5, loss, rows=60, columns=6, C=C, intercept="free")
    assert_optimal(solve(problem, tol=1e-5), problem, 1e-5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_rows_without_entries_and_a_matrix_of_zeros(loss, intercept):
    """Such a row knows the intercept alone."""
    y = np.array([1.0, -1.0, 1.0, 1.0])
    for X in (np.zeros((4, 2)), np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [3.0, -1.0]])):
        problem = Problem(sp.csr_array(X), y, loss=loss, intercept=intercept)
        assert_optimal(solve(problem, tol=1e-6), problem, 1e-6)


def test_coefficients_come_from_the_dual():
    problem = random_problem(6, "hinge")
    solution = solve(problem, tol=1e-9)
    np.testing.assert_allclose(problem.X.rmatvec(solution.dual), solution.coef, atol=1e-4)
    assert ((solution.dual * problem.y >= 0) & (solution.dual * problem.y <= problem.weights)).all()


@pytest.mark.parametrize("solver", ["dual_cd", "auto"])
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_the_clock_decides_nothing(monkeypatch, solver, intercept):
    """Native calls cut short by the clock give the same result, bit for bit."""
    problem = random_problem(11, "hinge", intercept=intercept, rows=300, columns=20, C=10.0)
    whole = solve(problem, solver, tol=1e-5)
    monkeypatch.setattr(Run, "slice", lambda self: 0.0)
    cut = solve(problem, solver, tol=1e-5)
    assert len(cut.trace) >= len(whole.trace)
    assert (cut.n_iter, cut.solver) == (whole.n_iter, whole.solver)
    np.testing.assert_array_equal(cut.coef, whole.coef)
