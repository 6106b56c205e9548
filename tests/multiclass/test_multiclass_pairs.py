"""One against one and DAGSVM: the pairs are the binary problems, the vote and the graph agree where they must."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from multiclass_data import STORAGES, class_data
from support import real_data
from widemargin import Matrix, MulticlassModel, Problem, fit_dag, fit_one_vs_one, solve
from widemargin.multiclass.base import highest_score
from widemargin.multiclass.dag import dag
from widemargin.multiclass.one_vs_one import voting


def test_every_pair_is_its_binary_problem():
    X, y = class_data(1, rows=120)
    weights = 1.0 + np.arange(120) % 3
    model = fit_one_vs_one(X, y, C=0.5, intercept="free", sample_weight=weights, tol=1e-9)
    assert model.converged
    for (p, q), solution in zip(combinations(range(4), 2), model.solutions, strict=True):
        rows = np.flatnonzero((y == p) | (y == q))
        problem = Problem(X[rows], y[rows], C=0.5, intercept="free", sample_weight=weights[rows])
        alone = solve(problem, tol=1e-9)
        assert solution.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-9)
        assert problem.certificate(solution.coef, solution.intercept).relative_gap <= 1e-8


def consistent_model(n_classes: int, columns: int, seed: int) -> MulticlassModel:
    """Pairwise models that are the differences of one score per class: the best class wins all of its pairs."""
    rng = np.random.default_rng(seed)
    W, b = rng.standard_normal((n_classes, columns)), rng.standard_normal(n_classes)
    differences = [(W[q] - W[p], b[q] - b[p]) for p, q in combinations(range(n_classes), 2)]
    coef, intercept = (np.array(part) for part in zip(*differences, strict=True))
    return MulticlassModel(coef, intercept, np.arange(n_classes), (), voting)


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
@pytest.mark.parametrize("n_classes", [2, 3, 7, 12])
def test_vote_and_graph_agree_where_the_models_are_consistent(storage, n_classes):
    X = Matrix(storage(class_data(2, rows=300)[0]))
    model = consistent_model(n_classes, 10, seed=n_classes)
    np.testing.assert_array_equal(voting(model, X, 1), dag(model, X, 2))
    values = model.decision_values(X)
    # Model (0, q) is the difference of the scores of q and 0: together they are the scores up to a constant.
    scores = np.hstack([np.zeros((300, 1)), values[:, : n_classes - 1]])
    np.testing.assert_array_equal(voting(model, X, 1), scores.argmax(axis=1))


def test_the_graph_asks_the_pairs_it_should():
    model = fit_dag(*class_data(3, rows=200, classes=5), tol=1e-4)
    X = class_data(4, rows=50, classes=5)[0]
    at = {pair: n for n, pair in enumerate(combinations(range(5), 2))}
    values = model.decision_values(X)
    expected = []
    for row in values:
        p, q = 0, 4
        while p < q:
            p, q = (p + 1, q) if row[at[p, q]] > 0 else (p, q - 1)
        expected.append(p)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_the_number_of_threads_changes_nothing():
    X, y = class_data(5, rows=200, classes=6)
    one, two = (fit_one_vs_one(X, y, loss="hinge", tol=1e-4, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.predict(X), two.predict(X, n_jobs=2))


def test_two_classes_are_one_pair():
    X, y = class_data(6, classes=2)
    model = fit_one_vs_one(X, np.where(y == 1, "yes", "no"))
    assert len(model.coef) == 1
    assert set(model.predict(X)) == {"no", "yes"}


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
def test_taken_rows_are_those_rows(storage):
    X = storage(class_data(7)[0])
    rows = [5, 0, 59, 5]
    A = X.toarray() if sp.issparse(X) else X
    w = np.arange(10.0)
    taken = Matrix(X).take(rows)
    assert taken.shape == (4, 10)
    np.testing.assert_allclose(taken.matvec(w), A[rows].astype(float) @ w, rtol=1e-12)
    np.testing.assert_allclose(taken.rmatvec(np.arange(4.0)), A[rows].astype(float).T @ np.arange(4.0), rtol=1e-12)
    assert taken.native_columns.n_rows == 10
    with pytest.raises(ValueError, match="row 60 of 60"):
        Matrix(X).take([60])


def test_wrong_number_of_features_is_refused():
    X, y = class_data(8)
    with pytest.raises(ValueError, match="X has 3 features, the model was fitted with 10"):
        fit_dag(X, y).predict(np.ones((2, 3)))


def test_highest_score_takes_the_best_class():
    model = MulticlassModel(np.eye(3), np.zeros(3), np.array([2, 3, 5]), (), highest_score)
    np.testing.assert_array_equal(model.predict(np.eye(3)), [2, 3, 5])


def test_the_graph_is_as_good_as_the_vote_on_real_data():
    (X, y), (X_test, y_test) = real_data("satimage.scale"), real_data("satimage.scale.t")
    model = fit_one_vs_one(X, y, intercept="free", tol=1e-2)
    vote = np.mean(model.classes[voting(model, Matrix(X_test), 1)] == y_test)
    graph = np.mean(model.classes[dag(model, Matrix(X_test), 1)] == y_test)
    assert vote > 0.85
    assert graph == pytest.approx(vote, abs=0.01)
