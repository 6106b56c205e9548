"""Maximum entropy over candidates: gradients, certificates, and the problems that it equals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from chain_reference import random_chains
from widemargin import CandidatesProblem, ChainCRFProblem, MaxEnt, MaximumEntropyProblem, solve
from widemargin.objective.points import Point


def drawn(seed=0, penalty="l2", **more):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(12), rng.integers(1, 5, 12)))
    X = rng.standard_normal((len(groups), 4))
    shares = rng.random(len(groups))
    shares /= np.bincount(groups, weights=shares)[groups]
    return CandidatesProblem(X, shares, groups, penalty=penalty, **more)


def as_candidates(X, y):
    """Rows x classes as candidates: the row's features stand in the columns of the class."""
    k = int(y.max()) + 1
    rows = sp.kron(sp.csr_array(X), sp.eye_array(k), format="csr")  # columns by feature, then class
    return rows, (y[:, None] == np.arange(k)).reshape(-1), np.repeat(np.arange(len(y)), k)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_derivatives_and_weak_duality(penalty):
    problem, rng = drawn(1, penalty), np.random.default_rng(2)
    f, x, v, h = problem.smooth(), rng.standard_normal(4), rng.standard_normal(4), 1e-5
    at = f.start(Point(x))
    up, down = f.start(Point(x + h * v)), f.start(Point(x - h * v))
    assert at.gradient @ v == pytest.approx((up.value - down.value) / (2 * h), rel=1e-6)
    np.testing.assert_allclose(f.hess_vec(at, v), (up.gradient - down.gradient) / (2 * h), atol=1e-6)
    ray = f.ray(at, v)
    assert ray.slope(0.5)[0] == pytest.approx(f.start(Point(x + 0.5 * v)).gradient @ v, rel=1e-9)
    best = solve(problem, tol=1e-8)
    assert best.converged
    for dual in (None, rng.random(len(problem.chosen)), np.zeros(len(problem.chosen))):
        assert problem.certificate(x, dual=dual).dual <= best.certificate.primal * (1 + 1e-9)
    if penalty == "l2":
        own = problem.certificate(x)
        assert own.primal - own.dual == pytest.approx(0.5 * at.gradient @ at.gradient, rel=1e-9)


def test_it_is_the_multinomial_problem_where_candidates_are_classes():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((60, 5)), rng.integers(0, 3, 60)
    found = solve(CandidatesProblem(*as_candidates(X, y)), "tron", tol=1e-10)
    wanted = solve(MaximumEntropyProblem(X, y), "tron", tol=1e-10)
    assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(found.coef, wanted.coef, atol=1e-4)


def test_it_is_a_chain_of_length_one():
    given = random_chains(4, lengths=[1] * 30)
    found = solve(CandidatesProblem(*as_candidates(given["X"], given["y"])), tol=1e-9)
    chain = solve(ChainCRFProblem(**given), tol=1e-9)
    assert found.certificate.primal == pytest.approx(chain.certificate.primal, rel=1e-8)


def test_solvers_agree_and_order_does_not_matter():
    problem = drawn(5)
    wanted = solve(problem, "tron", tol=1e-9).certificate.primal
    assert solve(problem, "lbfgs", tol=1e-8).certificate.primal == pytest.approx(wanted, rel=1e-7)
    order = np.random.default_rng(0).permutation(len(problem.chosen))
    other = CandidatesProblem(problem.X.take(order), problem.chosen[order], problem.groups.number[order])
    assert solve(other, "tron", tol=1e-9).certificate.primal == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_the_estimator(penalty):
    rng = np.random.default_rng(6)
    groups, w = np.repeat(np.arange(400), 4), np.array([2.0, -1.0, 0.0])
    X = rng.standard_normal((1600, 3))
    y = np.zeros(1600)
    utility = (X @ w + rng.gumbel(size=1600)).reshape(400, 4)
    y[np.arange(400) * 4 + utility.argmax(axis=1)] = 1
    model = MaxEnt(penalty=penalty, tol=1e-6).fit(X, y, groups)
    np.testing.assert_allclose(model.coef_, w, atol=0.4)
    p = model.predict_proba(X, groups)
    np.testing.assert_allclose(p.reshape(400, 4).sum(axis=1), 1.0)
    assert (model.predict(X, groups) == np.arange(400) * 4 + p.reshape(400, 4).argmax(axis=1)).all()
    assert model.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize(
    ("y", "groups", "message"),
    [
        ([1, 0, 1], [0, 0], r"groups has shape \(2,\)"),
        ([1, 0], [0, 0, 1], r"y has shape \(2,\)"),
        ([1, 1, 1], [0, 0, 1], "group 0 chooses 2 candidates"),
        ([1, 0, 0], [0, 0, 1], "group 1 chooses 0 candidates"),
        ([1, -1, 1], [0, 0, 1], r"y\[1\] is -1"),
        ([1, np.nan, 1], [0, 0, 1], r"y\[1\] is nan"),
    ],
)
def test_what_is_wrong_is_told(y, groups, message):
    with pytest.raises(ValueError, match=message):
        MaxEnt().fit(np.eye(3), y, groups)
