"""Dense rows on disk whose features are far from zero: solved less their means, as in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from block_rows import on_disk
from support import random_data
from widemargin import Problem, solve

SHIFT = np.array([1e6, 0.0, -1e4, 3.0, 1e5])


@pytest.fixture(scope="module")
def near():
    return np.random.default_rng(0).standard_normal((300, 5))


def labels(near):
    noise = np.random.default_rng(1).standard_normal(len(near))
    return np.where(near @ [1.0, -1.0, 0.5, 0.0, 2.0] + noise > 0, 1.0, -1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_far_features_cost_nothing(near, loss):
    y = labels(near)
    there = solve(Problem(on_disk(near + SHIFT), y, loss, intercept="free"), "block_dual_cd", tol=1e-6, max_iter=3000)
    here = solve(Problem(near, y, loss, intercept="free"), tol=1e-8)
    assert there.converged and there.certificate.primal == pytest.approx(here.certificate.primal, rel=2e-6)
    np.testing.assert_allclose(there.coef, here.coef, atol=2e-2)
    assert there.intercept == pytest.approx(here.intercept - there.coef @ SHIFT, abs=5e-2)


def test_the_rows_are_those_less_their_means(near):
    file = on_disk((near + SHIFT).astype(np.float32))
    rows, means = file.centred
    values = file.load().to_scipy().astype(np.float64)
    np.testing.assert_allclose(means, values.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows.load().to_scipy(), values - means, atol=1e-9)
    assert rows.centred is None and rows.dtype == np.float64 and file.centred[0] is rows
    w = np.arange(5.0)
    for same in (rows.with_memory("1M"), pickle.loads(pickle.dumps(rows))):
        np.testing.assert_allclose(same.matvec(w), (values - means) @ w, atol=1e-8)


def test_near_and_sparse_rows_stay_as_they_are(near):
    assert on_disk(near).centred is None
    assert on_disk(random_data(3, rows=50, columns=8)[0]).centred is None
