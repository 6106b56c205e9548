"""Steps over all classes at once: optimal, blind to C and to scales, and what stands behind the other solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin import CrammerSingerProblem, MaximumEntropyProblem, OrdinalProblem, solve
from widemargin.solvers import ClassInterior, OrdinalInterior
from widemargin.solvers.auto import choose
from widemargin.solvers.joint import system
from widemargin.solvers.joint.class_curvature import ClassCurvature

OTHERS = {CrammerSingerProblem: "crammer_singer", MaximumEntropyProblem: "tron"}
SHAPES = [(80, 6), (25, 60)]
LOSSES = ["hinge", "squared_hinge"]


def classes_of(X: np.ndarray, rng: np.random.Generator, kinds: int = 4) -> np.ndarray:
    z = X @ rng.standard_normal(X.shape[1])
    y = np.digitize(z + z.std() * rng.standard_normal(len(X)), np.quantile(z, np.arange(1, kinds) / kinds))
    y[:kinds] = np.arange(kinds)
    return y


def hard_rows(rng: np.random.Generator) -> np.ndarray:
    """Wide or tall, low rank, copies of columns, outliers, over ten decades of scale."""
    rows, columns = SHAPES[rng.integers(2)]
    X = rng.standard_normal((rows, columns))
    kind = rng.integers(4)
    if kind == 1:
        X = X[:, :3] @ rng.standard_normal((3, columns))
    elif kind == 2:
        X[:, columns // 2 :] = X[:, : columns - columns // 2] * (1 + 1e-9)
    elif kind == 3:
        X[0] *= 1e3
    return X * 10.0 ** rng.uniform(-5, 5, columns)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("kind", list(OTHERS))
def test_classes_reach_the_optimum_that_others_find(kind: Any, intercept: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape)
    weights = rng.uniform(0, 2, len(X))
    weights[5::7] = 0.0
    problem = kind(X, classes_of(X, rng), C=0.7, intercept=intercept, sample_weight=weights)
    ours, other = solve(problem, "class_interior", tol=1e-7), solve(problem, OTHERS[kind], tol=1e-7)
    assert ours.converged
    assert ours.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-7)
    assert np.all(ours.dual[weights == 0] == 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("thresholds", ["free", "regularized"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "modified_huber"])
def test_thresholds_reach_the_optimum_that_others_find(loss: str, thresholds: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal(shape)
    problem = OrdinalProblem(X, classes_of(X, rng), loss, C=0.7, thresholds=thresholds)
    ours, other = solve(problem, "ordinal_interior", tol=1e-7), solve(problem, "ordinal_newton", tol=1e-7)
    assert ours.converged
    assert ours.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-7)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([1e-3, 1.0, 1e3]), intercept=st.sampled_from(["none", "free"]))
@pytest.mark.parametrize("kind", list(OTHERS))
def test_auto_ends_on_hard_rows_of_several_classes(kind: Any, seed: int, C: float, intercept: str) -> None:
    rng = np.random.default_rng(seed)
    X = hard_rows(rng)
    assert solve(kind(X, classes_of(X, rng), C=C, intercept=intercept), tol=1e-3, max_seconds=20).converged


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([1e-3, 1.0, 1e3]), loss=st.sampled_from(LOSSES))
def test_auto_ends_on_hard_rows_in_order(seed: int, C: float, loss: str) -> None:
    rng = np.random.default_rng(seed)
    X = hard_rows(rng)
    assert solve(OrdinalProblem(X, classes_of(X, rng), loss, C=C), tol=1e-3, max_seconds=20).converged


@pytest.mark.parametrize("kind", list(OTHERS))
def test_scales_of_the_features_cost_few_steps(kind: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 10))
    scaled = kind(X * np.logspace(-4, 4, 10), classes_of(X, rng), C=100.0, intercept="free")
    solution = solve(scaled, ClassInterior(), tol=1e-5)
    assert solution.converged
    assert solution.n_iter <= 60


def test_separated_classes_take_few_steps() -> None:
    """Longer weights are found by a search along them, not by one Newton step after another."""
    X = np.repeat(np.eye(3), 5, axis=0) * 1e6
    problem = MaximumEntropyProblem(X, np.repeat([0, 1, 2], 5), C=1.0)
    solution = solve(problem, ClassInterior(), tol=1e-3)
    assert solution.converged
    assert solution.n_iter <= 15


@pytest.mark.parametrize("kind", list(OTHERS))
def test_the_factor_may_come_from_the_data_themselves(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    X = sp.random_array((40, 8), density=0.5, rng=rng)
    problem = kind(X, classes_of(X.toarray(), rng), C=3.0, intercept="free")
    usual = solve(problem, "class_interior", tol=1e-8)
    monkeypatch.setattr(system, "MOST_LEFT", 0.0)
    careful = solve(problem, "class_interior", tol=1e-8)
    assert careful.converged
    assert careful.certificate.primal == pytest.approx(usual.certificate.primal, rel=1e-7)


def test_thresholds_from_the_data_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 8))
    problem = OrdinalProblem(X, classes_of(X, rng), "hinge", C=3.0)
    usual = solve(problem, "ordinal_interior", tol=1e-8)
    monkeypatch.setattr(system, "MOST_LEFT", 0.0)
    careful = solve(problem, OrdinalInterior(), tol=1e-8)
    assert careful.converged
    assert careful.certificate.primal == pytest.approx(usual.certificate.primal, rel=1e-7)


def test_curvatures_of_a_row_are_those_of_their_formula() -> None:
    rng = np.random.default_rng(6)
    d, dz = rng.uniform(0.1, 1, (5, 4)), rng.standard_normal((5, 4))
    D = ClassCurvature(d)
    for i in range(5):
        exact = np.diag(d[i]) - np.outer(d[i], d[i]) / d[i].sum()
        np.testing.assert_allclose(D.apply(dz)[i], exact @ dz[i], atol=1e-14)
        np.testing.assert_allclose([[D.entry(m, n)[i] for n in range(4)] for m in range(4)], exact, atol=1e-14)
        half = D.roots()[i]
        np.testing.assert_allclose(half.T @ half, exact, atol=1e-14)


def test_more_coefficients_than_the_equations_can_have_are_refused() -> None:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((1500, 1400))
    problem = MaximumEntropyProblem(X, rng.integers(3, size=1500))
    assert not ClassInterior().accepts(problem)
    with pytest.raises(ValueError, match="class_interior"):
        solve(problem, "class_interior")


def test_auto_keeps_it_behind_every_other_solver() -> None:
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 5))
    y = classes_of(X, rng)
    for problem in (CrammerSingerProblem(X, y), MaximumEntropyProblem(X, y)):
        assert choose(problem).title.endswith("class_interior")
    assert choose(OrdinalProblem(X, y)).title.endswith("ordinal_interior")
