"""The search for one C of all classes at once: maximum entropy, and Crammer and Singer's SVM."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegressionCV as PeerCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from multiclass_data import class_data
from widemargin import (
    CrammerSingerProblem,
    LinearSVC,
    LinearSVCCV,
    LogisticRegression,
    LogisticRegressionCV,
    MaximumEntropyProblem,
    find_C,
    path,
    solve,
)
from widemargin.selection import fold_run
from widemargin.selection.values import first_C
from widemargin.selection.walk import Visited, predicted_dual

CS = [0.01, 0.1, 1.0, 10.0]
JOINT = [MaximumEntropyProblem, CrammerSingerProblem]


@pytest.mark.parametrize("Kind", JOINT)
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_every_point_of_a_path_is_proven_and_that_of_a_separate_fit(Kind, intercept):
    X, y = class_data(1, rows=120)
    problem = Kind(X, y, intercept=intercept)
    found = path(problem, CS, tol=1e-7)
    assert found.converged
    for C, solution in zip(CS, found, strict=True):
        alone = solve(Kind(X, y, C, intercept=intercept), tol=1e-7)
        assert solution.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-7)
        assert problem.with_C(C).certificate(solution.coef, 0.0, solution.dual).relative_gap <= 1e-7


@pytest.mark.parametrize("solver", ["tron", "multinomial_dual_cd", "lbfgs", "crammer_singer"])
def test_a_path_by_every_solver(solver):
    X, y = class_data(2, rows=100)
    Kind = CrammerSingerProblem if solver == "crammer_singer" else MaximumEntropyProblem
    assert path(Kind(X, y, intercept="free"), CS, solver, tol=1e-6).converged


@pytest.mark.parametrize("Kind", JOINT)
def test_predicted_duals_stay_between_their_bounds(Kind):
    X, y = class_data(3)
    at = {C: Visited(C, solve(Kind(X, y, C), tol=1e-6)) for C in (0.1, 0.2)}
    problem = Kind(X, y, 0.4)
    v = predicted_dual(problem, at[0.2], at[0.1])
    np.testing.assert_allclose(v, problem.clipped_dual(v), atol=1e-12)
    np.testing.assert_allclose(v.sum(axis=1), 0.0, atol=1e-12)
    assert problem.dual_value(v) > problem.dual_value(at[0.2].solution.dual)


def test_warm_starts_save_passes():
    values = [2.0**k for k in range(-8, 1)]
    along = alone = 0.0
    for seed in (4, 5, 6):
        X, y = class_data(seed, rows=400, columns=30)
        problem = CrammerSingerProblem(X, y, intercept="free")
        along += sum(solution.trace[-1].passes for solution in path(problem, values))
        alone += sum(solve(problem.with_C(C)).trace[-1].passes for C in values)
    assert along < alone  # by a tenth: like the hinge loss, it gains little, because most variables sit at bounds


@pytest.mark.parametrize("Kind", JOINT)
def test_restricted_and_taken_rows_are_the_same_problem(Kind):
    X, y = class_data(5, rows=80)
    problem = Kind(X, y, 0.5, intercept="free", sample_weight=1.0 + np.arange(80) % 3)
    rows = np.flatnonzero(np.arange(80) % 4)
    coef = np.random.default_rng(0).standard_normal(problem.size)
    assert problem.taken(rows).objective(coef) == pytest.approx(problem.restricted(rows).objective(coef), rel=1e-12)
    with pytest.raises(ValueError, match="at least one row must count"):
        problem.restricted([])
    with pytest.raises(ValueError, match="C must be a finite number"):
        problem.with_C(0.0)


@pytest.mark.parametrize("Kind", JOINT)
def test_scores_are_those_of_explicit_cross_validation(Kind):
    X, y = class_data(6, rows=150)
    labels = np.array(list("abcd"))[y]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, labels))
    found = find_C(X, labels, Kind.loss.name, Cs=CS, cv=folds, tol=1e-8, early_stopping=False)
    for fold, (fitted, held_out) in enumerate(folds):
        for at, C in enumerate(CS):
            problem = Kind(X[fitted], labels[fitted], C, intercept="free")
            W, b = problem.decode(solve(problem, tol=1e-8).coef)
            right = problem.classes[(X[held_out] @ W.T + b).argmax(axis=1)] == labels[held_out]
            assert found.scores[at, fold] == pytest.approx(right.mean(), abs=1e-12)
    assert found.solution.certificate.relative_gap <= 1e-8
    assert found.best_C == CS[int(found.mean_scores.argmax())]


def test_shared_rows_and_threads_give_the_same_search(monkeypatch):
    X, y = class_data(7, rows=150)
    first = find_C(X, y, "multinomial", Cs=CS, tol=1e-9)
    threads = find_C(X, y, "multinomial", Cs=CS, tol=1e-9, n_jobs=2)
    np.testing.assert_array_equal(first.solution.coef, threads.solution.coef)
    monkeypatch.setattr(fold_run, "MOST_ENTRIES_COPIED", 0)
    shared = find_C(X, y, "multinomial", Cs=CS, tol=1e-9)
    np.testing.assert_array_equal(first.scores, shared.scores)
    np.testing.assert_allclose(first.solution.coef, shared.solution.coef, atol=1e-3)


def test_weights_count_as_repetitions():
    X, y = class_data(8, rows=90)
    weights = 1.0 + np.arange(90) % 2
    twice = np.repeat(np.arange(90), weights.astype(int))
    fold = np.arange(90) % 3
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    repeated = [(np.flatnonzero(fold[twice] != k), np.flatnonzero(fold[twice] == k)) for k in range(3)]
    asked = {"Cs": CS, "tol": 1e-9, "scoring": "neg_log_loss"}
    once = find_C(X, y, "multinomial", cv=folds, sample_weight=weights, **asked)
    again = find_C(X[twice], y[twice], "multinomial", cv=repeated, **asked)
    np.testing.assert_allclose(once.scores, again.scores, atol=1e-4)


def test_the_search_and_the_model_are_those_of_scikit_learn():
    X, y = class_data(9, rows=200)
    X, labels = X.toarray(), np.array(["b", "a", "d", "c"])[y]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, labels))
    ours = LogisticRegressionCV(Cs=CS, cv=folds, scoring="neg_log_loss", tol=1e-9, early_stopping=False).fit(X, labels)
    peer = PeerCV(
        Cs=CS, cv=folds, scoring="neg_log_loss", tol=1e-9, max_iter=10_000, l1_ratios=(0,), use_legacy_attributes=True
    ).fit(X, labels)
    np.testing.assert_allclose(ours.C_, peer.C_)
    np.testing.assert_allclose(ours.Cs_, peer.Cs_)
    assert list(ours.scores_) == list(peer.scores_)
    for c in "abcd":
        np.testing.assert_allclose(ours.scores_[c], peer.scores_[c].reshape(3, 4), atol=1e-4)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-3)
    assert len(ours.searches_) == len(ours.certificates_) == 1


@pytest.mark.parametrize(
    ("searching", "plain"),
    [
        (LogisticRegressionCV(Cs=CS, tol=1e-8), LogisticRegression(tol=1e-8)),
        (LinearSVCCV(Cs=CS, tol=1e-8, multi_class="crammer_singer"), LinearSVC(tol=1e-8, multi_class="crammer_singer")),
    ],
    ids=["multinomial", "crammer_singer"],
)
def test_the_refitted_model_is_that_of_the_chosen_value(searching, plain):
    X, y = class_data(10, rows=150)
    model = searching.fit(X, y)
    assert (model.searches_[0].best_C == model.C_).all()
    again = plain.set_params(C=model.C_[0]).fit(X, y)
    assert model.certificate_.primal == pytest.approx(again.certificate_.primal, rel=1e-7)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert model.certificate_.relative_gap <= 1e-8


def test_what_was_tried_is_told_for_every_class_or_pair():
    X, y = class_data(11, rows=120, classes=3)
    labels = np.array(["x", "y", "z"])[y]
    ovr = LinearSVCCV(cv=3).fit(X, labels)
    assert list(ovr.scores_) == ["x", "y", "z"]
    for number, found in enumerate(ovr.searches_):
        table = ovr.scores_["xyz"[number]]
        assert table.shape == (3, len(ovr.Cs_))
        np.testing.assert_array_equal(table[:, np.isin(ovr.Cs_, found.Cs)], found.scores.T)
        assert np.isnan(table[:, ~np.isin(ovr.Cs_, found.Cs)]).all()
    assert list(LinearSVCCV(cv=3, multi_class="ovo").fit(X, labels).scores_) == [("x", "y"), ("x", "z"), ("y", "z")]
    two = LogisticRegressionCV(cv=3).fit(X[y < 2], labels[y < 2])
    assert list(two.scores_) == ["y"] and two.C_.shape == (1,)


def test_a_class_that_a_fold_lacks_does_not_end_the_search():
    X, y = class_data(12, rows=60, classes=3)
    y[0] = 3  # one row alone: some fold must hold it out
    model = LogisticRegressionCV(scoring="neg_log_loss", Cs=CS).fit(X, y)
    assert np.isfinite(model.scores_[0]).all() and model.certificate_.relative_gap <= model.tol
    assert log_loss(y, model.predict_proba(X)) < np.log(4)
    LinearSVCCV(multi_class="crammer_singer", Cs=CS).fit(X, y)


@pytest.mark.parametrize("Kind", JOINT)
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_the_first_value_is_where_C_begins_to_matter(Kind, intercept):
    X, y = class_data(13, rows=200)
    problem = Kind(X, y, intercept=intercept)
    first = first_C(problem)

    def direction(C):
        W = solve(problem.with_C(C), tol=1e-10).coef[: problem.n_penalised]
        return W / np.linalg.norm(W)

    assert direction(first / 64) @ direction(first / 128) > 0.999
    assert direction(first / 64) @ direction(64 * first) < 0.99


def test_what_a_search_cannot_do_it_says_with_what_can():
    X, y = class_data(14)
    with pytest.raises(ValueError, match="loss='multinomial' or 'crammer_singer'"):
        find_C(X, y)
    with pytest.raises(ValueError, match="needs penalty='l2'"):
        find_C(X, y, "multinomial", "l1")
    for method in ("ovr", "crammer_singer"):
        with pytest.raises(ValueError, match=r"needs probabilities, .* use a logistic loss"):
            LinearSVCCV(multi_class=method, scoring="neg_log_loss").fit(X, y)
