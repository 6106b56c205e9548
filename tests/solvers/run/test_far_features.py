"""Features far from zero, and values too large for their squares: converged, or refused with a word of advice."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_regressor

from multiclass_data import class_data
from support import random_data
from widemargin import (
    CrammerSingerProblem,
    ElasticNet,
    Lasso,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    Matrix,
    MaximumEntropyProblem,
    Problem,
    Ridge,
    Status,
    find_C,
    solve,
)
from widemargin.objective.losses import LOSSES
from widemargin.objective.penalties import PENALTIES
from widemargin.solvers.base import Point, Step
from widemargin.solvers.run import driver


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("penalty", list(PENALTIES))
@pytest.mark.parametrize("shift", [1e3, 1e6, 1e9])
def test_shifted_features_change_the_intercept_alone(loss: str, penalty: str, shift: float) -> None:
    X, response = random_data(1, rows=100)
    X, y = X.toarray(), np.sign(response) if LOSSES[loss].classification else response
    near = solve(Problem(X, y, loss, penalty, intercept="free"), tol=1e-8)
    problem = Problem(X + shift, y, loss, penalty, intercept="free")
    far = solve(problem, tol=1e-8)
    assert far.converged
    assert far.certificate.primal == pytest.approx(near.certificate.primal, rel=1e-6)
    z = far.coef @ (X + shift).T + far.intercept
    np.testing.assert_allclose(z, X @ near.coef + near.intercept, atol=1e-2)
    # The problem as it was given agrees, as far as its own rounding lets it tell.
    rounding = max(1e-7, 1e-15 * shift)
    assert problem.objective(far.coef, far.intercept) == pytest.approx(far.certificate.primal, rel=rounding)


@pytest.mark.parametrize("Kind", [MaximumEntropyProblem, CrammerSingerProblem])
def test_all_classes_at_once(Kind: Any) -> None:
    X, y = class_data(2, rows=100)
    X = X.toarray()
    near, far = (solve(Kind(A, y, intercept="free"), tol=1e-7) for A in (X, X + 1e6))
    assert far.converged
    assert far.certificate.primal == pytest.approx(near.certificate.primal, rel=1e-6)
    problem = Kind(X + 1e6, y, intercept="free")
    assert problem.objective(far.coef) == pytest.approx(far.certificate.primal, rel=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(penalty="l1"),
        LogisticRegression(l1_ratio=0.5),
        LinearSVC(penalty="l1"),
        LinearSVC(loss="hinge", penalty="l1"),
        LinearSVR(),
        Ridge(),
        Lasso(alpha=0.01),
        ElasticNet(alpha=0.01),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_estimators_converge_without_a_word(estimator: Any, dtype: Any) -> None:
    X, response = random_data(3, rows=100)
    y = response if is_regressor(estimator) else response > 0
    shift = 1e3 if dtype == np.float32 else 1e7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = estimator.fit((X.toarray() + shift).astype(dtype), y)
    assert model.certificate_.relative_gap <= model.tol


def test_warm_starts_and_searches_go_along() -> None:
    X, response = random_data(4, rows=100)
    X, y = X.toarray() + 1e5, response > 0
    problem = Problem(X, y, "logistic", "l1", intercept="free")
    first = solve(problem, tol=1e-9)
    again = solve(problem, tol=1e-8, warm_start=first)
    assert again.converged and again.n_iter == 0
    with pytest.raises(TypeError, match="warm_start must be a Solution"):
        solve(problem, warm_start="a guess")
    near = find_C(X - 1e5, y, "logistic", "l1", Cs=[0.1, 1.0], tol=1e-6)
    far = find_C(X, y, "logistic", "l1", Cs=[0.1, 1.0], tol=1e-6)
    np.testing.assert_array_equal(near.scores, far.scores)
    model = LogisticRegressionCV(Cs=[0.1, 1.0]).fit(X, np.digitize(response, [-1, 1]))
    assert model.certificate_.relative_gap <= model.tol


def test_rows_are_centred_where_it_matters_alone() -> None:
    X = np.random.default_rng(0).standard_normal((50, 3))
    assert Matrix(X).centred is None
    assert Matrix(X + 5).centred is None
    assert Matrix(np.hstack([X, np.ones((50, 1))])).centred is None  # a constant of ordinary size
    assert Matrix(sp.csr_array(X + 1e6)).centred is None  # would not be sparse any more
    X[:, 2] += 1e6
    rows, means = Matrix(X).centred
    np.testing.assert_allclose(rows.to_scipy() + means, X)
    assert np.abs(rows.to_scipy().mean(axis=0)).max() < 1e-9


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.csc_array], ids=["dense", "csr", "csc"])
def test_values_too_large_to_be_squared_are_named(wrap: Any) -> None:
    X = np.array([[1.0, 2.0], [3.0, -1e200]])
    with pytest.raises(ValueError, match=r"X is out of scale: row 1, column 1 holds -1e\+200: .* scale the features"):
        Matrix(wrap(X))
    for estimator in (LinearSVC(loss="hinge"), LogisticRegression(penalty="l1")):
        with pytest.raises(ValueError, match="scale the features"):
            estimator.fit(wrap(X), [0, 1])
    Matrix(wrap(X / 1e151))
    Matrix(wrap(np.array([[3e38]], dtype=np.float32)))


def test_a_solver_that_tells_no_gap_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stands still and knows nothing of it would run for ever."""
    from widemargin.solvers import DualCD

    class Standing(DualCD):
        def iterate(self, problem: Any, run: Any) -> Any:
            for k in range(1, 10_000):
                yield Step(iteration=k, passes=float(k), point=lambda: Point(np.zeros(2)))

    monkeypatch.setattr(driver, "grace_steps", lambda n_entries: 10)
    solution = solve(Problem([[1.0, 0.0], [0.0, 1.0]], [-1, 1]), Standing())
    assert solution.status is Status.STALLED
    assert solution.n_iter < 100
