"""Dual coordinate descent: every loss, intercept, storage and setting reaches the optimum it proves."""

import numpy as np
import pytest
import scipy.sparse as sp

from support import random_data, random_problem
from widemargin import Problem, Status, _core, solve
from widemargin.objective.losses import LOSSES
from widemargin.solvers import DualCD
from widemargin.solvers.base import Run
from widemargin.solvers.dual import dual_cd, row_layout
from widemargin.solvers.dual import state as dual_state

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
    optimum = solve(random_problem(1, loss, "l2", intercept), "dual_cd", tol=1e-8).certificate
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
        assert_optimal(solve(problem, "dual_cd", tol=1e-4), problem, 1e-4)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_weights_count_as_repetitions(loss, intercept):
    X, response = random_data(4)
    y = np.sign(response) if LOSSES[loss].classification else response
    counts = np.random.default_rng(4).integers(0, 3, len(y))
    counts[:2] = 1
    rows = np.repeat(np.arange(len(y)), counts)
    setting = {"loss": loss, "intercept": intercept}
    weighted = solve(Problem(X, y, sample_weight=counts, **setting), "dual_cd", tol=1e-7)
    repeated = solve(Problem(X[rows], y[rows], **setting), "dual_cd", tol=1e-7)
    assert weighted.converged and repeated.converged
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=3e-7)
    assert (weighted.dual[counts == 0] == 0).all()


@pytest.mark.parametrize("C", [1e-4, 1e2])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_any_C(loss, C):
    problem = random_problem(5, loss, rows=60, columns=6, C=C, intercept="free")
    assert_optimal(solve(problem, "dual_cd", tol=1e-5), problem, 1e-5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_rows_without_entries_and_a_matrix_of_zeros(loss, intercept):
    """Such a row knows the intercept alone."""
    y = np.array([1.0, -1.0, 1.0, 1.0])
    for X in (np.zeros((4, 2)), np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [3.0, -1.0]])):
        problem = Problem(sp.csr_array(X), y, loss=loss, intercept=intercept)
        assert_optimal(solve(problem, "dual_cd", tol=1e-6), problem, 1e-6)


def test_coefficients_come_from_the_dual():
    problem = random_problem(6, "hinge")
    solution = solve(problem, "dual_cd", tol=1e-9)
    np.testing.assert_allclose(problem.X.rmatvec(solution.dual), solution.coef, atol=1e-4)
    assert ((solution.dual * problem.y >= 0) & (solution.dual * problem.y <= problem.weights)).all()


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_private_features_fold_into_one_number(uniform, dtype):
    """Columns: 0 empty, 1 of two rows, 2 and 4 of row 1 alone, 3 of all rows."""
    X = np.array([[0, 2, 0, 1, 0], [0, 3, 5, 4, 7], [0, 0, 0, 6, 0], [0, 0, 0, 8, 0]], dtype=dtype)
    if uniform:
        X = (X != 0).astype(dtype)
    matrix = Problem(sp.csr_array(X), [1, -1, 1, 1]).X
    rows, private_part = matrix.compact_rows
    assert rows.n_cols == 2
    np.testing.assert_array_equal(private_part, (X[:, [2, 4]].astype(float) ** 2).sum(axis=1))
    product = np.empty(4)
    _core.matvec(rows, np.array([10.0, 1.0]), 0.0, product)  # the most frequent column comes first
    np.testing.assert_allclose(product, X[:, [3, 1]] @ [10.0, 1.0])


def test_dense_rows_are_not_compacted():
    with pytest.raises(ValueError, match="nothing to compact"):
        _core.compact(Problem(np.eye(2), [1, -1]).X.native_rows)


@pytest.mark.parametrize("storage", ["csr", "csr32", "binary"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_compact_rows_have_the_same_optimum(loss, intercept, storage, monkeypatch):
    """Half the columns have one entry, some none."""

    def private(X):
        wide = sp.hstack([X, sp.eye_array(X.shape[0]), sp.csr_array((X.shape[0], 3))], format="csr")
        return {"csr": wide, "csr32": wide.astype(np.float32), "binary": (wide != 0).astype(float)}[storage]

    monkeypatch.setattr(dual_cd, "SHORT_RUN", 1)
    problem = random_problem(8, loss, "l2", intercept, convert=private, C=10.0)
    plain = solve(problem, "dual_cd", tol=1e-8)
    monkeypatch.setattr(row_layout, "WIDE", 1)
    moved = []
    lasting = dual_state.lasting_layout
    monkeypatch.setattr(dual_state, "lasting_layout", lambda X, present: moved.append(1) or lasting(X, present))
    folded = solve(problem, "dual_cd", tol=1e-8)
    assert moved
    assert_optimal(folded, problem, 1e-8)
    assert folded.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-8)


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


def test_blocks_of_neighbours_only_where_neighbours_differ(monkeypatch):
    """Files sorted by their labels are visited row by row."""
    rng = np.random.default_rng(0)
    X, y = sp.random_array((2000, 50), density=0.1, rng=rng, format="csr"), np.where(rng.random(2000) < 0.3, 1.0, -1.0)
    assert row_layout.first_layout(Problem(X, y)).block == 1  # it fits the cache
    monkeypatch.setattr(row_layout, "INNER_CACHE", 0)
    assert row_layout.first_layout(Problem(X, y)).block == row_layout.BLOCK
    assert row_layout.first_layout(Problem(X, np.sort(y))).block == 1
    targets = rng.standard_normal(2000)
    assert row_layout.first_layout(Problem(X, targets, loss="squared")).block == row_layout.BLOCK
    assert row_layout.first_layout(Problem(X, np.sort(targets), loss="squared")).block == 1


def test_a_long_run_goes_on_where_it_stood(monkeypatch):
    """The move to compact rows keeps the dual point, the learnt order and the value of the dual."""
    monkeypatch.setattr(row_layout, "WIDE", 1)
    problem = random_problem(
        9, "hinge", rows=200, columns=40, C=100.0, convert=lambda X: sp.csr_array(X.toarray().round(1))
    )
    run = Run(tol=1e-12, seed=0, max_iter=100, every_step=False, start=None, seconds_left=lambda: 100.0)
    state = dual_state.DualState(problem, run, "adaptive", True)
    report = state.run_passes(1.0, 5)
    before = state.point()
    state.prepare_for_long_run()
    after = state.point()
    np.testing.assert_array_equal(after.dual, before.dual)
    np.testing.assert_allclose(after.w, before.w, atol=1e-12)
    assert state.run_passes(1.0, 1).dual >= report.dual
