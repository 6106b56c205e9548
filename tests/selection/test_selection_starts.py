"""What makes a search cheap: starts in the span of earlier solutions, products and matrices that are kept."""

from dataclasses import replace

import numpy as np
import pytest

from support import random_problem
from widemargin import find_C, solve
from widemargin.objective.losses import LOSSES
from widemargin.objective.points import Point
from widemargin.selection.folds import Fold
from widemargin.selection.search import Plan
from widemargin.selection.span import best_in_span
from widemargin.selection.stopping import EarlyStopping, StopWatch
from widemargin.selection.walk import Walk
from widemargin.solvers.effort import Effort
from widemargin.solvers.linalg.gram import Gram, gram_of

SMOOTH = [name for name, loss in LOSSES.items() if loss.smooth]
INTERCEPTS = ["none", "regularized", "free"]


def known(problem, w, b):
    return Point(w, b, z=problem.X.matvec(w, b))


# The span of earlier solutions.


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_best_of_a_span_has_no_slope_in_it(loss, intercept, count):
    problem = random_problem(3, loss, intercept=intercept)
    rng = np.random.default_rng(count)
    b = 0.0 if intercept == "none" else 0.3
    points = [known(problem, rng.standard_normal(problem.X.shape[1]), b * (k + 1)) for k in range(count)]
    w, at = best_in_span(problem, points)
    g, g_b = problem.gradient(w, at)
    value = problem.objective(w, at)
    for point in points:
        slope = g @ point.w + g_b * point.intercept
        assert abs(slope) <= 1e-2 * max(1.0, value)
        assert value <= problem.objective(point.w, point.intercept) * (1 + 1e-9)
    if intercept == "free":
        assert abs(g_b) <= 1e-2 * max(1.0, value)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_solution_in_the_span_is_found(intercept):
    problem = random_problem(4, "squared_hinge", intercept=intercept)
    best = solve(problem, tol=1e-12)
    other = np.random.default_rng(0).standard_normal(problem.X.shape[1])
    points = [known(problem, other, 0.0), known(problem, best.coef + other, best.intercept)]
    w, b = best_in_span(problem, points)
    assert problem.objective(w, b) == pytest.approx(best.certificate.primal, rel=1e-5)


def test_points_that_are_the_same_do_no_harm():
    problem = random_problem(5, "logistic", intercept="regularized")
    w = np.random.default_rng(0).standard_normal(problem.X.shape[1])
    w, b = best_in_span(problem, [known(problem, w, 0.1)] * 3)
    assert np.isfinite(w).all() and np.isfinite(b)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_each_value_of_a_walk_keeps_its_proof(loss, intercept):
    problem = random_problem(6, loss, intercept=intercept)
    walk = Walk(problem, Effort(tol=1e-7))
    for C in 2.0 ** np.arange(-6, 7):
        solution = walk.to(C)
        proof = problem.with_C(C).certificate(solution.coef, solution.intercept, solution.dual)
        assert solution.converged and proof.relative_gap <= 1.01e-7


def test_starts_in_the_span_save_steps():
    problem = random_problem(7, "squared_hinge", intercept="regularized")
    walk = Walk(problem, Effort(tol=1e-2))
    warm = sum(walk.to(C).n_iter for C in 2.0 ** np.arange(-8, 4))
    cold = sum(solve(problem.with_C(C), tol=1e-2).n_iter for C in 2.0 ** np.arange(-8, 4))
    assert warm < cold


@pytest.mark.parametrize("solver", ["dual_cd", "newton_cholesky", "tron"])
def test_a_bad_dual_point_does_not_spoil_a_good_start(solver):
    problem = random_problem(8, "squared_hinge", intercept="regularized")
    best = solve(problem, tol=1e-10)
    spoilt = replace(best, dual=np.zeros_like(problem.y))
    assert solve(problem, solver, tol=1e-6, warm_start=spoilt).n_iter == 0


# What is kept.


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_kept_gram_matrix_equals_a_new_one(loss):
    problem = random_problem(10, loss, intercept="regularized").kept_along()
    rng = np.random.default_rng(0)
    for C in (0.1, 0.2, 0.7, 0.9):
        at = problem.with_C(C)
        for _ in range(2):
            _, h = at.loss_derivatives(rng.standard_normal(len(problem.y)))
            kept, new = gram_of(at, at.constant), Gram(at.X, at.constant)
            kept.update(h)
            new.update(h)
            np.testing.assert_allclose(kept.C * kept.matrix, new.matrix, rtol=1e-10, atol=1e-12)
    assert (kept is gram_of(problem, problem.constant)) == (loss != "logistic")  # where every row of h changes
    assert gram_of(random_problem(10, loss), 0.0) is not gram_of(random_problem(10, loss), 0.0)
    assert gram_of(problem.kept_along(), problem.constant) is not kept


@pytest.mark.parametrize("loss", list(LOSSES))
def test_clipping_into_the_dual_domain(loss):
    problem = random_problem(11, loss).restricted(np.arange(20))
    v = 3 * np.random.default_rng(0).standard_normal(len(problem.y))
    np.testing.assert_allclose(problem.clipped_dual(v), np.clip(v, *problem.dual_domain()), rtol=1e-15, atol=0)


# Folds, tolerances and the end of a search.


def test_a_fold_in_the_order_of_lengths_is_the_same_fold():
    fold = Fold(np.array([4, 0, 3, 1]), np.array([2]))
    ordered = fold.by_length(np.array([5, 1, 9, 1, 5]))
    assert ordered.fitted.tolist() == [3, 1, 4, 0]  # of equal lengths the first stays first
    assert ordered.held_out.tolist() == [2]


@pytest.mark.parametrize(("tol", "expected"), [(1e-3, 3e-3), (1e-8, 1e-7), (3e-3, 3e-3), (0.05, 0.05)])
def test_folds_are_fitted_a_little_looser_than_the_model(tol, expected):
    assert Plan().scoring_effort(Effort(tol=tol)).tol == pytest.approx(expected)
    assert Plan(score_tol=1e-5).scoring_effort(Effort(tol=tol)).tol == 1e-5


def test_predictions_settle_before_coefficients_do():
    rule = EarlyStopping(settled=2)
    still, moving = [np.ones(5)], [[np.array([1.0, 0.1 * k])] for k in range(4)]
    scores = np.array([0.9])
    watch = StopWatch(rule)
    assert [watch.reason_to_end(2.0**k, scores, moving[k], still) for k in range(3)] == [
        None,
        None,
        "the models settled",
    ]
    alone = StopWatch(rule)
    assert [alone.reason_to_end(2.0**k, scores, moving[k]) for k in range(4)] == [None] * 4


def test_a_large_intercept_does_not_hide_that_coefficients_grow():
    watch = StopWatch(EarlyStopping(settled=2))
    for k in range(6):
        assert watch.reason_to_end(2.0**k, np.array([0.9]), [np.array([1.4**k])], [np.ones(5)]) is None


def test_scores_are_near_those_of_tight_fits():
    problem = random_problem(12, "squared_hinge", rows=400)
    Cs = 2.0 ** np.arange(-8, 6)
    loose, tight = (find_C(problem.X, problem.y, Cs=Cs, score_tol=tol, early_stopping=False) for tol in (None, 1e-8))
    error = tight.scores.std(axis=1, ddof=1) / np.sqrt(tight.scores.shape[1])
    assert np.abs(loose.mean_scores - tight.mean_scores).mean() <= 0.5 * error.mean()
