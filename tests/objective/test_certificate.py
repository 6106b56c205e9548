"""The certificate: its bound never exceeds the optimum, and closes on it. The optimum comes from a conic solver."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import Optimum, solve_reference
from support import COMBINATIONS, random_data, random_problem
from widemargin import Certificate, Problem
from widemargin.objective.certificate import certify
from widemargin.objective.losses import LOSSES, make_loss
from widemargin.objective.points import Point

SHAPE = {"rows": 25, "columns": 4}


@cache
def solved(loss: str, penalty: str, intercept: str) -> tuple[Problem, Optimum]:
    """A small weighted problem of that kind, with its optimum."""
    weights = np.random.default_rng(7).random(25) * 2
    weights[5] = 0
    settings = {"C": 0.4, "intercept_scaling": 1.5, "l1_ratio": 0.3, "sample_weight": weights, **SHAPE}
    problem = random_problem(21, loss, penalty, intercept, **settings)
    return problem, solve_reference(problem, random_data(21, **SHAPE)[0].toarray())


def random_points(problem: Problem, optimum: Optimum, n: int):
    """Points far from the optimum and near it: w, b, and a dual point inside its box."""
    rng = np.random.default_rng(31)
    counts = problem.weights > 0
    lower, upper = (np.clip(bound, -50, 50) for bound in problem.loss.dual_bounds(problem.y))
    for k in range(n):
        size = 10.0 ** rng.uniform(-6, 2)
        w = optimum.w + size * rng.standard_normal(4)
        b = 0.0 if problem.intercept == "none" else optimum.intercept + size * rng.standard_normal()
        box = problem.weights * (lower + rng.random(len(lower)) * (upper - lower))
        share = rng.random() if k % 2 else min(1.0, size)
        v = np.where(counts, (1 - share) * np.clip(optimum.dual, *_box(problem)) + share * box, 0.0)
        yield w, b, v


def _box(problem: Problem):
    lower, upper = problem.loss.dual_bounds(problem.y)
    with np.errstate(invalid="ignore"):
        return [np.nan_to_num(bound * problem.weights, nan=0.0) for bound in (lower, upper)]


@pytest.mark.parametrize(("loss", "penalty", "intercept"), COMBINATIONS)
def test_weak_duality(loss, penalty, intercept):
    problem, optimum = solved(loss, penalty, intercept)
    tolerance = 1e-7 * max(1.0, optimum.value)
    for w, b, v in random_points(problem, optimum, 40):
        for dual in (None, v):
            certificate = problem.certificate(w, b, dual)
            assert certificate.dual <= optimum.value + tolerance
            assert certificate.primal >= optimum.value - tolerance
            assert np.isfinite(certificate.dual)
        assert problem.dual_value(v) <= optimum.value + tolerance


@pytest.mark.parametrize(("loss", "penalty", "intercept"), COMBINATIONS)
def test_gap_closes_at_the_optimum(loss, penalty, intercept):
    problem, optimum = solved(loss, penalty, intercept)
    v = np.clip(optimum.dual, *_box(problem))
    certificate = problem.certificate(optimum.w, optimum.intercept, v)
    assert certificate.primal == pytest.approx(optimum.value, rel=1e-7)
    assert certificate.relative_gap <= 1e-6
    if problem.loss.smooth:  # its own dual point is as good
        assert problem.certificate(optimum.w, optimum.intercept).relative_gap <= 1e-4


@pytest.mark.parametrize(("loss", "penalty", "intercept"), COMBINATIONS)
def test_reported_primal_is_the_objective(loss, penalty, intercept):
    """Also for a free intercept, which the certificate moves to its best value first."""
    problem, optimum = solved(loss, penalty, intercept)
    for w, b, _ in random_points(problem, optimum, 5):
        found = certify(problem, Point(w, b))
        assert found.certificate.primal == pytest.approx(problem.objective(w, found.point.intercept), rel=1e-12)
        assert found.certificate.primal <= problem.objective(w, b) * (1 + 1e-12)
        assert intercept == "free" or found.point.intercept == b


@pytest.mark.parametrize("intercept", ["none", "free"])
@pytest.mark.parametrize("loss", [name for name in LOSSES if LOSSES[name].smooth])
def test_smooth_loss_with_l2_has_the_gap_of_its_gradient(loss, intercept):
    """gap = 1/2 |grad|^2 once b is best."""
    problem, optimum = solved(loss, "l2", intercept)
    for w, b, _ in random_points(problem, optimum, 10):
        found = certify(problem, Point(w, b))
        gradient, _ = problem.gradient(w, found.point.intercept)
        assert found.certificate.gap == pytest.approx(0.5 * gradient @ gradient, rel=1e-6, abs=1e-9 * optimum.value)


@given(st.integers(0, 10**6), st.sampled_from(COMBINATIONS), st.floats(-3, 3))
def test_any_dual_bound_is_below_any_objective(seed, combination, log_C):
    loss, penalty, intercept = combination
    problem = random_problem(seed, loss, penalty, intercept, C=10.0**log_C, rows=12, columns=3)
    rng = np.random.default_rng(seed)
    lower, upper = (np.clip(bound, -9, 9) for bound in problem.loss.dual_bounds(problem.y))
    v = problem.weights * (lower + rng.random(12) * (upper - lower))
    dual = problem.dual_value(v)
    for size in (0.0, 1e-3, 1.0, 1e3):
        w, b = size * rng.standard_normal(3), size * rng.standard_normal()
        certificate = problem.certificate(w, 0.0 if intercept == "none" else b)
        assert max(dual, certificate.dual) <= certificate.primal * (1 + 1e-10) + 1e-10


def test_dual_point_outside_its_domain_proves_nothing():
    problem = random_problem(0, "hinge")
    assert problem.certificate(np.zeros(12), dual=-problem.y).dual == -np.inf
    assert problem.certificate(np.zeros(12), dual=2 * problem.y).relative_gap == np.inf


# Corner cases.


def test_objective_of_zero():
    zero = Problem([[1.0], [2.0]], [0.0, 0.0], loss="squared").certificate([0.0])
    assert (zero.primal, zero.dual, zero.relative_gap) == (0.0, 0.0, 0.0)
    inside = Problem([[1.0], [2.0]], [0.05, -0.05], loss="epsilon_insensitive").certificate([0.0])
    assert inside.relative_gap == 0.0
    assert Certificate(primal=0.0, dual=-1.0).relative_gap == np.inf


def test_rounding_never_makes_the_gap_negative():
    assert Certificate(primal=1.0, dual=1.0 + 1e-16).gap == 0.0
    assert Certificate(primal=1.0, dual=2.0).gap == 0.0


NOT_FINITE = [(np.nan, 1.0), (1.0, np.nan), (np.inf, 1.0), (1.0, -np.inf), (np.inf, np.inf)]


@pytest.mark.parametrize(("primal", "dual"), NOT_FINITE)
def test_what_is_no_number_is_no_proof(primal, dual):
    certificate = Certificate(primal=primal, dual=dual)
    assert certificate.gap == np.inf
    assert certificate.relative_gap == np.inf


def test_overflowing_point_is_not_certified():
    problem = random_problem(0, "squared_hinge")
    with np.errstate(over="ignore", invalid="ignore"):
        certificate = problem.certificate(np.full(12, 1e200))
    assert certificate.relative_gap == np.inf


def test_l1_zero_is_optimal_for_small_C():
    problem = random_problem(3, "squared_hinge", "l1", C=1e-4)
    assert problem.certificate(np.zeros(12)).relative_gap <= 1e-14


# The best free intercept.


def intercept_problem(loss: str, seed: int, scale: float = 1.0):
    """A problem whose predictions are given: one column, w = 1."""
    rng = np.random.default_rng(seed)
    z = scale * rng.standard_normal(30) + rng.standard_normal()
    y = np.where(rng.random(30) < 0.4, 1.0, -1.0) if LOSSES[loss].classification else scale * rng.standard_normal(30)
    y[:2] = [1.0, -1.0]
    weights = rng.random(30) * (rng.random(30) < 0.8)
    weights[:2] = 0.5
    widths = {name: 0.2 * scale for name in LOSSES[loss].parameters if name != "q"}
    return Problem(z[:, None], y, loss=loss, intercept="free", sample_weight=weights, **widths), z


def brute_minimum(problem: Problem, z: np.ndarray) -> float:
    """The least loss over b by ever finer grids around the best point: the function is convex."""
    reach = 10 + 2 * np.abs(z).max() + 2 * np.abs(problem.y).max()
    low, high = -reach, reach
    for _ in range(40):
        grid = np.linspace(low, high, 21)
        values = [problem.loss_sum(z, b) for b in grid]
        k = int(np.argmin(values))
        low, high = grid[max(0, k - 1)], grid[min(20, k + 1)]
    return min(values)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("loss", LOSSES)
def test_best_intercept_is_the_minimiser(loss, scale):
    for seed in range(8):
        problem, z = intercept_problem(loss, seed, scale)
        least = brute_minimum(problem, z)
        for start in (0.0, 3.0, -1e8, 1e8):
            b = problem.best_intercept(z, start)
            assert problem.loss_sum(z, b) <= least * (1 + 1e-9) + 1e-13


@given(st.sampled_from(list(LOSSES)), st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=8), st.data())
def test_no_other_intercept_is_better(loss, predictions, data):
    z = np.array(predictions)
    y = np.where(np.arange(len(z)) % 2 == 0, 1.0, -1.0)
    problem = Problem(z[:, None], y, loss=loss, intercept="free")
    b = problem.best_intercept(z, data.draw(st.floats(-100, 100)))
    other = data.draw(st.floats(-3e3, 3e3))
    assert problem.loss_sum(z, b) <= problem.loss_sum(z, other) * (1 + 1e-12) + 1e-12


def test_hinge_with_a_flat_optimum():
    """Between b = -1 and b = 1 the losses of the two rows add up to the same."""
    problem = Problem([[0.0], [0.0]], [1, -1], loss="hinge", intercept="free")
    for start in (-5.0, 0.0, 0.3, 5.0):
        b = problem.best_intercept(np.zeros(2), start)
        assert abs(b) <= 1
        assert problem.loss_sum(np.zeros(2), b) == 2.0


@pytest.mark.parametrize("label", [1.0, -1.0])
@pytest.mark.parametrize("loss", [name for name in LOSSES if LOSSES[name].classification])
def test_rows_of_one_class_are_separated_by_the_intercept_alone(loss, label):
    """The other class has weight zero; the logistic loss has no minimiser then, but comes to nothing."""
    z, y = np.array([0.3, -0.5, 4.0, 0.0]), np.array([label, label, label, -label])
    problem = Problem(z[:, None], y, loss=loss, intercept="free", sample_weight=[1.0, 2.0, 1.0, 0.0])
    b = problem.best_intercept(z, 0.0)
    assert np.isfinite(b)
    assert problem.loss_sum(z, b) == 0.0
    assert problem.certificate([0.0]).relative_gap == 0.0


def test_best_intercept_of_squared_loss_is_the_mean_residual():
    problem, z = intercept_problem("squared", 0)
    expected = np.average(problem.y - z, weights=problem.weights)
    assert problem.best_intercept(z) == pytest.approx(expected, rel=1e-12)
    assert make_loss("squared").smooth
