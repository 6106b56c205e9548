"""Primal coordinate descent and CMLS: optimal on everything they declare, and as the papers describe them."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from liblinear.liblinearutil import parameter, train
from liblinear.liblinearutil import problem as liblinear_problem

from support import random_data, random_problem, real_data
from widemargin import Problem, Status, _core, solve
from widemargin.objective.losses import make_loss
from widemargin.objective.penalties import PENALTIES
from widemargin.objective.problem import INTERCEPTS
from widemargin.solvers import CMLS, DualCD, PrimalCD

CASES = list(product(sorted(PrimalCD.losses), PENALTIES, INTERCEPTS))
ORDERS = ("cyclic", "permuted", "permuted_once", "random", "adaptive")
STORAGES = {
    "csr": lambda X: X,
    "csr32": lambda X: X.astype(np.float32),
    "dense": lambda X: X.toarray(),
    "dense32": lambda X: X.toarray().astype(np.float32),
    "binary": lambda X: (abs(X) > 0.5).astype(np.float64),
    "binary_scaled": lambda X: sp.csr_array(sp.diags_array(np.arange(1, 61) / 30.0) @ (abs(X) > 0.5).astype(float)),
}


@settings(derandomize=True, deadline=None, max_examples=120)
@given(
    case=st.sampled_from(CASES),
    storage=st.sampled_from(sorted(STORAGES)),
    order=st.sampled_from(ORDERS),
    seed=st.integers(0, 10**6),
    C=st.sampled_from([1e-3, 0.1, 1.0, 5.0]),
    weighted=st.booleans(),
)
def test_drawn_problems_reach_a_small_gap(case, storage, order, seed, C, weighted):
    weight = np.random.default_rng(seed).integers(0, 3, 60) + (np.arange(60) < 2) if weighted else None
    problem = random_problem(seed, *case, C=C, convert=STORAGES[storage], sample_weight=weight)
    solution = solve(problem, PrimalCD(order=order), tol=1e-6, max_iter=100_000)
    assert solution.status is Status.CONVERGED, solution.certificate
    exact = problem.certificate(solution.coef, solution.intercept, solution.dual)
    assert exact.relative_gap <= 1e-6 * (1 + 1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("order", ["cyclic", "permuted", "permuted_once", "random"])
@pytest.mark.parametrize("storage", sorted(STORAGES))
def test_cmls_reaches_a_small_gap(intercept, order, storage):
    problem = random_problem(4, "squared_hinge", "l2", intercept, convert=STORAGES[storage], C=0.7)
    solution = solve(problem, CMLS(order=order), tol=1e-6, max_iter=20_000)
    assert solution.status is Status.CONVERGED
    assert solution.n_iter > 50  # the bent function comes first
    best = solve(problem, PrimalCD(), tol=1e-8).certificate.primal
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber", "squared", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_optimum_is_that_of_dual_cd(loss, intercept):
    problem = random_problem(7, loss, "l2", intercept, sample_weight=np.arange(60) % 3)
    primal, dual = solve(problem, PrimalCD(), tol=1e-9), solve(problem, DualCD(), tol=1e-9)
    assert primal.certificate.primal == pytest.approx(dual.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(primal.coef, dual.coef, atol=1e-3)


@pytest.mark.parametrize(
    ("loss", "penalty", "type_"),
    [("squared_hinge", "l2", 2), ("logistic", "l2", 0), ("squared_hinge", "l1", 5), ("logistic", "l1", 6)],
)
def test_optimum_is_that_of_liblinear(loss, penalty, type_):
    X, response = random_data(21, rows=120, columns=25)
    problem = random_problem(21, loss, penalty, rows=120, columns=25, C=2.0)
    solution = solve(problem, PrimalCD(), tol=1e-9)
    model = train(liblinear_problem(np.sign(response), sp.csr_matrix(X)), parameter(f"-s {type_} -c 2 -e 1e-9 -q"))
    w = np.array(model.get_decfun()[0]) * (1 if model.get_labels()[0] == 1 else -1)
    assert solution.certificate.primal == pytest.approx(problem.objective(w), rel=1e-6)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_warm_start_is_kept(penalty):
    problem = random_problem(5, "logistic", penalty, "free", rows=200, columns=50)
    first = solve(problem, PrimalCD(), tol=1e-7)
    again = solve(problem, PrimalCD(), tol=1e-6, warm_start=first)
    assert again.n_iter <= 2 < first.n_iter
    assert again.certificate.primal == pytest.approx(first.certificate.primal, rel=1e-7)


def test_shrinking_drops_zero_weights_and_changes_nothing_else():
    problem = random_problem(9, "logistic", "l1", rows=200, columns=150, C=0.5)
    shrunk, whole = (solve(problem, PrimalCD(shrinking=s), tol=1e-8) for s in (True, False))
    assert shrunk.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-8)
    assert shrunk.trace[-1].passes < 0.7 * whole.trace[-1].passes


# The algorithm itself.


@settings(derandomize=True, deadline=None, max_examples=60)
@given(case=st.sampled_from(CASES), order=st.sampled_from(ORDERS), seed=st.integers(0, 10**6), C=st.floats(1e-2, 1e3))
def test_objective_falls_in_every_pass(case, order, seed, C):
    problem = random_problem(seed, *case, C=C)
    seen = solve(problem, PrimalCD(order=order), tol=1e-9, max_iter=15, callback=lambda row: False).trace
    values = [problem.objective(np.zeros(12)), *(row.objective for row in seen)]
    assert all(b <= a * (1 + 1e-10) for a, b in pairwise(values))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    loss=st.sampled_from(sorted(PrimalCD.losses)),
    penalty=st.sampled_from(["l2", "l1"]),
    seed=st.integers(0, 10**6),
    C=st.floats(1e-2, 1e3),
    start=st.floats(-20, 20),
    scale=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_a_single_step_decreases_sufficiently(loss, penalty, seed, C, start, scale):
    """One column, so one pass is one step: Eq. 12 for l2, Yuan et al.'s rule for l1, whether or not D was evaluated."""
    problem = random_problem(seed, loss, penalty, columns=1, density=0.9, C=C, convert=lambda X: X * scale)
    native = _core.PrimalCD(
        problem.X.native_columns,
        problem.loss.native,
        problem.y,
        problem.weights,
        problem.penalty.rho,
        0.0,
        True,
        "cyclic",
        False,
        0,
    )
    native.set_weights(np.array([start]), 0.0)
    native.set_predictions(problem.X.matvec([start]))
    before = problem.objective([start])
    native.run(0.0, np.inf, 1.0, 1, 1.0)
    w = np.empty(1)
    native.weights(w)
    needed = -0.01 * (w[0] - start) ** 2 if penalty == "l2" else 0.0
    assert problem.objective(w) - before <= needed + 1e-9 * abs(before)


