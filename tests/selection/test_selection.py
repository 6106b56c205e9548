"""Paths over C equal separate fits; searches equal explicit cross-validation; stopping early changes no choice."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from support import random_data, random_problem, real_data
from widemargin import EarlyStopping, LinearSVC, Problem, find_C, path, solve
from widemargin.objective.losses import LOSSES
from widemargin.selection.folds import make_folds
from widemargin.selection.values import first_C
from widemargin.selection.walk import Visited, Walk, predicted_dual
from widemargin.solvers.effort import Effort

CS = [0.01, 0.1, 1.0, 10.0]
# One solver for each kind of penalty and loss.
KINDS = [(loss, "l2", "dual_cd") for loss in LOSSES]
KINDS += [("squared", "l1", "lasso_cd"), ("logistic", "l1", "newglmnet"), ("squared_hinge", "l1", "newglmnet")]


def labelled(seed, rows=120):
    X, response = random_data(seed, rows=rows)
    return X, np.sign(response + 0.8 * np.random.default_rng(seed).standard_normal(rows))


# Problems that share data.


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_another_C_and_fewer_rows_are_the_problem_they_say(intercept):
    X, response = random_data(3)
    y = np.sign(response)
    weights = np.linspace(0.5, 2, len(y))
    problem = Problem(X, y, C=0.7, intercept=intercept, sample_weight=weights)
    w = np.linspace(-1, 1, X.shape[1])
    other = Problem(X, y, C=3.0, intercept=intercept, sample_weight=weights)
    assert problem.with_C(3.0).objective(w, 0.1) == pytest.approx(other.objective(w, 0.1), rel=1e-12)
    rows = np.arange(5, 50)
    fewer = Problem(X[rows], y[rows], C=0.7, intercept=intercept, sample_weight=weights[rows])
    assert problem.restricted(rows).objective(w, 0.1) == pytest.approx(fewer.objective(w, 0.1), rel=1e-12)
    assert problem.restricted(rows).X is problem.X
    found, direct = solve(problem.restricted(rows), tol=1e-10), solve(fewer, tol=1e-10)
    np.testing.assert_allclose(found.coef, direct.coef, atol=1e-4)


def test_bad_C_and_no_rows_are_refused():
    problem = random_problem(0, "hinge")
    for C in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="C must be a finite number > 0"):
            problem.with_C(C)
    with pytest.raises(ValueError, match="not finite at C="):
        Problem([[1.0], [2.0]], [0, 1], sample_weight=[1e10, 1.0]).with_C(1e300)
    with pytest.raises(ValueError, match="at least one row must count"):
        problem.restricted(np.array([], dtype=int))


# Paths.


@pytest.mark.parametrize(("loss", "penalty", "solver"), KINDS)
@pytest.mark.parametrize("intercept", ["regularized", "free"])
def test_path_equals_separate_fits(loss, penalty, solver, intercept):
    problem = random_problem(1, loss, penalty, intercept)
    found = path(problem, CS, solver, tol=1e-7)
    assert found.converged
    for C, solution in zip(CS, found, strict=True):
        alone = solve(problem.with_C(C), solver, tol=1e-7)
        scale = abs(alone.certificate.primal)
        assert abs(solution.certificate.primal - alone.certificate.primal) <= 2e-7 * scale
        assert solution.certificate.relative_gap <= 1e-7
        check = problem.with_C(C).certificate(solution.coef, solution.intercept, solution.dual)
        assert check.gap <= 1.01e-7 * scale + 1e-12


def test_path_keeps_the_order_and_repeats_of_the_values():
    problem = random_problem(2, "hinge")
    found = path(problem, [1.0, 0.1, 1.0], tol=1e-6)
    assert found.Cs == (1.0, 0.1, 1.0)
    assert found[0] is found[2]
    table = found.to_dict()
    assert table["C"] == [1.0, 0.1, 1.0]
    assert all(len(column) == 3 for column in table.values())


@pytest.mark.parametrize("Cs", [[], 1.0, [[1.0]], [1.0, -1.0], [0.0], [np.nan]])
def test_path_refuses_bad_values(Cs):
    with pytest.raises(ValueError, match="C"):
        path(random_problem(0, "hinge"), Cs)


@pytest.mark.parametrize("loss", list(LOSSES))
def test_predicted_dual_is_feasible_and_exact_in_the_limits(loss):
    problem = random_problem(4, loss)
    walk = Walk(problem, Effort("dual_cd", tol=1e-9))
    solutions = [Visited(C, walk.to(C)) for C in (1e-6, 2e-6)]
    ahead = predicted_dual(problem.with_C(4e-6), solutions[1], solutions[0])
    assert np.isfinite(problem.with_C(4e-6).conjugate_sum(-ahead))
    exact = solve(problem.with_C(4e-6), "dual_cd", tol=1e-9).dual
    np.testing.assert_allclose(ahead, exact, atol=1e-3 * np.abs(exact).max())
    big = predicted_dual(problem.with_C(1e3), solutions[1], None)
    assert np.isfinite(problem.with_C(1e3).conjugate_sum(-big))


@pytest.mark.parametrize(("loss", "share"), [("squared_hinge", 0.85), ("logistic", 0.85), ("hinge", 1.0)])
def test_warm_starts_save_passes(loss, share):
    """Much for the smooth losses; little for the hinge, whose dual variables jump between their bounds."""
    X, y = real_data("reuters_moneyfx")
    problem = Problem(X, y, loss=loss)
    Cs = 2.0 ** np.arange(-4, 5)
    warm = sum(path(problem, Cs, "dual_cd").to_dict()["passes"])
    cold = sum(solve(problem.with_C(C), "dual_cd").trace[-1].passes for C in Cs)
    assert warm < share * cold


# Folds.


def test_folds_split_the_rows():
    X, y = labelled(0)
    folds = make_folds(Problem(X, y), 5)
    assert sorted(np.concatenate([fold.held_out for fold in folds])) == list(range(len(y)))
    for fold in folds:
        assert set(fold.fitted).isdisjoint(fold.held_out)
        assert abs((y[fold.held_out] > 0).mean() - (y > 0).mean()) < 0.05


def test_folds_that_cannot_work_are_refused():
    X, y = labelled(0)
    problem = Problem(X, y)
    everything = np.arange(len(y))
    with pytest.raises(ValueError, match="one class only"):
        make_folds(problem, [(np.flatnonzero(y > 0), np.flatnonzero(y < 0))])
    with pytest.raises(ValueError, match="holds no row out"):
        make_folds(problem, [(everything, everything[:0])])
    with pytest.raises(ValueError, match="makes no folds"):
        make_folds(problem, [])
    with pytest.raises(ValueError, match="no row whose weight"):
        make_folds(problem, [(everything[:0], everything)])


@pytest.mark.parametrize("loss", list(LOSSES))
def test_taken_rows_and_dual_domain(loss):
    problem = random_problem(6, loss, "l2", "free")
    rows = np.arange(3, 40)
    w = np.linspace(-1, 1, problem.X.shape[1])
    assert problem.taken(rows).objective(w, 0.2) == pytest.approx(problem.restricted(rows).objective(w, 0.2), rel=1e-12)
    lower, upper = problem.restricted(rows).dual_domain()
    left_out = np.setdiff1d(np.arange(problem.X.shape[0]), rows)
    assert not lower[left_out].any() and not upper[left_out].any()
    expected = problem.loss.dual_bounds(problem.y[rows])
    for bounds, side in zip((lower, upper), expected, strict=True):
        np.testing.assert_allclose(bounds[rows], side * problem.weights[rows])


def test_shared_and_copied_rows_give_the_same_search(monkeypatch):
    X, y = labelled(8)
    copied = find_C(X, y, Cs=CS, tol=1e-8, score_tol=1e-8)
    monkeypatch.setattr("widemargin.selection.fold_run.MOST_ENTRIES_COPIED", 0)
    shared = find_C(X, y, Cs=CS, tol=1e-8, score_tol=1e-8)
    np.testing.assert_allclose(copied.scores, shared.scores, atol=1e-12)
    np.testing.assert_allclose(copied.solution.coef, shared.solution.coef, atol=1e-3)


def test_looser_fits_score_within_the_scores_own_error():
    X, y = labelled(9, rows=400)
    loose, tight = (find_C(X, y, Cs=CS, score_tol=tol, early_stopping=False) for tol in (1e-2, 1e-8))
    error = tight.scores.std(axis=1, ddof=1) / np.sqrt(tight.scores.shape[1])
    assert (np.abs(loose.mean_scores - tight.mean_scores) <= error).all()
    assert loose.solution.certificate.relative_gap <= 1e-3
    with pytest.raises(ValueError, match="score_tol"):
        find_C(X, y, score_tol=-1.0)


# Searches.


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "modified_huber"])
def test_scores_equal_explicit_cross_validation(loss):
    X, y = labelled(5)
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    found = find_C(X, y, loss, Cs=CS, cv=folds, tol=1e-8, intercept="regularized", early_stopping=False)
    assert all(candidate.converged for candidate in found.candidates)
    for C, scores in zip(found.Cs, found.scores, strict=True):
        model = LinearSVC(loss=loss, C=C, tol=1e-8, intercept="regularized")
        np.testing.assert_allclose(scores, cross_val_score(model, X, y, cv=folds), atol=1e-12)


def test_scores_equal_those_of_scikit_learn():
    from sklearn.linear_model import Ridge
    from sklearn.svm import LinearSVC as PeerSVC

    X, y = labelled(6)
    folds = StratifiedKFold(3, shuffle=True, random_state=2)
    found = find_C(X, y, Cs=CS, cv=folds, tol=1e-10, intercept="regularized", early_stopping=False)
    for C, scores in zip(found.Cs, found.scores, strict=True):
        peer = PeerSVC(C=C, tol=1e-10, max_iter=100_000, random_state=0)
        np.testing.assert_allclose(scores, cross_val_score(peer, X, y, cv=folds), atol=1e-12)
    X, target = random_data(6, rows=120)
    splits = KFold(3, shuffle=True, random_state=2)
    found = find_C(X.toarray(), target, "squared", Cs=CS, cv=splits, tol=1e-12, early_stopping=False)
    for C, scores in zip(found.Cs, found.scores, strict=True):
        peer = Ridge(alpha=1 / (2 * C))
        np.testing.assert_allclose(scores, cross_val_score(peer, X.toarray(), target, cv=splits), atol=1e-5)


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "balanced_accuracy", "neg_log_loss", "average_precision"])
def test_scikit_learns_scores_by_name(scoring):
    X, y = labelled(7)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    found = find_C(X, y, "logistic", Cs=[0.5], cv=folds, scoring=scoring, tol=1e-9)
    problem = Problem(X, y, loss="logistic", C=0.5, intercept="free")
    for score, (fitted, held_out) in zip(found.scores[0], folds.split(X, y), strict=True):
        solution = solve(problem.restricted(fitted), tol=1e-9)
        assert score == pytest.approx(get_scorer(scoring)(_logistic_peer(solution), X[held_out], y[held_out]), abs=1e-5)


def _logistic_peer(solution):
    from sklearn.linear_model import LogisticRegression

    peer = LogisticRegression()
    peer.classes_ = np.array([-1.0, 1.0])
    peer.coef_, peer.intercept_ = solution.coef[np.newaxis, :], np.array([solution.intercept])
    return peer


@pytest.mark.parametrize(("loss", "penalty", "solver"), KINDS)
def test_every_loss_and_penalty_can_be_searched(loss, penalty, solver):
    X, response = random_data(8, rows=90)
    y = np.where(response > 0, "yes", "no") if LOSSES[loss].classification else response
    found = find_C(X, y, loss, penalty, cv=3, solver=solver, intercept="regularized")
    assert found.solution.converged
    assert all(candidate.converged for candidate in found.candidates)
    assert found.best_score == found.mean_scores.max()
    assert found.best_C == found.Cs[np.argmax(found.mean_scores)]
    problem = Problem(X, y, loss, penalty, C=found.best_C, intercept="regularized")
    assert problem.certificate(found.solution.coef, found.solution.intercept, found.solution.dual).relative_gap <= 1e-3


def test_a_loss_is_searched_with_its_parameters():
    X, response = random_data(8, rows=90)
    found = find_C(X, response, "quantile", "l1", cv=3, q=0.9, scoring="neg_mean_absolute_error")
    assert found.solution.converged
    problem = Problem(X, response, "quantile", "l1", found.best_C, intercept="free", q=0.9)
    assert problem.certificate(found.solution.coef, found.solution.intercept, found.solution.dual).relative_gap <= 1e-3
    narrow, wide = (path(Problem(X, response, "huber", delta=delta), [1.0]).solutions[0].coef for delta in (0.1, 10.0))
    assert np.abs(narrow - wide).max() > 1e-2


def test_result_does_not_depend_on_threads():
    X, y = labelled(9, rows=200)
    one, two = (find_C(X, y, n_jobs=n_jobs, cv=4) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.scores, two.scores)
    np.testing.assert_array_equal(one.Cs, two.Cs)
    np.testing.assert_array_equal(one.solution.coef, two.solution.coef)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_stopping_early_keeps_the_choice(seed, loss):
    X, y = labelled(seed, rows=200)
    early = find_C(X, y, loss, intercept="regularized")
    full = find_C(X, y, loss, intercept="regularized", early_stopping=False)
    assert len(early.Cs) < len(full.Cs)
    assert early.ended is not None and full.ended is None
    assert early.not_tried == tuple(full.Cs[len(early.Cs) :])
    # Beyond the end nothing scores better than chance variation between folds explains.
    spread = full.scores.std(axis=1, ddof=1).max() / np.sqrt(full.scores.shape[1])
    assert full.best_score - early.best_score <= spread


@pytest.mark.parametrize("name", ["reuters_moneyfx", "a9a", "german.numer", "splice", "heart_scale", "mushrooms"])
def test_stopping_early_keeps_the_choice_on_real_data(name):
    X, y = real_data(name)
    Cs = 2.0 ** np.arange(-10, 7)
    early = find_C(X, y, Cs=Cs, intercept="regularized")
    full = find_C(X, y, Cs=Cs, intercept="regularized", early_stopping=False)
    assert early.best_C == full.best_C


def test_first_value_is_where_C_begins_to_matter():
    lasso = random_problem(1, "squared", "l1", "free")
    C = first_C(lasso)
    assert np.count_nonzero(solve(lasso.with_C(C), "lasso_cd", tol=1e-6).coef) > 0
    assert np.count_nonzero(solve(lasso.with_C(C / 2), "lasso_cd", tol=1e-6).coef) == 0
    smooth = random_problem(1, "logistic", intercept="free")
    C = first_C(smooth)
    below, far_below = (solve(smooth.with_C(C * share), tol=1e-10).coef for share in (0.01, 0.0001))
    cosine = below @ far_below / np.linalg.norm(below) / np.linalg.norm(far_below)
    assert cosine > 0.999
    assert first_C(Problem(np.zeros((4, 2)), [0, 1, 0, 1])) == 1.0


def test_weights_count_in_the_fits():
    X, y = labelled(10)
    weights = np.random.default_rng(0).integers(1, 3, len(y))
    found = find_C(X, y, Cs=[1.0], sample_weight=weights, tol=1e-9)
    direct = solve(Problem(X, y, intercept="free", sample_weight=weights), tol=1e-9)
    assert found.solution.certificate.primal == pytest.approx(direct.certificate.primal, rel=1e-8)


def test_table_frame_and_picture(tmp_path):
    X, y = labelled(11)
    found = find_C(X, y, Cs=CS, cv=3)
    frame = found.to_frame()
    assert frame["C"].tolist() == found.Cs.tolist()
    np.testing.assert_allclose(frame[[f"score_{i}" for i in range(3)]].mean(axis=1), frame["mean_score"])
    figure = found.plot(tmp_path / "search.png", title="a search")
    assert (tmp_path / "search.png").stat().st_size > 0
    assert len(figure.axes) == 2
    assert "best_C=" in repr(found)


def test_progress_shows_the_values(capfd):
    X, y = labelled(12)
    quiet = find_C(X, y, Cs=CS, cv=3)
    shown = find_C(X, y, Cs=CS, cv=3, progress=True)
    assert shown.best_C == quiet.best_C
    assert "best" in capfd.readouterr().err


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_limit_on_time_keeps_what_was_tried(n_jobs):
    X, y = labelled(13)
    found = find_C(X, y, Cs=CS, cv=3, max_seconds=1e-6, n_jobs=n_jobs)
    assert found.best_C == CS[0]
    assert found.not_tried == tuple(CS[1:])
    assert found.ended == "the time ran out"
    assert found.solution.coef.shape == (X.shape[1],)
    ample = find_C(X, y, Cs=CS, cv=3, max_seconds=1e6, n_jobs=n_jobs, early_stopping=False)
    assert ample.not_tried == () and ample.ended is None
    np.testing.assert_array_equal(ample.scores, find_C(X, y, Cs=CS, cv=3, early_stopping=False).scores)
    with pytest.raises(ValueError, match="max_seconds must be a finite number > 0"):
        find_C(X, y, max_seconds=0)


def test_a_value_that_the_clock_cut_short_is_not_judged(monkeypatch):
    from dataclasses import replace

    from widemargin.solvers import effort
    from widemargin.solvers.run.solution import Status

    X, y = labelled(13)

    def cut_at_the_third(problem, *given, **asked):
        solution = solve(problem, *given, **asked)
        return replace(solution, status=Status.TIME_LIMIT) if CS[2] == problem.C else solution

    monkeypatch.setattr(effort, "solve", cut_at_the_third)
    found = find_C(X, y, Cs=CS, cv=3, max_seconds=1e6, early_stopping=False)
    assert found.Cs.tolist() == CS[:2]
    assert found.ended == "the time ran out"


def test_interrupt_in_a_fold_is_passed_on(monkeypatch):
    from dataclasses import replace

    from widemargin.solvers import effort
    from widemargin.solvers.run.solution import Status

    X, y = labelled(13)
    monkeypatch.setattr(effort, "solve", lambda *a, **k: replace(solve(*a, **k), status=Status.INTERRUPTED))
    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            find_C(X, y, Cs=CS, cv=3, n_jobs=n_jobs)
    assert len(path(Problem(X, y), CS)) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"Cs": []}, "at least one number"),
        ({"Cs": [1.0, -2.0]}, r"Cs\[1\] is -2.0"),
        ({"cv": 1}, "cv must lie between 2"),
        ({"scoring": "no such score"}, "scoring"),
        ({"loss": "no such loss"}, "unknown loss"),
        ({"penalty": "no such penalty"}, "unknown penalty"),
        ({"solver": "no such solver"}, "unknown solver"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"tol": -1.0}, "tol must be"),
        ({"epsilon": 0.1}, "loss 'squared_hinge' has no parameter 'epsilon'"),
        ({"loss": "multinomial", "delta": 1.0}, "loss 'multinomial' has no parameter 'delta': it has no parameters"),
    ],
)
def test_mistakes_are_explained(settings, message):
    X, y = labelled(14)
    with pytest.raises(ValueError, match=message):
        find_C(X, y, **settings)


def test_impatience_is_refused():
    for settings in ({"declines": 0}, {"settled": 0}, {"movement": -1.0}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            EarlyStopping(**settings)


# Estimators that search.


def test_a_searching_classifier_equals_the_search_and_the_refit():
    from widemargin import LinearSVCCV

    X, y = labelled(15)
    model = LinearSVCCV(Cs=CS, cv=3, tol=1e-8, intercept="regularized").fit(X, y)
    found = find_C(X, y, Cs=CS, cv=3, tol=1e-8, intercept="regularized")
    assert model.C_.tolist() == [found.best_C]
    np.testing.assert_array_equal(model.searches_[0].scores, found.scores)
    refit = LinearSVC(C=found.best_C, tol=1e-8, intercept="regularized").fit(X, y)
    np.testing.assert_allclose(model.coef_, refit.coef_, atol=1e-3)
    assert model.certificate_.relative_gap <= 1e-8


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_of_several_classes_gets_its_own_C(n_jobs):
    from sklearn.datasets import load_iris

    from widemargin import LogisticRegressionCV

    X, y = load_iris(return_X_y=True)
    asked = {"Cs": [0.1, 1.0, 10.0], "cv": 3, "scoring": "neg_log_loss"}
    model = LogisticRegressionCV(**asked, multi_class="ovr", n_jobs=n_jobs).fit(X, y)
    assert model.C_.shape == (3,)
    for c in range(3):
        alone = find_C(X, y == c, "logistic", Cs=[0.1, 1.0, 10.0], cv=3, scoring="neg_log_loss")
        assert model.C_[c] == alone.best_C
    assert model.score(X, y) > 0.9


def test_lasso_chooses_the_alpha_of_scikit_learn():
    from sklearn.linear_model import LassoCV as Peer

    from widemargin import LassoCV

    X, response = random_data(16, rows=100)
    X = X.toarray()
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    alphas = [0.3, 0.1, 0.03, 0.01, 0.003]
    ours = LassoCV(alphas=alphas, cv=folds, tol=1e-9, early_stopping=False).fit(X, response)
    peer = Peer(alphas=alphas, cv=folds, tol=1e-10, max_iter=100_000).fit(X, response)
    assert ours.alpha_ == pytest.approx(peer.alpha_)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_)
    np.testing.assert_allclose(-ours.searches_[0].scores, peer.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


def test_a_fold_without_weight_to_score_is_told():
    X, y = labelled(3)
    half = len(y) // 2
    weights = np.r_[np.ones(half), np.zeros(len(y) - half)]
    with pytest.raises(ValueError, match="fold 0 holds out no row whose weight is above zero"):
        find_C(X, y, sample_weight=weights, Cs=[1.0], cv=[(np.arange(half), np.arange(half, len(y)))])
