"""The interior-point method: optimal for every combination it declares, blind to C and scales, sparse at the end."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes

from support import random_data, random_problem, real_data
from widemargin import Matrix, Problem, solve
from widemargin.objective.losses import LOSSES
from widemargin.solvers import InteriorPoint
from widemargin.solvers.interior import working_set

ALL = sorted(LOSSES)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("loss", ALL)
def test_reaches_the_optimum_that_others_find(loss: str, penalty: str, intercept: str) -> None:
    weights = np.random.default_rng(1).uniform(0, 2, 60)
    weights[::7] = 0.0
    problem = random_problem(3, loss, penalty, intercept, C=0.7, sample_weight=weights)
    ours = solve(problem, "interior_point", tol=1e-7)
    other = solve(problem, "newglmnet" if LOSSES[loss].smooth else "multipliers", tol=1e-7)
    assert ours.converged
    assert ours.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-7)
    assert np.all(ours.dual[weights == 0] == 0)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("loss", ALL)
def test_more_features_than_rows(loss: str, penalty: str, intercept: str) -> None:
    problem = random_problem(4, loss, penalty, intercept, rows=30, columns=200, density=0.3, C=1000.0)
    solution = solve(problem, "interior_point", tol=1e-4)
    assert solution.converged
    if penalty == "l1":
        assert np.count_nonzero(solution.coef) <= 120


@pytest.mark.parametrize("convert", [lambda X: X, lambda X: X.toarray(), lambda X: X.astype(np.float32)])
def test_storage_does_not_matter(convert) -> None:
    reference = solve(random_problem(5, "hinge", "l1"), "interior_point", tol=1e-9)
    other = solve(random_problem(5, "hinge", "l1", convert=convert), "interior_point", tol=1e-8)
    assert other.converged
    assert other.certificate.primal == pytest.approx(reference.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("loss", ALL)
def test_scales_of_the_features_cost_few_steps(loss: str, penalty: str) -> None:
    X, response = random_data(8, rows=200, columns=10, density=1.0)
    y = np.sign(response) if LOSSES[loss].classification else response
    scaled = X.toarray() * np.logspace(-4, 4, 10)
    solution = solve(Problem(scaled, y, loss, penalty, 100.0, intercept="free"), "interior_point", tol=1e-5)
    assert solution.converged
    assert solution.n_iter <= 80


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_working_sets_end_at_the_same_optimum(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(6, loss, "l1", "free", rows=80, columns=120, density=0.3, C=3.0)
    whole = solve(problem, "interior_point", tol=1e-6)
    monkeypatch.setattr(working_set, "INTERIOR_ORDER", 40)
    monkeypatch.setattr(working_set, "FIRST_WORKING_SET", 20)
    parts = solve(problem, "interior_point", tol=1e-6)
    assert whole.converged and parts.converged
    assert parts.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-6)


def test_a_constant_column_and_a_repeated_one_do_no_harm() -> None:
    X, response = random_data(9, rows=80, columns=6, density=1.0)
    wide = np.column_stack([X.toarray(), X.toarray()[:, 0], np.full(80, 5.0), np.zeros(80)])
    problem = Problem(wide, np.sign(response), "hinge", "l1", 10.0, intercept="free")
    assert solve(problem, InteriorPoint(), tol=1e-6).converged


def test_products_of_the_certificate_are_exact_to_the_last_digits() -> None:
    rng = np.random.default_rng(0)
    X, u = rng.standard_normal((500, 3)) * 1e6, rng.standard_normal(500) * 1e6
    u[0] -= (X[:, 0] @ u) / X[0, 0]  # the first product all but cancels
    exact = [float(sum(Fraction(x) * Fraction(v) for x, v in zip(X[:, j], u, strict=True))) for j in range(3)]
    for storage in (X, sp.csr_array(X)):
        np.testing.assert_allclose(Matrix(storage).rmatvec(u, accurate=True), exact, rtol=1e-12)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("C", [1.0, 1000.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "modified_huber"])
def test_auto_ends_on_raw_features_and_large_C(loss: str, penalty: str, C: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    raw = X * np.array([1e3, 1.0, 1e-2] * 10)
    assert solve(Problem(raw, y, loss, penalty, C, intercept="free"), tol=1e-3, max_seconds=20).converged


@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive", "squared_epsilon_insensitive"])
def test_auto_ends_on_raw_targets(loss: str) -> None:
    X, y = load_diabetes(return_X_y=True, scaled=False)
    assert solve(Problem(100 * X, 1e3 * y, loss, "l1", 1000.0, intercept="free"), tol=1e-3, max_seconds=20).converged


@pytest.mark.parametrize(
    ("name", "loss", "penalty", "C"),
    [
        ("colon-cancer", "hinge", "l1", 1000.0),
        ("leu", "hinge", "elasticnet", 1000.0),
        ("madelon", "hinge", "l1", 10.0),
        ("dorothea", "hinge", "l1", 100.0),
        ("dorothea", "squared_hinge", "l1", 1000.0),
        ("cadata", "squared_epsilon_insensitive", "l1", 1000.0),
        ("cpusmall", "epsilon_insensitive", "l1", 1000.0),
    ],
)
def test_auto_ends_on_real_data_at_large_C(name: str, loss: str, penalty: str, C: float) -> None:
    X, y = real_data(name)
    y = np.where(y == y.max(), 1.0, -1.0) if LOSSES[loss].classification else y
    assert solve(Problem(X, y, loss, penalty, C, intercept="free"), tol=1e-3, max_seconds=60).converged


def test_rows_of_one_class_alone_may_count():
    problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], "hinge", "l1", intercept="free", sample_weight=[1, 1, 0])
    found = solve(problem, InteriorPoint(), tol=1e-6)
    assert found.certificate.primal == pytest.approx(0.0, abs=1e-6)
