"""Many classes: a sparse result is never held as one dense table of classes x features."""

from __future__ import annotations

import gc
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import LinearSVC, LogisticRegression
from widemargin.multiclass import table

CLASSES, FEATURES = 250, 40_000


def many_classes(classes: int, features: int) -> tuple[sp.csr_array, np.ndarray]:
    """Four rows per class: some noise, and a feature that belongs to the class."""
    rng = np.random.default_rng(0)
    rows, y = 4 * classes, np.repeat(np.arange(classes), 4)
    noise = sp.random_array((rows, features), density=8 / features, format="csr", rng=rng)
    mark = sp.csr_array((np.full(rows, 3.0), (np.arange(rows), 7 * y % features)), shape=(rows, features))
    return sp.csr_array(noise + mark), y


def test_many_classes_with_an_l1_penalty_stay_sparse(monkeypatch):
    monkeypatch.setattr(table, "LARGE_TABLE", 2**22)
    X, y = many_classes(CLASSES, FEATURES)
    model = LinearSVC(penalty="l1", C=1.0, tol=1e-2, fit_intercept=False)
    tracemalloc.start()
    try:
        model.fit(X, y)
        gc.collect()
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    dense = 8 * CLASSES * FEATURES
    assert peak < dense / 4
    assert held < dense / 20
    assert sp.issparse(model.coef_)
    assert model.coef_.shape == (CLASSES, FEATURES)
    assert all(certificate.relative_gap <= 1e-2 for certificate in model.certificates_)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("estimator", [LinearSVC(penalty="l1"), LogisticRegression(penalty="l1", warm_start=True)])
def test_the_sparse_table_is_the_dense_one(estimator, monkeypatch):
    X, y = many_classes(12, 300)
    dense = estimator.fit(X, y).coef_
    scores = estimator.decision_function(X)
    monkeypatch.setattr(table, "LARGE_TABLE", 0)
    estimator.solutions_ = []
    estimator.fit(X, y)
    assert sp.issparse(estimator.coef_)
    np.testing.assert_array_equal(estimator.coef_.toarray(), dense)
    np.testing.assert_allclose(estimator.decision_function(X), scores)
    np.testing.assert_array_equal(np.stack([solution.coef for solution in estimator.solutions_]), dense)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.solutions_[3].coef, dense[3])
    estimator.fit(X, y)  # from the slim solutions, where it starts warm
    assert max(certificate.relative_gap for certificate in estimator.certificates_) <= 1e-3


def test_dense_results_stay_dense(monkeypatch):
    monkeypatch.setattr(table, "LARGE_TABLE", 0)
    X, y = many_classes(5, 20)
    model = LinearSVC().fit(X.toarray() + 1.0, y)
    assert isinstance(model.coef_, np.ndarray)
    assert model.coef_.shape == (5, 20)
