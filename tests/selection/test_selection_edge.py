"""A search is not fooled by scores that lie on a plateau at small C, widens its range, and tells where that ends."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from support import random_problem
from widemargin import EarlyStopping, LinearSVCCV, LogisticRegressionCV, Problem, find_C, solve, write_svmlight
from widemargin.cli import main
from widemargin.selection import climb, values
from widemargin.selection.ahead import STEPS, promising, savings_ahead
from widemargin.selection.values import Values


def two_classes(seed, rows=200, columns=10):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    w = rng.standard_normal(columns)
    r = X @ w + 0.5 * np.linalg.norm(w) * rng.standard_normal(rows)
    return rng, X, r


def beside_a_huge_feature(seed):
    """Unit features and one of a million that says nothing: it alone is seen until C has grown by twelve decades."""
    rng, X, r = two_classes(seed)
    return np.column_stack([X, 1e6 * rng.standard_normal(len(X))]), (r > 0).astype(int)


def scales_over_ten_decades(seed):
    rng, X, r = two_classes(seed, 300)
    return X * 10 ** rng.uniform(-4, 6, X.shape[1]), (r > 0).astype(int)


def curves(seed):
    """Forty readings of a smooth curve, the class in what hardly shows: directions, not features, come late."""
    rng = np.random.default_rng(seed)
    k = np.arange(1, 6)
    waves = np.sin(np.pi * np.outer(k, np.linspace(0, 1, 40))) / k[:, None] ** 4
    A = rng.standard_normal((200, 5))
    return 10 * A @ waves, (A[:, 4] + 0.3 * rng.standard_normal(200) > 0).astype(int)


def few_positives(seed):
    _, X, r = two_classes(seed, 300, 5)
    return 1e-3 * X, (r > np.quantile(r, 0.9)).astype(int)


def tiny_features(seed):
    _, X, r = two_classes(seed)
    return 1e-8 * X, (r > 0).astype(int)


def best_of_a_wide_grid(X, y, loss, penalty, first, **settings):
    grid = first * 8.0 ** np.arange(40)
    return find_C(X, y, loss, penalty, Cs=grid[grid < 1e12 * max(1.0, first)], early_stopping=False, **settings)


KINDS = [beside_a_huge_feature, scales_over_ten_decades, curves, few_positives, tiny_features]


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge"])
@pytest.mark.parametrize("make", KINDS)
def test_a_plateau_at_small_values_is_not_the_end(make, loss):
    for seed in range(2):
        X, y = make(seed)
        found = find_C(X, y, loss)
        wide = best_of_a_wide_grid(X, y, loss, "l2", found.Cs[0], max_seconds=20)
        assert found.best_score >= wide.best_score - max(0.025, wide.best.error), (seed, found, wide)


@pytest.mark.parametrize("make", [scales_over_ten_decades, curves])
def test_neither_with_l1(make):
    X, y = make(3)
    found = find_C(X, y, "squared_hinge", "l1")
    wide = best_of_a_wide_grid(X, y, "squared_hinge", "l1", found.Cs[0], max_seconds=20)
    assert found.best_score >= wide.best_score - max(0.025, wide.best.error)


def test_regression_on_features_of_all_scales():
    rng, X, r = two_classes(4)
    X = X * 10 ** rng.uniform(-4, 6, 10)
    for penalty in ("l2", "l1"):
        assert find_C(X, r, "squared", penalty).best_score > 0.65


@pytest.mark.parametrize("settings", [{"multi_class": "ovr"}, {"multi_class": "ovo"}, {"loss": "multinomial"}])
def test_several_classes_beside_a_huge_feature(settings):
    rng, X, r = two_classes(5, 300)
    y = np.digitize(r, np.quantile(r, [0.33, 0.67]))
    alone = find_C(X, y, **settings).best_score
    assert find_C(np.column_stack([X, 1e6 * rng.standard_normal(300)]), y, **settings).best_score > alone - 0.03


def test_weights_do_not_hide_it():
    X, y = beside_a_huge_feature(6)
    weights = 10.0 ** np.random.default_rng(0).uniform(-3, 3, len(y))
    assert find_C(X, y, "logistic", sample_weight=weights).best_score > 0.7


def test_shared_rows_and_threads_go_the_same_way(monkeypatch):
    X, y = beside_a_huge_feature(7)
    copied = find_C(X, y)
    assert find_C(X, y, n_jobs=2).Cs.tolist() == copied.Cs.tolist()
    monkeypatch.setattr("widemargin.selection.fold_run.MOST_ENTRIES_COPIED", 0)
    shared = find_C(X, y)
    assert shared.best_C == copied.best_C and shared.Cs.tolist() == copied.Cs.tolist()


def test_given_values_end_no_earlier_either():
    X, y = beside_a_huge_feature(8)
    assert find_C(X, y, Cs=4.0 ** np.arange(-22, 4)).best_score > 0.75


# The step ahead.


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge", "squared", "huber"])
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_a_step_ahead_saves_at_small_values_and_not_at_large_ones(loss, intercept):
    problem = random_problem(1, loss, intercept=intercept, rows=300, columns=6)
    fitted, held_out = problem.taken(np.arange(200)), problem.taken(np.arange(200, 300))
    small, large = (
        [one / of for one, of in [savings_ahead(fitted.with_C(C), solve(fitted.with_C(C)), held_out)]]
        for C in (1e-7, 1e5)
    )
    assert small[0].shape == (3 * STEPS,)
    assert promising(small) and not promising(large)


def test_features_that_do_not_vary_and_rows_that_are_all_alike_promise_nothing():
    X = np.column_stack([np.full(60, 1e9), np.zeros(60)])
    problem = Problem(X, np.arange(60) % 2, intercept="free", C=1e-30)
    savings, constant = savings_ahead(problem, solve(problem), problem)
    assert not savings.any() and constant > 0


# The range, and the warning.


def rising(monkeypatch, upwards=True):
    """Scores that get better with every value, up to the last or down to the first."""
    made = climb.candidate_of

    def candidate(C, fits):
        found = made(C, fits)
        score = np.log(C) if upwards else -np.log(C)
        return type(found)(C, (score, score + 0.01), found.nonzeros, found.passes, found.seconds, found.converged)

    monkeypatch.setattr(climb, "candidate_of", candidate)


@pytest.mark.parametrize("early_stopping", [True, False, EarlyStopping(declines=5)])
def test_a_best_value_at_the_upper_end_widens_the_range_and_is_told_if_it_stays_there(monkeypatch, early_stopping):
    _, X, r = two_classes(0, 40, 2)
    monkeypatch.setattr(values, "MOST_DOUBLINGS", 33)
    monkeypatch.setattr(climb.StopWatch, "reason_to_end", lambda *_: None)
    rising(monkeypatch)
    with pytest.warns(UserWarning, match=r"the largest of 34 values tried, .* larger values may be better"):
        found = find_C(X, r > 0, cv=2, early_stopping=early_stopping)
    assert found.edge == "upper" and found.best_C == found.Cs[-1] and len(found.Cs) == 34
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = find_C(X, r > 0, cv=2, Cs=[0.1, 1.0, 10.0])
    assert given.edge is None and given.best_C == 10.0 and len(given.Cs) == 3


def test_a_best_value_at_the_lower_end_widens_it_downwards(monkeypatch):
    _, X, r = two_classes(0, 40, 2)
    rising(monkeypatch, upwards=False)
    with pytest.warns(UserWarning, match=r"the best C is the smallest of .* smaller values may be better"):
        found = find_C(X, r > 0, cv=2)
    assert found.edge == "lower" and found.best_C == found.Cs[0] and np.all(np.diff(found.Cs) > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_C(X, r > 0, penalty="l1", cv=2).edge is None  # below its first value there is no model
        assert find_C(X, r > 0, cv=2, Cs=[0.1, 1.0]).best_C == 0.1


def test_hopeless_targets_end_with_nearly_no_model_and_in_peace():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((60, 20)), rng.standard_normal(60)
    found = find_C(X, y, "squared")
    assert found.edge is None and found.best_score > -0.3
    assert found.best_score >= find_C(X, y, "squared", Cs=[found.Cs[0], 1.0]).best_score


def test_a_search_cut_short_where_it_was_best_says_so(monkeypatch):
    _, X, r = two_classes(0, 40, 2)
    rising(monkeypatch)
    with pytest.warns(UserWarning, match="the time ran out: larger values may be better.*give it more time"):
        found = find_C(X, r > 0, cv=2, max_seconds=1e-6)
    assert found.edge == "upper" and found.ended == "the time ran out"


def test_estimators_tell_of_their_own_range_and_not_of_a_users(monkeypatch):
    _, X, r = two_classes(0, 40, 2)
    monkeypatch.setattr(values, "MOST_DOUBLINGS", 31)
    monkeypatch.setattr(climb.StopWatch, "reason_to_end", lambda *_: None)
    rising(monkeypatch)
    with pytest.warns(UserWarning, match="the best C is the largest"):
        LinearSVCCV(cv=2).fit(X, r > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegressionCV(Cs=4, cv=2).fit(X, r > 0)
        LinearSVCCV(Cs=[0.1, 1.0], cv=2).fit(X, r > 0)


def test_the_command_line_finds_the_value_beyond_the_plateau(tmp_path, capsys):
    X, y = beside_a_huge_feature(9)
    write_svmlight(tmp_path / "data.svm", X, y)
    assert not main(["train", "-C", "--intercept", "free", str(tmp_path / "data.svm")])
    words = capsys.readouterr().out.split()
    assert float(words[words.index("accuracy") + 2].rstrip("%")) > 75


def test_a_range_is_widened_up_to_its_limits():
    own = Values([1.0, 2.0], own=True)
    for _ in range(500):
        own.widen()
    assert len(own.listed) == values.MOST_DOUBLINGS + 1
    far = Values([1e99], own=True)
    for _ in range(10):
        far.widen()
    assert far.listed[-1] < 1e101
    below = list(own.below())
    assert below[0] == 0.5 and len(below) == values.DOUBLINGS