def test_the_bound_spares_nearly_all_evaluations():
    problem = random_problem(2, "logistic", rows=400, columns=60, density=0.1, C=1.0)
    native = _core.PrimalCD(
        problem.X.native_columns, problem.loss.native, problem.y, problem.weights, 0.0, 0.0, True, "permuted", False, 0
    )
    report = native.run(0.0, np.inf, 1.0, 20, 10.0)
    assert report.moves > 1000
    assert report.evaluations < 0.05 * report.moves


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_one_exponential_per_binary_column_gives_the_same_steps(penalty):
    X, response = random_data(6)
    binary = (abs(X) > 0.5).astype(np.float64)
    problem = Problem(binary, np.sign(response), loss="logistic", penalty=penalty, C=50.0)
    assert problem.X.native_columns.uniform
    dense = Problem(binary.toarray(), np.sign(response), loss="logistic", penalty=penalty, C=50.0)
    assert not dense.X.native_columns.uniform
    a, b = (solve(p, PrimalCD(), tol=0.0, max_iter=40) for p in (problem, dense))
    np.testing.assert_allclose(a.coef, b.coef, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_predictions_far_out_are_followed(penalty):
    """Margins of thousands, where exp(-y z) does not fit: as exact as without a kept exponential."""
    X, response = random_data(6)
    binary = (abs(X) > 0.5) * 1e3
    ends = []
    for data in (binary, binary.toarray()):
        problem = Problem(data, np.sign(response), loss="logistic", penalty=penalty, C=1e4)
        native = _core.PrimalCD(
            problem.X.native_columns,
            problem.loss.native,
            problem.y,
            problem.weights,
            problem.penalty.rho,
            0.0,
            True,
            "cyclic",
            False,
            0,
        )
        start = np.linspace(-3.0, 3.0, 12)  # predictions beyond 1000
        native.set_weights(start, 0.0)
        native.set_predictions(problem.X.matvec(start))
        native.run(0.0, np.inf, 1.0, 60, 60.0)
        w, z = np.empty(12), np.empty(60)
        native.weights(w)
        native.predictions(z)
        np.testing.assert_allclose(z, problem.X.matvec(w), atol=1e-8)
        ends.append(w)
    assert problem.X.native_columns.uniform is False
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-8, atol=1e-12)
    assert problem.objective(ends[0]) < problem.objective(start)


