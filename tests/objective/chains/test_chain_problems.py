"""The problems over chains: gradients, certificates and special cases, against enumeration and other problems."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from chain_reference import enumerated, random_chains
from plain_rows import PlainRows
from widemargin import ChainCRFProblem, ChainSVMProblem, CrammerSingerProblem, Matrix, MaximumEntropyProblem, solve
from widemargin.objective.chains.crf import ChainScores
from widemargin.objective.chains.svm import LabelingMixture
from widemargin.objective.points import Point

CHOICES = ("all", "observed")


def crf(seed, penalty="l2", features="all", transitions="all", **more):
    data = random_chains(seed)
    weight = np.random.default_rng(seed).uniform(0.2, 2.0, 5)
    return ChainCRFProblem(
        **data, penalty=penalty, features=features, transitions=transitions, sample_weight=weight, **more
    )


def enumerated_objective(problem, coef):
    """P and the gradient of the losses, labeling by labeling."""
    z, edge = problem.scores(coef), problem.transitions(coef)
    total, mu, edges = problem.penalty_value(coef), np.zeros_like(z), np.zeros_like(edge)
    for i, C in enumerate(problem.weights):
        part = slice(problem.offsets[i], problem.offsets[i + 1])
        found, own = enumerated(z[part], edge), problem.codes[part]
        truth = found.scores[(found.labelings == own).all(axis=1)][0]
        total += C * (found.log_z - truth)
        mu[part] = C * (found.mu - np.eye(problem.n_classes)[own])
        edges += C * found.edges
        np.subtract.at(edges, (own[:-1], own[1:]), C)
    return total, problem.adjoint(mu, edges)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    penalty=st.sampled_from(["l2", "l1", "elasticnet"]),
    features=st.sampled_from(CHOICES),
    transitions=st.sampled_from(CHOICES),
)
def test_objective_gradient_and_weak_duality(seed, penalty, features, transitions):
    problem = crf(seed, penalty, features, transitions)
    rng = np.random.default_rng(seed)
    coef = rng.standard_normal(problem.size)
    value, slope = enumerated_objective(problem, coef)
    assert problem.objective(coef) == pytest.approx(value, rel=1e-12)
    ridge = (1 - problem.penalty.rho) * coef
    np.testing.assert_allclose(problem.gradient(coef)[0], slope + ridge, atol=1e-10)
    for dual in (None, ChainScores(rng.standard_normal(problem.scores(coef).shape), rng.standard_normal((5, 3, 3)))):
        told = problem.certificate(coef, dual=dual)
        assert told.primal == pytest.approx(value, rel=1e-12)
        best = solve(problem, tol=1e-9).certificate
        assert told.dual <= best.primal + 1e-9 * abs(best.primal)
    if penalty == "l2":
        own = problem.certificate(coef)
        assert own.primal - own.dual == pytest.approx(0.5 * float((slope + ridge) @ (slope + ridge)), rel=1e-9)


@pytest.mark.parametrize("features", CHOICES)
@pytest.mark.parametrize("transitions", CHOICES)
def test_hessian_products_and_rays_are_derivatives(features, transitions):
    problem = crf(3, features=features, transitions=transitions)
    f, rng = problem.smooth(), np.random.default_rng(0)
    x, v = rng.standard_normal(problem.size), rng.standard_normal(problem.size)
    at, h = f.start(Point(x)), 1e-5
    numeric = (problem.gradient(x + h * v)[0] - problem.gradient(x - h * v)[0]) / (2 * h)
    np.testing.assert_allclose(f.hess_vec(at, v), numeric, atol=1e-6)
    ray = f.ray(at, v)
    assert ray.start_slope == pytest.approx((ray.value(h) - ray.value(-h)) / (2 * h), rel=1e-6)
    for t in (0.3, 2.0):
        assert ray.value(t) == pytest.approx(problem.objective(x + t * v), rel=1e-12)
        assert ray.slope(t)[0] == pytest.approx(float(problem.gradient(x + t * v)[0] @ v), rel=1e-9)
        np.testing.assert_allclose(ray.moved(t).gradient, problem.gradient(x + t * v)[0], atol=1e-9)
    assert (f.hess_diagonal(at) > 0).all()


def test_zero_has_a_finite_certificate():
    for problem in (crf(0), crf(0, "l1"), crf(0, "elasticnet"), ChainSVMProblem(**random_chains(0))):
        told = problem.certify(Point(np.zeros(problem.size))).certificate
        assert np.isfinite([told.primal, told.dual]).all() and told.dual <= told.primal


def test_without_transitions_it_is_the_multinomial_problem():
    """Sequences of one token, and sequences whose tokens are never followed by one that has a weight."""
    data = random_chains(5, lengths=[1] * 40)
    chain = ChainCRFProblem(**data)
    plain = MaximumEntropyProblem(data["X"], data["y"])
    found, wanted = solve(chain, "tron", tol=1e-10), solve(plain, "tron", tol=1e-10)
    assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(found.coef[: plain.size], wanted.coef, atol=1e-4)
    coef = np.random.default_rng(0).standard_normal(chain.size)
    coef[plain.size :] = 0
    long = ChainCRFProblem(data["X"], data["y"], lengths=[20, 20])
    assert long.objective(coef) == pytest.approx(plain.objective(coef[: plain.size]), rel=1e-12)


def test_sequences_of_length_one_are_crammer_and_singers_problem():
    data = random_chains(6, lengths=[1] * 40)
    chain, plain = ChainSVMProblem(**data), CrammerSingerProblem(data["X"], data["y"])
    found, wanted = solve(chain, tol=1e-7), solve(plain, tol=1e-7)
    assert found.converged
    assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=2e-7)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), features=st.sampled_from(CHOICES), hamming=st.booleans())
def test_the_structured_hinge_by_enumeration(seed, features, hamming):
    rng = np.random.default_rng(seed)
    cost = "hamming" if hamming else np.abs(rng.standard_normal((3, 3))) * (1 - np.eye(3))
    problem = ChainSVMProblem(**random_chains(seed), loss=cost, features=features)
    coef = rng.standard_normal(problem.size)
    z, edge = problem.scores(coef), problem.transitions(coef)
    total = 0.5 * coef @ coef
    for i, C in enumerate(problem.weights):
        part = slice(problem.offsets[i], problem.offsets[i + 1])
        found, own = enumerated(z[part], edge), problem.codes[part]
        truth = found.scores[(found.labelings == own).all(axis=1)][0]
        total += C * (found.scores + problem.cost[own, found.labelings].sum(axis=1)).max() - C * truth
    assert problem.objective(coef) == pytest.approx(total, rel=1e-12)
    best = solve(problem, tol=1e-6).certificate
    assert problem.certificate(coef).dual <= best.primal
    labels = rng.integers(0, 3, len(problem.codes)).astype(np.int32)
    mixture = problem.whole(labels, 0.3)
    told = problem.certificate(coef, dual=mixture)
    assert told.dual <= best.primal
    pull = problem.mixture_facts(mixture).pull
    assert told.dual == pytest.approx(-0.5 * pull @ pull + 0.3 * problem.labeling_costs(labels).sum(), rel=1e-9)


def test_a_mixture_that_is_no_distribution_is_refused():
    problem = ChainSVMProblem(**random_chains(0))
    labels = np.zeros(len(problem.codes), dtype=np.int32)
    fine = problem.whole(labels)
    for bad, message in (
        (LabelingMixture(fine.owner, 2 * fine.share, labels, len(labels)), "no distribution"),
        (LabelingMixture(fine.owner + 1, fine.share, labels, len(labels)), "no labelings of these sequences"),
        (LabelingMixture(fine.owner, fine.share, labels + 9, len(labels)), "no labelings of these sequences"),
    ):
        with pytest.raises(ValueError, match=message):
            problem.certificate(np.zeros(problem.size), dual=bad)


def test_storage_does_not_matter():
    data = random_chains(8)
    coef = None
    for features in CHOICES:
        for X in (data["X"], data["X"].toarray(), Matrix(data["X"].astype(np.float32).astype(np.float64))):
            problem = ChainCRFProblem(X, data["y"], data["lengths"], features=features)
            if coef is None or len(coef) != problem.size:
                coef = np.random.default_rng(0).standard_normal(problem.size)
                wanted = problem.objective(coef)
            assert problem.objective(coef) == pytest.approx(wanted, rel=1e-6)


def test_values_that_cancel_are_observed():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    for form in (X, sp.csr_array(X), PlainRows(X)):
        problem = ChainCRFProblem(form, [0, 0, 1], features="observed", transitions="observed")
        assert problem.pairs.places.tolist() == [0, 3] and problem.pairs.edges.tolist() == [0, 1]


def test_problems_can_be_pickled_and_taken_apart():
    problem = crf(2)
    coef = np.random.default_rng(0).standard_normal(problem.size)
    again = pickle.loads(pickle.dumps(problem))
    assert again.objective(coef) == problem.objective(coef)
    parts = [problem.taken(part) for part in ([0, 2], [1, 3, 4])]
    losses = sum(part.objective(coef) - part.penalty_value(coef) for part in parts)
    assert losses == pytest.approx(problem.objective(coef) - problem.penalty_value(coef), rel=1e-12)
    assert problem.with_C(3.0).weights == pytest.approx(3 * problem.weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lengths": [3, 0, 12]}, "sequence 1 has length 0"),
        ({"lengths": [3, 4]}, "lengths add up to 7 tokens, X has 15 rows"),
        ({"lengths": [1.5]}, "whole numbers"),
        ({"features": "some"}, "features must be one of all, observed"),
        ({"sample_weight": [1.0]}, "sample_weight has 1 entries"),
    ],
)
def test_what_is_wrong_is_told(change, message):
    with pytest.raises(ValueError, match=message):
        ChainCRFProblem(**(random_chains(0) | change))
