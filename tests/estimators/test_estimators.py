"""What all estimators have in common: several classes, labels, kinds of input, and scikit-learn's tools around them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import (
    load_diabetes,
    load_wine,
    make_classification,
    make_multilabel_classification,
    make_regression,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from widemargin import ElasticNet, Lasso, LinearSVC, LinearSVR, LogisticRegression, Problem, Ridge
from widemargin.solvers import DualCD

CLASSIFIERS = [LinearSVC, LogisticRegression]
REGRESSORS = [LinearSVR, Ridge, Lasso, ElasticNet]


def three_classes(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(150, 8, n_informative=5, n_classes=3, flip_y=0.05, random_state=seed)


def numbers() -> tuple[np.ndarray, np.ndarray]:
    return make_regression(100, 8, n_informative=3, noise=1.0, random_state=0)


def data_for(estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    return three_classes() if hasattr(estimator, "decision_function") else numbers()


# Several classes.


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_threads_over_classes_do_not_change_the_model(Classifier: Any) -> None:
    X, y = three_classes()
    one, two = (Classifier(solver="dual_cd", n_jobs=n, random_state=4).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    assert one.certificates_ == two.certificates_


@pytest.mark.parametrize(
    "names", [["ant", "bee", "cat"], [1.0, -2.0, 0.0], np.array([7, 5, 250], dtype=np.uint8)], ids=str
)
def test_labels_of_any_type(names: Any) -> None:
    X, y = three_classes()
    labels = np.asarray(names)[y]
    model = LogisticRegression().fit(X, labels)
    assert model.classes_.dtype == labels.dtype
    assert model.classes_.tolist() == sorted(np.asarray(names).tolist())
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, labels) == pytest.approx(LogisticRegression().fit(X, y).score(X, y), abs=0.02)


def test_labels_without_a_common_order_are_refused() -> None:
    X, y = three_classes()
    with pytest.raises((ValueError, TypeError), match=r"label|type|mix"):
        LinearSVC().fit(X, np.array([True, "x", 3], dtype=object)[y])


def test_class_weights_multiply_the_rows_of_their_class() -> None:
    X, y = three_classes(1)
    by_class = LinearSVC(tol=1e-10, class_weight={0: 3.0, 2: 0.5}).fit(X, y)
    by_row = LinearSVC(tol=1e-10).fit(X, y, np.array([3.0, 1.0, 0.5])[y])
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    balanced = LinearSVC(class_weight="balanced").fit(X[:120], y[:120])
    share = 120 / (3 * np.bincount(y[:120]))
    np.testing.assert_array_equal(balanced.coef_, LinearSVC().fit(X[:120], y[:120], share[y[:120]]).coef_)


def test_warm_start_of_several_classes() -> None:
    X, y = three_classes()
    model = LogisticRegression(tol=1e-8, warm_start=True).fit(X, y)
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ < cold
    first = model.fit(X[y < 2], y[y < 2])  # other classes: a cold start
    assert first.coef_.shape == (1, 8)
    np.testing.assert_array_equal(first.coef_, LogisticRegression(tol=1e-8).fit(X[y < 2], y[y < 2]).coef_)


def test_the_worst_class_speaks_for_all() -> None:
    X, y = three_classes()
    with pytest.warns(ConvergenceWarning, match="iteration_limit"):
        model = LinearSVC(loss="hinge", solver="dual_cd", C=100.0, tol=1e-9, max_iter=2).fit(X, y)
    gaps = [certificate.relative_gap for certificate in model.certificates_]
    assert model.certificate_.relative_gap == max(gaps)
    assert model.solution_ is model.solutions_[int(np.argmax(gaps))]
    assert len(model.solutions_) == 3 and model.n_iter_ == 2


# Labels that do not exclude one another.


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_one_model_per_label(Classifier: Any) -> None:
    X, Y = make_multilabel_classification(120, 10, n_classes=4, random_state=0)
    model = Classifier(n_jobs=2).fit(X, Y)
    theirs = OneVsRestClassifier(Classifier()).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(model.coef_, np.vstack([each.coef_ for each in theirs.estimators_]))
    np.testing.assert_array_equal(Classifier().fit(X, sp.csr_array(Y)).coef_, model.coef_)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    if Classifier is LogisticRegression:
        np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X))
    weights = np.arange(120) % 3
    balanced = Classifier(class_weight="balanced").fit(X, Y, weights)
    alone = Classifier(class_weight="balanced").fit(X, Y[:, 2], weights)
    np.testing.assert_array_equal(balanced.coef_[2], alone.coef_[0])


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_a_label_that_all_rows_share(Classifier: Any) -> None:
    X, Y = make_multilabel_classification(60, 10, n_classes=3, random_state=0)
    Y[:, 0], Y[:, 2] = 1, 0
    with pytest.warns(UserWarning, match=r"label . is (present|absent) in every row"):
        model = Classifier().fit(X, Y)
    predicted = model.predict(-100 * X)
    assert predicted[:, 0].all() and not predicted[:, 2].any()
    # The score that stands for it is the best model: the objective is zero to rounding.
    problem = Problem(X, np.where(Y[:, 1] == 1, 1, -1), loss=model.loss, intercept="free")
    problem.y = np.ones(60)
    assert problem.objective(model.coef_[0], float(model.intercept_[0])) <= 1e-14


# What is refused, and what is advised.


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC(penalty=None), "needs a penalty.*large C"),
        (LogisticRegression(multi_class="all"), "unknown multi_class 'all': use one of ovr"),
        (LogisticRegression(solver="cmls"), r"'cmls' does not solve loss='logistic'.*use one of.*newton_cholesky"),
        (LinearSVC(loss="squared"), "LinearSVC takes a classification loss"),
        (LinearSVC(class_weight={9: 1.0}), "names 9, which is no class"),
        (LinearSVR(loss="hinge"), "LinearSVR takes a regression loss, one of squared"),
        (LinearSVR(penalty="l3"), "unknown penalty 'l3'"),
        (Ridge(alpha=-0.5), "alpha must be.*negative"),
        (Lasso(alpha=-1.0), "alpha must be.*negative"),
        (ElasticNet(l1_ratio=2.0), "l1_ratio must be between 0 and 1"),
    ],
    ids=str,
)
def test_mistakes_are_named(model: Any, message: str) -> None:
    X, y = data_for(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_rows_that_do_not_fit_are_named() -> None:
    X, y = three_classes()
    for labels in (y[:-1], np.eye(3)[y][:-1] + 0):
        with pytest.raises(ValueError, match="150 rows"):
            LinearSVC().fit(X, labels)
    with pytest.raises(ValueError, match="class 2 has weight 0"):
        LinearSVC().fit(X, y, np.where(y == 2, 0.0, 1.0))


# Elastic nets between the two ends, and forms of the coefficients.


def test_the_ends_of_the_elastic_net_are_lasso_and_ridge() -> None:
    X, y = numbers()
    near = {"tol": 1e-10}
    np.testing.assert_array_equal(
        ElasticNet(0.3, l1_ratio=1.0, **near).fit(X, y).coef_, Lasso(0.3, **near).fit(X, y).coef_
    )
    ridge = Ridge(0.3 * len(y), **near).fit(X, y)
    np.testing.assert_allclose(ElasticNet(0.3, l1_ratio=0.0, **near).fit(X, y).coef_, ridge.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    "model", [LinearSVC("l1", C=0.1), LogisticRegression("l1", C=0.05), Lasso(5.0), Ridge()], ids=str
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_sparsify_and_densify(model: Any, convert: Any) -> None:
    X, y = data_for(model)
    dense = clone(model).fit(X, y)
    before, shape = dense.predict(X), dense.coef_.shape
    sparse = dense.sparsify()
    assert sp.issparse(sparse.coef_) and sparse.sparsify() is sparse
    np.testing.assert_allclose(sparse.predict(convert(X)), before, rtol=1e-10)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(sparse)).predict(X), before, rtol=1e-10)
    assert sparse.densify().coef_.shape == shape
    np.testing.assert_allclose(sparse.predict(convert(X)), before, rtol=1e-10)


def test_lasso_gives_its_coefficients_sparsely() -> None:
    X, y = numbers()
    model = Lasso(5.0).fit(X, y)
    assert model.sparse_coef_.nnz == np.count_nonzero(model.coef_) < X.shape[1]
    np.testing.assert_array_equal(model.sparse_coef_.toarray()[0], model.coef_)


# Raw data: features from 0.001 to 4,000. That a fit has converged is checked by warnings being errors.


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_raw_features_converge(penalty: str, C: float) -> None:
    X, y = load_wine(return_X_y=True)
    for loss in ("hinge", "squared_hinge", "modified_huber"):
        LinearSVC(penalty, loss, C=C).fit(X, y)
    LogisticRegression(penalty, C=C).fit(X, y)
    X, y = load_diabetes(return_X_y=True, scaled=False)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        LinearSVR(loss=loss, penalty=penalty, C=C).fit(X, y)
    for model in (Ridge(C), Lasso(C), ElasticNet(C)):
        model.fit(X, y)


# scikit-learn's tools around the estimators.


@pytest.mark.parametrize("Estimator", CLASSIFIERS + REGRESSORS)
def test_frames_pipelines_pickles_and_clones(Estimator: Any) -> None:
    X, y = data_for(Estimator)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    pipeline = make_pipeline(StandardScaler(), Estimator()).set_output(transform="pandas").fit(frame, y)
    assert pipeline[-1].feature_names_in_.tolist() == list(frame.columns)
    loaded = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(loaded.predict(frame), pipeline.predict(frame))
    assert loaded[-1].certificate_ == pipeline[-1].certificate_
    with pytest.raises(ValueError, match="feature names should match"):
        pipeline.predict(frame.rename(columns={"f0": "g0"}))
    with pytest.raises(ValueError, match="8 features"):
        Estimator().fit(X, y).predict(X[:, :3])
    assert clone(pipeline[-1]).get_params() == pipeline[-1].get_params()


@pytest.mark.parametrize("Estimator", CLASSIFIERS + REGRESSORS)
def test_sample_weights_are_routed(Estimator: Any) -> None:
    X, y = data_for(Estimator)
    weights = np.ones(len(y))
    weights[::3] = 5.0
    name = "alpha" if "alpha" in Estimator().get_params() else "C"
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = Estimator().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(estimator, {name: [0.1]}, cv=2)
        search.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.coef_, Estimator(**{name: 0.1}).fit(X, y, weights).coef_)


def test_cross_validation_in_two_processes() -> None:
    X, y = three_classes()
    model = make_pipeline(StandardScaler(), LogisticRegression(solver=DualCD(shrinking=False)))
    one, two = (cross_validate(model, X, y, cv=3, n_jobs=n)["test_score"] for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_in_one_call(method: str) -> None:
    X, y = three_classes()
    calibrated = LinearSVC(C=0.1).calibrated(method=method, cv=3).fit(X, y)
    chances = calibrated.predict_proba(X)
    assert chances.shape == (150, 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert calibrated.score(X, y) > 0.6
