"""Stochastic gradient descent over chains: its dual point is its w, and it comes as near as it says."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import ChainCRFProblem, ChainSVMProblem, solve
from widemargin.solvers import ChainSGD
from widemargin.solvers.chains.chain_sgd import SGDState, first_steps

KINDS = (ChainCRFProblem, ChainSVMProblem)


def learnable(kind, **choices):
    """Sequences whose labels follow from their tokens, but for one in ten."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((160, 6))
    labels = (X @ rng.standard_normal((6, 3))).argmax(axis=1)
    labels[::10] = rng.integers(0, 3, 16)
    return kind(X, labels, [4] * 40, **choices)


@pytest.mark.parametrize("features", ["all", "observed"])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_it_comes_as_near_as_it_says(kind, C, features):
    problem = learnable(kind, C=C, features=features, transitions=features)
    found, best = solve(problem, "chain_sgd", tol=2e-2, max_iter=20_000), solve(problem, tol=1e-6)
    assert found.converged
    assert best.certificate.dual <= found.certificate.primal <= best.certificate.primal + found.certificate.gap
    assert all(not row.certified or row.dual <= best.certificate.primal * (1 + 1e-9) for row in found.trace)


def test_the_labelings_that_were_met_make_up_the_weights():
    weight = np.ones(40)
    weight[:5], weight[5:9] = 0.0, 2.5
    problem = learnable(ChainSVMProblem, sample_weight=weight)
    state, rng = SGDState(problem, 17.0), np.random.default_rng(0)
    for _ in range(6):
        state.epoch(rng.permutation(40))
        facts = problem.mixture_facts(state.mixture())
        np.testing.assert_allclose(facts.pull, state.w, atol=1e-12)
        assert facts.cost - 0.5 * state.w @ state.w <= solve(problem, tol=1e-6).certificate.primal


def test_a_step_is_one_along_the_gradient():
    """With one sequence a step is w - eta grad / sum C, eta = 1 / (lambda t)."""
    problem = ChainCRFProblem(np.eye(3)[[0, 1, 2, 0]], [0, 1, 2, 1], [4], C=2.0)
    start = np.random.default_rng(0).standard_normal(problem.size)
    state = SGDState(problem, 9.0)
    state.a.set(start * 9.0 / 2.0)
    state.epoch(np.array([0]))
    # a / (lambda (t0 + 1)) after the step: the decay is that of the step's own rate.
    loss_gradient = problem.gradient(start)[0] - start
    np.testing.assert_allclose(state.w, (9.0 * start - loss_gradient) / 10.0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_start_is_kept(kind):
    problem = learnable(kind)
    best = solve(problem, tol=1e-6)
    again = solve(problem, "chain_sgd", tol=2e-2, max_iter=20_000, warm_start=best)
    cold = solve(problem, "chain_sgd", tol=2e-2, max_iter=20_000)
    assert again.converged and again.n_iter <= cold.n_iter


def test_a_sample_judges_the_first_rate():
    problem, rng = learnable(ChainCRFProblem), np.random.default_rng(0)
    t0 = first_steps(problem, 10, rng)
    assert 0 < t0 < np.inf
    assert first_steps(learnable(ChainSVMProblem), 10, rng) <= 40
    with pytest.raises(ValueError, match="sample"):
        ChainSGD(sample=0)
