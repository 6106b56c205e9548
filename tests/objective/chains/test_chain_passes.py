"""The native recursions over chains against enumeration of all labelings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chain_reference import enumerated
from widemargin import _core

NONE = np.empty(0, dtype=np.int32)


def drawn_scores(seed, size, lengths=(1, 4, 2, 5), k=3):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    z, edge = size * rng.standard_normal((offsets[-1], k)), size * rng.standard_normal((k, k))
    return _core.Chains(offsets, k), offsets, z, edge


def posteriors(chains, z, edges, n_jobs=1):
    n, k = chains.n_sequences, chains.n_labels
    out = np.empty(n), np.empty(n), np.empty_like(z), np.empty((n, k, k))
    _core.chain_posteriors(
        chains, z.reshape(-1), edges.reshape(-1), out[0], out[1], out[2].reshape(-1), out[3].reshape(-1), n_jobs
    )
    return out


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.0, 1.0, 30.0, 300.0, 1e5]), own=st.booleans())
def test_marginals_entropy_and_log_z(seed, size, own):
    chains, offsets, z, edge = drawn_scores(seed, size)
    edges = np.stack([edge * (i + 1) for i in range(4)]) if own else edge
    log_z, entropy, mu, sums = posteriors(chains, z, edges)
    for i in range(4):
        part = slice(offsets[i], offsets[i + 1])
        wanted = enumerated(z[part], edges[i] if own else edge)
        assert log_z[i] == pytest.approx(wanted.log_z, rel=1e-12, abs=1e-12)
        assert entropy[i] == pytest.approx(wanted.entropy, abs=1e-13 * (1 + size) * 20)
        np.testing.assert_allclose(mu[part], wanted.mu, atol=1e-9)
        np.testing.assert_allclose(sums[i], wanted.edges, atol=1e-9)


@pytest.mark.parametrize("size", [1.0, 400.0])
def test_the_two_ways_to_sum_agree_and_threads_change_no_bit(size):
    chains, _, z, edge = drawn_scores(3, size, lengths=[7] * 90, k=5)
    one, many = posteriors(chains, z, edge), posteriors(chains, z, edge, n_jobs=4)
    for a, b in zip(one, many, strict=True):
        assert (a == b).all()
    # A transition that is never taken widens the spread: sums go through logarithms.
    wide = edge.copy()
    wide[0, 0] = -1e4
    narrow = edge.copy()
    narrow[0, 0] = edge.min() - 90
    np.testing.assert_allclose(posteriors(chains, z, wide)[2], posteriors(chains, z, narrow)[2], atol=1e-6)


def test_long_sequences_and_huge_scores_stay_finite():
    chains, _, z, edge = drawn_scores(0, 1e8, lengths=[20_000])
    log_z, entropy, mu, sums = posteriors(chains, z, edge)
    assert np.isfinite(log_z).all() and np.isfinite(entropy).all()
    np.testing.assert_allclose(mu.sum(axis=1), 1.0, atol=1e-6)
    assert sums.sum() == pytest.approx(19_999, rel=1e-6)


@pytest.mark.parametrize("size", [1.0, 400.0])
def test_the_tangent_is_the_derivative_of_the_marginals(size):
    chains, offsets, z, edge = drawn_scores(1, size)
    rng = np.random.default_rng(2)
    a, b, C = rng.standard_normal(z.shape), rng.standard_normal(edge.shape), np.array([1.0, 0.5, 2.0, 3.0])
    change, edge_change = np.empty_like(z), np.empty_like(edge)
    flat = [x.reshape(-1) for x in (z, edge, a, b, change, edge_change)]
    _core.chain_tangent(chains, C, *flat)
    h = 1e-6
    up, down = posteriors(chains, z + h * a, edge + h * b), posteriors(chains, z - h * a, edge - h * b)
    token_C = np.repeat(C, np.diff(offsets))[:, None]
    np.testing.assert_allclose(change, token_C * (up[2] - down[2]) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(edge_change, np.einsum("i,ijk->jk", C, (up[3] - down[3]) / (2 * h)), atol=1e-6)


def test_expectations_are_weighted_posteriors():
    chains, offsets, z, edge = drawn_scores(5, 1.0)
    C = np.array([1.0, 0.0, 2.0, 3.0])
    log_z, mu, edges = np.empty(4), np.empty_like(z), np.empty_like(edge)
    _core.chain_expectations(chains, C, z.reshape(-1), edge.reshape(-1), log_z, mu.reshape(-1), edges.reshape(-1))
    wanted = posteriors(chains, z, edge)
    np.testing.assert_allclose(log_z, wanted[0])
    np.testing.assert_allclose(mu, np.repeat(C, np.diff(offsets))[:, None] * wanted[2])
    np.testing.assert_allclose(edges, np.einsum("i,ijk->jk", C, wanted[3]))


def viterbi(chains, z, edge, cost=None, truth=NONE, known=NONE):
    labels, scores = np.empty(len(z), dtype=np.int32), np.empty(chains.n_sequences)
    cost = np.empty(0) if cost is None else cost.reshape(-1)
    _core.chain_viterbi(chains, z.reshape(-1), edge.reshape(-1), cost, truth, known, labels, scores)
    return labels, scores


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_best_labelings(seed):
    chains, offsets, z, edge = drawn_scores(seed, 1.0)
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, len(z)).astype(np.int32)
    cost = np.abs(rng.standard_normal((3, 3)))
    known = np.where(rng.random(len(z)) < 0.4, truth, -1).astype(np.int32)
    plain, costly, fixed = (
        viterbi(chains, z, edge),
        viterbi(chains, z, edge, cost, truth),
        viterbi(chains, z, edge, known=known),
    )
    for i in range(4):
        part = slice(offsets[i], offsets[i + 1])
        all_of = enumerated(z[part], edge)
        extra = cost[truth[part], all_of.labelings].sum(axis=1)
        allowed = ((known[part] < 0) | (all_of.labelings == known[part])).all(axis=1)
        for found, scores in (
            (plain, all_of.scores),
            (costly, all_of.scores + extra),
            (fixed, np.where(allowed, all_of.scores, -np.inf)),
        ):
            assert found[1][i] == pytest.approx(scores.max(), rel=1e-12)
            assert (found[0][part] == all_of.labelings[scores.argmax()]).all()


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 12))
def test_n_best(seed, n):
    chains, offsets, z, edge = drawn_scores(seed, 1.0)
    labels, scores = np.empty(n * len(z), dtype=np.int32), np.empty((4, n))
    found = np.empty(4, dtype=np.int64)
    _core.chain_nbest(chains, z.reshape(-1), edge.reshape(-1), n, labels, scores.reshape(-1), found)
    for i in range(4):
        length = offsets[i + 1] - offsets[i]
        all_of = enumerated(z[offsets[i] : offsets[i + 1]], edge)
        order = np.argsort(-all_of.scores, kind="stable")[:n]
        assert found[i] == len(order) == min(n, 3**length)
        lines = labels[n * offsets[i] : n * offsets[i + 1]].reshape(n, length)[: len(order)]
        np.testing.assert_allclose(scores[i, : len(order)], all_of.scores[order], rtol=1e-12)
        assert (lines == all_of.labelings[order]).all()


def test_inputs_are_never_trusted():
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        _core.Chains(np.array([0, 2, 2]), 3)
    with pytest.raises(ValueError, match="offsets must begin with 0"):
        _core.Chains(np.array([1, 2]), 3)
    with pytest.raises(ValueError, match="n_labels is 0"):
        _core.Chains(np.array([0, 2]), 0)
    chains, _, z, edge = drawn_scores(0, 1.0)
    with pytest.raises(ValueError, match="z has length 3"):
        posteriors(chains, z[:1], edge)
    for bad in (np.nan, np.inf):
        spoilt = z.copy()
        spoilt[7, 1] = bad
        with pytest.raises(ValueError, match="token 7 are not finite"):
            posteriors(chains, spoilt, edge)
        with pytest.raises(ValueError, match=r"z\[22\] is not finite"):
            viterbi(chains, spoilt, edge)
    with pytest.raises(ValueError, match=r"known\[0\] is 3, outside -1 .. 2"):
        viterbi(chains, z, edge, known=np.full(len(z), 3, dtype=np.int32))
    with pytest.raises(ValueError, match="ascend"):
        _core.Pairs(np.array([0, 2]), np.array([1, 1], dtype=np.int32))
