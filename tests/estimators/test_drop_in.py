"""A program that changes its import line: scikit-learn's parameters are taken, and its models come out."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model, svm
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning

from widemargin import (
    ElasticNet,
    Lasso,
    LassoCV,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    Matrix,
    Problem,
    Ridge,
    solve,
)


def noisy(n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(400, 8, n_informative=6, n_redundant=0, n_classes=n_classes, flip_y=0.25, random_state=0)


# Parameters.


@pytest.mark.parametrize("Ours", [LinearSVC, LinearSVR, LogisticRegression, Ridge, Lasso, ElasticNet])
def test_every_parameter_of_scikit_learn_is_taken(Ours: Any) -> None:
    module = svm if "SV" in Ours.__name__ else linear_model
    theirs = getattr(module, Ours.__name__)().get_params()
    assert set(theirs) <= set(Ours().get_params())


@pytest.mark.parametrize("Ours", [LassoCV, LogisticRegressionCV])
def test_every_parameter_of_a_search_is_taken(Ours: Any) -> None:
    theirs = getattr(linear_model, Ours.__name__)().get_params()
    assert set(theirs) - {"use_legacy_attributes"} <= set(Ours().get_params())


def test_the_share_of_l1_is_chosen_by_its_score() -> None:
    X, y = make_classification(150, 8, random_state=0)
    shares, Cs = [0.0, 0.5, 1.0], [0.1, 1.0]
    asked = {"Cs": Cs, "cv": 3, "scoring": "neg_log_loss", "tol": 1e-8}
    model = LogisticRegressionCV(l1_ratios=shares, **asked).fit(X, y)
    alone = [LogisticRegressionCV(l1_ratio=share, **asked).fit(X, y) for share in shares]
    best = int(np.argmax([one.searches_[0].best_score for one in alone]))
    assert model.l1_ratio_.tolist() == alone[best].l1_ratio_.tolist() == [shares[best]]
    np.testing.assert_array_equal(model.coef_, alone[best].coef_)
    several = LogisticRegressionCV(l1_ratios=shares, Cs=Cs, cv=3).fit(*load_iris(return_X_y=True))
    assert several.l1_ratio_.shape == several.C_.shape == (3,)
    for wrong in ([], [2.0], [-1.0]):
        with pytest.raises(ValueError, match="l1_ratios"):
            LogisticRegressionCV(l1_ratios=wrong).fit(X, y)
    with pytest.raises(ValueError, match="refit=False"):
        LogisticRegressionCV(refit=False).fit(X, y)


@pytest.mark.parametrize("solver", ["liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "lbfgs"])
def test_solvers_of_scikit_learn_give_the_model_they_stand_for(solver: str) -> None:
    X, y = noisy(3)
    model = LogisticRegression(solver=solver, tol=1e-9).fit(X, y)
    reference = linear_model.LogisticRegression(tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-4)


def test_parameters_of_no_effect_have_none() -> None:
    X, y = noisy()
    for dual in (True, False, "auto"):
        np.testing.assert_array_equal(LinearSVC(dual=dual).fit(X, y).coef_, LinearSVC().fit(X, y).coef_)
    plain = Lasso(0.1).fit(X, y).coef_
    asked = Lasso(0.1, precompute=True, copy_X=False, selection="random").fit(X, y)
    np.testing.assert_allclose(asked.coef_, plain, atol=1e-12)


@pytest.mark.parametrize("Estimator", [Ridge, Lasso, ElasticNet, LassoCV])
def test_positive_coefficients_are_not_promised(Estimator: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=r"positive=True.*sklearn\.linear_model"):
        Estimator(positive=True).fit(X, y)


@pytest.mark.parametrize(("l1_ratio", "penalty"), [(0.0, "l2"), (0.3, "elasticnet"), (1.0, "l1")])
def test_the_share_of_l1_names_the_penalty(l1_ratio: float, penalty: str) -> None:
    X, y = noisy()
    by_share = LogisticRegression(l1_ratio=l1_ratio, C=0.1, tol=1e-8).fit(X, y)
    by_name = LogisticRegression(penalty, l1_ratio=l1_ratio, C=0.1, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(by_share.coef_, by_name.coef_)
    theirs = linear_model.LogisticRegression(l1_ratio=l1_ratio, C=0.1, solver="saga", tol=1e-9, max_iter=100_000)
    np.testing.assert_allclose(by_share.coef_, theirs.fit(X, y).coef_, atol=1e-3)


def test_several_classes_are_told_apart_as_there() -> None:
    X, y = load_iris(return_X_y=True)
    ours = LogisticRegression(C=10.0, tol=1e-9).fit(X, y)
    theirs = linear_model.LogisticRegression(C=10.0, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    for other in (LogisticRegression("l1"), LogisticRegression(solver="dual_cd")):
        assert len(other.fit(X, y).solutions_) == 3  # no solver for all classes at once: one model each


# No penalty.


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_no_penalty_whatever_the_scale(n_classes: int, scale: float) -> None:
    X, y = noisy(n_classes)
    ours = LogisticRegression(penalty=None, tol=1e-6).fit(scale * X, y)
    theirs = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(scale * X), theirs.predict_proba(X), atol=1e-4)
    assert ours.certificate_.relative_gap <= 1e-6
    np.testing.assert_array_equal(LogisticRegression(C=np.inf, tol=1e-6).fit(scale * X, y).coef_, ours.coef_)


def test_no_penalty_on_features_of_different_scales() -> None:
    X, y = noisy()
    scales = 10.0 ** np.linspace(-4, 4, X.shape[1])
    ours = LogisticRegression(penalty=None, tol=1e-6).fit(X * scales, y)
    plain = LogisticRegression(penalty=None, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.coef_ * scales, plain.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_that_can_be_separated_are_noticed(n_classes: int) -> None:
    X, y = load_iris(return_X_y=True)
    if n_classes == 2:
        X, y = X[y < 2], y[y < 2]
    else:
        X = np.eye(3)[y] + 0.01 * X[:, :3]
    with pytest.warns(ConvergenceWarning, match="can be separated without error"):
        model = LogisticRegression(penalty=None).fit(X, y)
    assert model.score(X, y) == 1.0


def test_plain_least_squares() -> None:
    X, y = load_diabetes(return_X_y=True, scaled=False)
    theirs = linear_model.LinearRegression().fit(X, y)
    for model in (Ridge(alpha=0), Lasso(alpha=0), ElasticNet(alpha=0.0, l1_ratio=0.2)):
        np.testing.assert_allclose(model.set_params(tol=1e-9).fit(X, y).predict(X), theirs.predict(X), rtol=1e-3)
    wide = np.random.default_rng(0).standard_normal((20, 50))
    spread = np.sqrt(np.mean(wide**2, axis=0))
    shortest = np.linalg.lstsq(wide / spread, wide[:, 0], rcond=None)[0] / spread
    exact = Ridge(alpha=0, fit_intercept=False, tol=1e-9).fit(wide, wide[:, 0])
    np.testing.assert_allclose(exact.coef_, shortest, atol=1e-4)


def test_a_search_needs_a_penalty() -> None:
    X, y = noisy()
    with pytest.raises(ValueError, match="needs a penalty"):
        LogisticRegressionCV(penalty=None).fit(X, y)


def test_a_number_of_values_means_what_it_does_there() -> None:
    X, y = noisy()
    found = LogisticRegressionCV(Cs=3, cv=3, early_stopping=False).fit(X, y).searches_[0]
    np.testing.assert_allclose(found.Cs, [1e-4, 1.0, 1e4])
    model = LassoCV(alphas=4, eps=0.01, early_stopping=False).fit(X, y)
    assert len(model.alphas_) == 4
    assert model.alphas_[-1] == pytest.approx(0.01 * model.alphas_[0])
    assert np.count_nonzero(Lasso(2 * model.alphas_[0]).fit(X, y).coef_) == 0


# Several outputs.


@pytest.mark.parametrize(
    ("name", "settings"),
    [("Ridge", {}), ("Ridge", {"alpha": [0.1, 1.0, 10.0]}), ("Lasso", {"alpha": 0.1}), ("ElasticNet", {"alpha": 0.1})],
)
def test_several_outputs(name: str, settings: dict[str, Any]) -> None:
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, np.sqrt(y), -y])
    ours = {"Ridge": Ridge, "Lasso": Lasso, "ElasticNet": ElasticNet}[name](tol=1e-10, **settings).fit(X, Y)
    theirs = getattr(linear_model, name)(**settings).fit(X, Y)
    assert ours.coef_.shape == theirs.coef_.shape and np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-3, atol=1e-2)
    assert len(ours.certificates_) == 3 and ours.score(X, Y) == pytest.approx(theirs.score(X, Y), abs=1e-4)
    dense = ours.predict(X)
    np.testing.assert_allclose(ours.sparsify().predict(sp.csr_array(X)), dense, rtol=1e-8)
    assert ours.densify().coef_.shape == (3, X.shape[1])


def test_outputs_that_do_not_fit_are_named() -> None:
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, y])
    with pytest.raises(ValueError, match="alpha has 3 values, y has 2 outputs"):
        Ridge(alpha=[1.0, 2.0, 3.0]).fit(X, Y)
    for model in (LinearSVR(), LassoCV()):
        with pytest.raises(ValueError, match="1d array"):
            model.fit(X, Y)


# Data that travel.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["csr", "csc", "binary", "dense", "fortran"])
def test_matrices_and_problems_are_pickled_and_copied(kind: str, dtype: Any) -> None:
    X = sp.random(40, 7, 0.3, format="csr", random_state=0, dtype=np.float64).astype(dtype)
    made: dict[str, Any] = {
        "csr": X,
        "csc": X.tocsc(),
        "binary": (X > 0).astype(dtype),
        "dense": X.toarray(),
        "fortran": np.asfortranarray(X.toarray()),
    }
    problem = Problem(made[kind], np.arange(40) % 2, loss="logistic", intercept="free", sample_weight=np.arange(40))
    solution = solve(problem, tol=1e-6)
    for again in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem), copy.copy(problem)):
        assert again.X.dtype == dtype and again.X.is_sparse == problem.X.is_sparse
        assert again.certificate(solution.coef, solution.intercept) == problem.certificate(
            solution.coef, solution.intercept
        )
    matrix = pickle.loads(pickle.dumps(Matrix(made[kind])))
    np.testing.assert_array_equal(matrix.native_columns.n_rows, 7)
    expected = made[kind] if isinstance(made[kind], np.ndarray) else made[kind].toarray()
    found = matrix.to_scipy()
    np.testing.assert_array_equal(found.toarray() if matrix.is_sparse else found, expected)


@pytest.mark.parametrize("shift", [0.0, 1e5, 1e8])
def test_no_penalty_is_blind_to_shifts(shift: float) -> None:
    """Years and time stamps: far from zero against their spread, and no constants."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=60), [-0.5, 0.5])
    target = X @ rng.normal(size=5) + 0.3 * rng.normal(size=60) + 2
    shifted = X + shift
    plain = Ridge(alpha=0).fit(X, target)
    moved = Ridge(alpha=0).fit(shifted, target)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-4)
    for labels in (y > 0, y):
        one, other = (LogisticRegression(penalty=None).fit(data, labels) for data in (X, shifted))
        np.testing.assert_allclose(other.predict_proba(shifted), one.predict_proba(X), atol=1e-3)


def test_no_penalty_warns_of_sparse_features_far_from_zero() -> None:
    """They cannot be centred and stay sparse: nothing wrong is said in silence."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    target = X @ rng.normal(size=5)
    assert Ridge(alpha=0).fit(sp.csr_array(X + 1e4), target).score(X + 1e4, target) > 0.99
    with pytest.warns(ConvergenceWarning) as seen:
        Ridge(alpha=0).fit(sp.csr_array(X + 1e8), target)
    assert any("feature 0 of the sparse data" in str(warning.message) for warning in seen)
