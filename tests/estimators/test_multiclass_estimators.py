"""multi_class= of the estimators: the models of this package, their conventions, and what does not go together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression as PeerRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from multiclass_data import class_data
from widemargin import (
    CrammerSingerProblem,
    LinearSVC,
    LogisticRegression,
    MaximumEntropyProblem,
    fit_dag,
    fit_joint,
    fit_one_vs_one,
)
from widemargin.solvers import MultinomialDualCD


def test_crammer_singer_and_multinomial_are_the_joint_problems():
    X, y = class_data(1, rows=150)
    labels = np.array(list("abcd"))[y]
    svm = LinearSVC(multi_class="crammer_singer", C=0.5, tol=1e-7).fit(X, labels)
    joint = fit_joint(CrammerSingerProblem(X, labels, C=0.5, intercept="free"), tol=1e-7)
    np.testing.assert_array_equal(svm.coef_, joint.coef)
    np.testing.assert_array_equal(svm.predict(X), joint.predict(X))
    entropy = LogisticRegression(multi_class="multinomial", tol=1e-10).fit(X, labels)
    problem = MaximumEntropyProblem(X, labels, intercept="free")
    peer = PeerRegression(tol=1e-10, max_iter=10_000).fit(X.toarray(), labels)
    assert entropy.certificate_.primal == pytest.approx(
        problem.objective(np.hstack([peer.coef_, peer.intercept_[:, None]]).T.ravel()), rel=1e-6
    )
    np.testing.assert_allclose(entropy.predict_proba(X), peer.predict_proba(X.toarray()), atol=1e-3)


def test_pairs_are_those_of_one_against_one():
    X, y = class_data(2, rows=150, classes=5)
    for name, fit in (("ovo", fit_one_vs_one), ("dag", fit_dag)):
        model = LinearSVC(multi_class=name, tol=1e-6, n_jobs=2).fit(X, y)
        alone = fit(X, y, intercept="free", tol=1e-6)
        np.testing.assert_array_equal(model.coef_, alone.coef)
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))
        assert model.decision_function(X).shape == (150, 5)


@pytest.mark.parametrize("weights", ["balanced", {0: 2.0, 1: 1.0, 2: 1.0, 3: 1.0}])
@pytest.mark.parametrize("name", ["ovo", "dag", "crammer_singer"])
def test_class_weights_reach_every_method(name, weights):
    X, y = class_data(3, rows=150)
    plain = LinearSVC(multi_class=name, tol=1e-5).fit(X, y)
    weighted = LinearSVC(multi_class=name, tol=1e-5, class_weight=weights).fit(X, y)
    assert not np.allclose(plain.coef_, weighted.coef_, atol=1e-4)


def test_what_does_not_go_together_is_explained():
    X, y = class_data(4)
    with pytest.raises(ValueError, match="does not go with loss='squared_hinge'"):
        LinearSVC(multi_class="multinomial").fit(X, y)
    with pytest.raises(ValueError, match="does not go with loss='logistic'"):
        LogisticRegression(multi_class="crammer_singer").fit(X, y)
    with pytest.raises(ValueError, match="needs penalty='l2'"):
        LogisticRegression(multi_class="multinomial", penalty="l1").fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(multi_class="crammer_singer", solver="crammer_singer"),
        LogisticRegression(solver="multinomial_dual_cd"),
        LogisticRegression(solver=MultinomialDualCD()),
    ],
    ids=["crammer_singer", "by name", "as an object"],
)
def test_a_solver_of_all_classes_gives_way_where_there_are_two(model):
    X, y = class_data(6)
    two = clone(model).fit(X, y > 1)
    assert two.coef_.shape == (1, 10) and two.certificate_.relative_gap <= two.tol
    assert clone(model).fit(X, np.eye(4, dtype=int)[y]).coef_.shape == (4, 10)
    with pytest.raises(ValueError, match="does not solve"):
        clone(model).set_params(multi_class="ovr").fit(X, y)


@pytest.mark.parametrize("name", ["ovo", "dag"])
def test_votes_are_no_probabilities(name):
    X, y = class_data(5)
    model = LogisticRegression(multi_class=name)
    assert not hasattr(model, "predict_proba") and not hasattr(model.fit(X, y), "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError) as told:
        model.predict_proba(X)
    assert "use 'multinomial' or 'ovr'" in str(told.value.__cause__)
    assert hasattr(model.fit(X, y > 1), "predict_proba")  # two classes are one model
    stacked = StackingClassifier([("votes", LogisticRegression(multi_class=name))], cv=2).fit(X, y)
    assert stacked.stack_method_ == ["decision_function"]


@pytest.mark.parametrize("name", ["auto", "multinomial", "ovr", "a mistake"])
def test_other_methods_have_probabilities_before_and_after_the_fit(name):
    X, y = class_data(5)
    assert hasattr(LogisticRegression(multi_class=name), "predict_proba")
    if name != "a mistake":
        np.testing.assert_allclose(LogisticRegression(multi_class=name).fit(X, y).predict_proba(X).sum(axis=1), 1.0)


CHECKED = [
    LinearSVC(multi_class="ovo", tol=1e-13),
    LinearSVC(multi_class="dag", tol=1e-13),
    LinearSVC(multi_class="crammer_singer", tol=1e-10),
    LogisticRegression(multi_class="multinomial", tol=1e-15),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*SCIPY_ARRAY_API")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # scikit-learn's own, on NaN
@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