@pytest.mark.parametrize("seed", range(4))
def test_the_gap_counts_a_coordinate_once_however_often_it_is_visited(seed):
    """Two nearly parallel columns draw ten times more visits than the others and hold nearly the whole gap."""
    X = np.zeros((60, 30))
    X[np.arange(30), np.arange(30)] = [0.2, 0.2] + 28 * [1.0]
    X[30:, :2] = 1.0
    y = np.random.default_rng(seed).standard_normal(60)
    problem = Problem(X, y, loss="squared", C=1e3)
    native = _core.PrimalCD(
        problem.X.native_columns,
        problem.loss.native,
        problem.y,
        problem.weights,
        0.0,
        0.0,
        True,
        "adaptive",
        False,
        seed,
    )
    native.run(0.0, np.inf, 1.0, 20, 60.0)
    w, ratios = np.empty(30), []
    for _ in range(40):
        native.weights(w)
        exact = problem.certificate(w).gap
        ratios.append(native.run(0.0, np.inf, 1.0, 1, 60.0).gap / exact)
    assert 0.5 < np.median(ratios) < 2


def test_sizes_are_checked():
    problem = random_problem(0, "logistic")
    short = np.ones(3)
    with pytest.raises(ValueError, match="y has length 3"):
        _core.PrimalCD(
            problem.X.native_columns, problem.loss.native, short, problem.weights, 0.0, 0.0, True, "cyclic", True, 0
        )
    with pytest.raises(ValueError, match="smooth"):
        _core.PrimalCD(
            problem.X.native_columns,
            make_loss("hinge").native,
            problem.y,
            problem.weights,
            0.0,
            0.0,
            True,
            "cyclic",
            True,
            0,
        )


def test_on_text_permuted_beats_cyclic_and_primal_cd_beats_cmls():
    """The orders of Chang et al. 2008, Figure 4: passes to 1 % of the optimum at C = 1."""
    X, y = real_data("reuters_moneyfx")
    problem = Problem(X, y)
    optimum = solve(problem, "dual_cd", tol=1e-7).certificate.primal

    def passes(solver):
        solution = solve(problem, solver, max_iter=300, callback=lambda row: row.objective <= 1.01 * optimum, tol=1e-9)
        return solution.trace[-1].passes

    permuted = passes(PrimalCD())
    assert permuted < passes(PrimalCD(order="cyclic"))
    assert permuted < passes(CMLS())
    assert permuted < passes(CMLS(order="permuted"))
