"""LinearSVC: scikit-learn's rules, agreement with its solvers, and what the user is told when a run ends early."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from widemargin import LinearSVC, Problem
from widemargin.solvers import DualCD, effort
from widemargin.solvers.run.solution import Status


def two_class_data(seed: int = 0, rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(rows, 8, n_informative=4, flip_y=0.1, class_sep=0.7, random_state=seed)


def objective(model: Any, X: np.ndarray, y: np.ndarray, loss: str, intercept: str, **settings: Any) -> float:
    problem = Problem(X, y, loss=loss, intercept=intercept, **settings)
    return problem.objective(model.coef_[0], float(model.intercept_[0]))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scaling", [1.0, 3.0])
def test_regularized_intercept_agrees_with_scikit_learn(loss: str, scaling: float) -> None:
    X, y = two_class_data()
    settings = {"loss": loss, "C": 0.5, "intercept_scaling": scaling}
    ours = LinearSVC(intercept="regularized", tol=1e-10, solver=DualCD(order="permuted"), **settings).fit(X, y)
    theirs = svm.LinearSVC(tol=1e-9, max_iter=1_000_000, random_state=0, dual=True, **settings).fit(X, y)
    values = [objective(m, X, y, loss, "regularized", C=0.5, intercept_scaling=scaling) for m in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], rel=1e-7)
    assert values[0] <= values[1] * (1 + 1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-5)


def test_free_intercept_agrees_with_svc() -> None:
    X, y = two_class_data(1)
    ours = LinearSVC(loss="hinge", tol=1e-9).fit(X, y)
    theirs = svm.SVC(kernel="linear", tol=1e-8).fit(X, y)
    best = objective(theirs, X, y, "hinge", "free")
    assert ours.certificate_.primal == pytest.approx(best, rel=1e-7)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_shifting_the_data_does_not_matter_with_a_free_intercept() -> None:
    X, y = two_class_data(2)
    here = LinearSVC(tol=1e-8).fit(X, y)
    there = LinearSVC(tol=1e-8).fit(X + 2.0, y)
    moved_back = float(there.intercept_[0]) + 2.0 * there.coef_.sum()
    value = Problem(X, y, intercept="free").objective(there.coef_[0], moved_back)
    assert value == pytest.approx(here.certificate_.primal, rel=2e-8)
    far = coefficients_may_differ(here, there)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=far)


def coefficients_may_differ(*models: LinearSVC) -> float:
    """How far apart the gaps allow the models to be: with l2, 1/2 |w - w*|^2 <= gap."""
    return float(sum(np.sqrt(2 * model.certificate_.gap) for model in models))


def test_class_weight_is_a_factor_of_the_rows() -> None:
    X, y = two_class_data(3)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    by_class = LinearSVC(tol=1e-10, class_weight={0: 3.0}).fit(X, y, sample_weight=weights)
    by_row = LinearSVC(tol=1e-10).fit(X, y, sample_weight=weights * np.where(y == 0, 3.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-12)


def test_balanced_counts_a_row_by_its_weight() -> None:
    X, y = two_class_data(4)
    twice = np.where(np.arange(len(y)) < 30, 2, 1)
    weighted = LinearSVC(tol=1e-12, class_weight="balanced").fit(X, y, sample_weight=twice)
    repeated = LinearSVC(tol=1e-12, class_weight="balanced").fit(np.repeat(X, twice, axis=0), np.repeat(y, twice))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-11)
    far = coefficients_may_differ(weighted, repeated)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=far)


@pytest.mark.parametrize(
    ("settings", "weights", "message"),
    [
        ({"class_weight": {5: 1.0}}, None, "names 5, which is no class"),
        ({"class_weight": "even"}, None, "'balanced' or a dict"),
        ({"class_weight": {0: 0.0}}, None, "class 0 has weight 0"),
        ({"intercept": "none"}, None, "free, regularized"),
        ({"C": -1.0}, None, "C must be"),
        ({"loss": "squared"}, None, "LinearSVC takes a classification loss"),
        ({"solver": "nonsense"}, None, "unknown solver 'nonsense'"),
        ({"tol": -1}, None, "tol must be"),
        ({"max_iter": 0}, None, "max_iter must be"),
    ],
)
def test_wrong_parameters_are_named(settings: dict[str, Any], weights: Any, message: str) -> None:
    X, y = two_class_data()
    with pytest.raises(ValueError, match=message):
        LinearSVC(**settings).fit(X, y, weights)


def test_nan_is_named_by_row_and_column() -> None:
    X, y = two_class_data()
    model = LinearSVC().fit(X, y)
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row 7.*column 3"):
        LinearSVC().fit(X, y)
    with pytest.raises(ValueError, match=r"NaN.*row 7.*column 3"):
        model.predict(X)


def test_sparse_dense_and_single_precision_agree() -> None:
    X, y = two_class_data(5)
    X[np.abs(X) < 0.5] = 0
    dense = LinearSVC(tol=1e-9).fit(X, y)
    sparse = LinearSVC(tol=1e-9).fit(sp.csc_array(X), y)
    single = LinearSVC(tol=1e-9).fit(sp.csr_array(X.astype(np.float32)), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=coefficients_may_differ(sparse, dense))
    np.testing.assert_allclose(single.coef_, dense.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(dense.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-12)


def test_a_limit_gives_a_warning_that_says_the_gap() -> None:
    X, y = two_class_data()
    with pytest.warns(ConvergenceWarning, match=r"iteration_limit.*relative gap of .*tol=1e-12.*raise max_iter"):
        model = LinearSVC(tol=1e-12, max_iter=1, C=100, solver="dual_cd").fit(X, y)
    assert model.solution_.status is Status.ITERATION_LIMIT
    assert model.n_iter_ == 1


def test_ctrl_c_keeps_the_model_and_goes_on_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_class_data()
    solve = effort.solve
    stop_at_once = {"callback": lambda row: True, "tol": 1e-14}
    monkeypatch.setattr(effort, "solve", lambda problem, **asked: solve(problem, **asked | stop_at_once))
    model = LinearSVC(C=100)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.solution_.status is Status.INTERRUPTED
    assert model.predict(X).shape == y.shape
    with pytest.raises(KeyboardInterrupt):
        GridSearchCV(LinearSVC(), {"C": [1.0, 100.0]}, cv=2).fit(X, y)


def test_warm_start_takes_fewer_steps() -> None:
    X, y = two_class_data(6)
    model = LinearSVC(tol=1e-8, warm_start=True, C=10).fit(X, y)
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ < cold
    assert model.fit(X[:, :3], y).coef_.shape == (1, 3)  # other features: a cold start, no error


def test_the_result_is_the_same_for_the_same_seed_and_any_threads() -> None:
    X, y = two_class_data(7)
    first = LinearSVC(random_state=3).fit(X, y)
    again = LinearSVC(random_state=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(first.coef_, again.coef_)
    np.testing.assert_array_equal(LinearSVC().fit(X, y).coef_, LinearSVC().fit(X, y).coef_)


def test_attributes_tell_how_it_went() -> None:
    X, y = two_class_data()
    model = LinearSVC(solver=DualCD(shrinking=False)).fit(X, np.where(y == 1, "spam", "ham"))
    assert model.classes_.tolist() == ["ham", "spam"]
    assert model.coef_.shape == (1, 8) and model.intercept_.shape == (1,)
    assert model.solver_ == "dual_cd"
    assert model.certificate_.relative_gap <= 1e-3
    assert len(model.trace_) >= 1 and model.trace_[-1].certified
    assert set(model.predict(X)) == {"ham", "spam"}


def test_pickle_and_clone() -> None:
    X, y = two_class_data()
    model = LinearSVC(solver=DualCD(shrinking=False), C=2).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.certificate_ == model.certificate_
    copy = clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "coef_")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_data_frames_and_their_names(frame: Any) -> None:
    X, y = two_class_data()
    columns = {f"f{j}": X[:, j] for j in range(X.shape[1])}
    model = LinearSVC().fit(frame(columns), y)
    assert model.feature_names_in_.tolist() == list(columns)
    np.testing.assert_array_equal(model.predict(frame(columns)), LinearSVC().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame({f"g{j}": X[:, j] for j in range(X.shape[1])}))


def test_pipeline_search_and_cross_validation() -> None:
    X, y = two_class_data(8)
    pipeline = make_pipeline(StandardScaler(), LinearSVC())
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    one, two = (cross_val_score(LinearSVC(), X, y, cv=3, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
