"""One C of several models: one against the rest, one against one, and classes with weights."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from multiclass_data import class_data
from widemargin import LinearSVC, LogisticRegression, find_C
from widemargin.selection import fold_run

CS = [0.01, 0.1, 1.0, 10.0]
METHODS = ["ovr", "ovo", "dag", "crammer_singer"]


def labelled(seed: int, rows: int = 150, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    X, y = class_data(seed, rows=rows, classes=classes)
    return X, np.array(list("dbca"))[y]


@pytest.mark.parametrize("method", METHODS)
def test_scores_are_those_of_explicit_cross_validation(method):
    X, y = labelled(1)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    found = find_C(X, y, "hinge", Cs=CS, cv=folds, tol=1e-8, multi_class=method, early_stopping=False)
    assert all(candidate.converged for candidate in found.candidates)
    for C, scores in zip(CS, found.scores, strict=True):
        model = LinearSVC(loss="hinge", C=C, tol=1e-8, multi_class=method)
        np.testing.assert_allclose(scores, cross_val_score(model, X, y, cv=folds), atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_the_models_are_those_of_the_chosen_value(method, penalty):
    if method == "crammer_singer" and penalty == "l1":
        pytest.skip("all classes at once know one penalty")
    X, y = labelled(2)
    weights = 1.0 + np.arange(len(y)) % 2
    asked = {"penalty": penalty, "tol": 1e-7, "multi_class": method, "class_weight": "balanced"}
    found = find_C(X, y, Cs=CS, cv=3, sample_weight=weights, **asked)
    alone = LinearSVC(C=found.best_C, **asked).fit(X, y, weights)
    assert found.models.coef.shape == alone.coef_.shape
    assert len(found.solutions) == len(alone.solutions_)
    for one, other in zip(found.solutions, alone.solutions_, strict=True):
        assert one.converged
        assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=3e-7)
    predicted = alone.predict(X)
    alone.coef_, alone.intercept_ = found.models.coef, found.models.intercept
    assert np.mean(alone.predict(X) == predicted) > 0.99  # a row may lie on the border


@pytest.mark.parametrize("method", ["ovr", "ovo"])
def test_weights_of_classes_count_in_the_fits(method):
    X, y = labelled(3)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    asked = {"Cs": CS, "cv": folds, "tol": 1e-8, "multi_class": method, "early_stopping": False}
    by_class = find_C(X, y, class_weight={"a": 5.0, "c": 0.5}, **asked)
    factors = np.select([y == "a", y == "c"], [5.0, 0.5], 1.0)
    at = {"Cs": [by_class.best_C]}  # weights of rows count in scores too, which may prefer another value
    by_row = find_C(X, y, sample_weight=factors, **asked | at)
    for one, other in zip(by_class.solutions, by_row.solutions, strict=True):
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-3)
    plain = find_C(X, y, **asked | at)
    assert not np.allclose(by_class.models.coef, plain.models.coef, atol=1e-2)
    # A row counts once in the score, whatever the weight of its class.
    for C, scores in zip(CS, by_class.scores, strict=True):
        model = LinearSVC(C=C, tol=1e-8, multi_class=method, class_weight={"a": 5.0, "c": 0.5})
        np.testing.assert_allclose(scores, cross_val_score(model, X, y, cv=folds), atol=1e-12)


def test_weights_of_two_classes_count_too():
    X, y = labelled(4, classes=2)
    found = find_C(X, y, Cs=CS, tol=1e-9, class_weight={"d": 4.0})
    alone = LinearSVC(C=found.best_C, tol=1e-9, class_weight={"d": 4.0}).fit(X, y)
    assert found.solution.certificate.primal == pytest.approx(alone.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_two_classes_are_one_model_however_more_would_be_told_apart(method):
    X, y = labelled(5, classes=2)
    plain, named = find_C(X, y, Cs=CS), find_C(X, y, Cs=CS, multi_class=method)
    np.testing.assert_array_equal(plain.scores, named.scores)
    np.testing.assert_array_equal(plain.solution.coef, named.solution.coef)


@pytest.mark.parametrize("method", ["ovr", "ovo"])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_threads_shared_rows_and_memory_change_no_score(method, loss, monkeypatch):
    X, y = labelled(6)
    asked = {"Cs": CS, "cv": 3, "tol": 1e-8, "score_tol": 1e-8, "multi_class": method}
    first = find_C(X, y, loss, **asked)
    threads = find_C(X, y, loss, n_jobs=2, **asked)
    np.testing.assert_array_equal(first.scores, threads.scores)
    np.testing.assert_array_equal(first.models.coef, threads.models.coef)
    for name in ("MOST_HELD", "MOST_ENTRIES_COPIED"):
        monkeypatch.setattr(fold_run, name, 0)
        other = find_C(X, y, loss, **asked)
        np.testing.assert_array_equal(first.scores, other.scores)
        np.testing.assert_allclose(first.models.coef, other.models.coef, atol=1e-2)


@pytest.mark.parametrize("method", ["ovr", "ovo"])
def test_each_model_continues_from_its_own_fits(method, monkeypatch):
    X, y = labelled(7, rows=400)
    asked = {"Cs": 2.0 ** np.arange(-8, 3), "cv": 3, "multi_class": method, "early_stopping": False}
    warm = find_C(X, y, **asked)
    monkeypatch.setattr(fold_run, "MOST_HELD", 0)
    cold = find_C(X, y, **asked)
    assert sum(one.passes for one in warm.candidates) < 0.8 * sum(one.passes for one in cold.candidates)


@pytest.mark.parametrize("method", ["ovr", "ovo"])
@pytest.mark.parametrize("most_copied", [0, 10**9])
def test_a_class_that_a_fold_lacks_does_not_end_the_search(method, most_copied, monkeypatch):
    monkeypatch.setattr(fold_run, "MOST_ENTRIES_COPIED", most_copied)
    X, y = labelled(8, rows=60, classes=3)
    y[0] = "z"  # one row alone: some fold must hold it out, and cannot predict it
    found = find_C(X, y, Cs=CS, multi_class=method)
    assert found.scores.shape == (4, 5) and np.isfinite(found.scores).all()
    assert all(solution.converged for solution in found.solutions)


def test_scores_of_probabilities():
    X, y = labelled(9)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    found = find_C(X, y, "logistic", Cs=[0.5], cv=folds, tol=1e-9, scoring="neg_log_loss", multi_class="ovr")
    model = LogisticRegression(C=0.5, tol=1e-9, multi_class="ovr")
    expected = cross_val_score(model, X, y, cv=folds, scoring="neg_log_loss")
    np.testing.assert_allclose(found.scores[0], expected, atol=1e-4)
    with pytest.raises(ValueError, match="needs probabilities"):
        find_C(X, y, "logistic", Cs=[0.5], scoring="neg_log_loss", multi_class="ovo")


def test_a_limit_on_time_is_for_all_models():
    X, y = labelled(10)
    found = find_C(X, y, Cs=CS, multi_class="ovr", max_seconds=1e-6)
    assert found.best_C == CS[0] and found.ended == "the time ran out"
    assert found.models.coef.shape == (4, X.shape[1])


def test_mistakes_are_explained():
    X, y = labelled(11)
    with pytest.raises(ValueError, match="multi_class='ovr' or 'ovo'"):
        find_C(X, y)
    with pytest.raises(ValueError, match="unknown multi_class 'none'"):
        find_C(X, y, multi_class="none")
    with pytest.raises(ValueError, match="class_weight must be None, 'balanced' or a dict"):
        find_C(X, y, class_weight="even", multi_class="ovr")
    with pytest.raises(ValueError, match="'q', which is no class of y"):
        find_C(X, y, class_weight={"q": 2.0}, multi_class="ovr")
    for words in ({"multi_class": "ovr"}, {"class_weight": "balanced"}):
        with pytest.raises(ValueError, match="loss='squared' is for numbers"):
            find_C(X, np.arange(len(y)), "squared", **words)
    with pytest.raises(ValueError, match="does not go with loss='logistic'"):
        find_C(X, y, "logistic", multi_class="crammer_singer")
