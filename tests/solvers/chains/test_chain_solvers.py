"""Solvers over chains: all of them end at the same optimum, with weak duality in every row of the trace."""

from __future__ import annotations

import numpy as np
import pytest

from chain_reference import random_chains
from widemargin import ChainCRFProblem, ChainSVMProblem, solve
from widemargin.solvers import ChainBCFW, ChainEG
from widemargin.solvers.auto import choose
from widemargin.solvers.chains.chain_bcfw import token_gram

CHOICES = ("all", "observed")


def data(seed=1, sequences=30):
    return random_chains(seed, lengths=[4] * sequences, k=4, features=8)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("features", CHOICES)
def test_crf_solvers_agree(C, features):
    problem = ChainCRFProblem(**data(), C=C, features=features, transitions=features)
    found = {name: solve(problem, name, tol=1e-7) for name in ("chain_eg", "tron", "lbfgs", "auto")}
    wanted = found["tron"].certificate.primal
    for name, solution in found.items():
        assert solution.converged, name
        assert solution.certificate.primal == pytest.approx(wanted, rel=1e-6)
        for row in solution.trace:
            assert not row.certified or row.dual <= row.objective + 1e-9 * abs(row.objective)
            # No bound lies above the optimum; between verifications they are estimates.
            assert not row.certified or row.dual <= wanted * (1 + 1e-9)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("features", CHOICES)
def test_sparse_penalties(penalty, features):
    problem = ChainCRFProblem(**data(2), C=0.7, penalty=penalty, features=features)
    found = solve(problem, "owlqn", tol=1e-7)
    assert found.converged
    v = problem.penalty.subgradient(
        found.coef, problem.gradient(found.coef)[0] - (1 - problem.penalty.rho) * found.coef
    )
    assert np.abs(v).max() < 1e-2
    assert (found.coef == 0).any()
    # A point a little off is worse.
    rng = np.random.default_rng(0)
    for _ in range(5):
        other = found.coef + 1e-2 * rng.standard_normal(problem.size)
        assert problem.objective(other) >= found.certificate.primal * (1 - 1e-7)


def test_an_elastic_net_without_l1_is_l2():
    plain = ChainCRFProblem(**data())
    net = ChainCRFProblem(**data(), penalty="elasticnet", l1_ratio=0.0)
    assert type(choose(net)) is type(choose(plain))
    assert solve(net, tol=1e-7).certificate.primal == pytest.approx(solve(plain, tol=1e-7).certificate.primal, rel=2e-7)


@pytest.mark.parametrize("C", [0.05, 0.5])
@pytest.mark.parametrize("features", CHOICES)
def test_svm_solvers_agree(C, features):
    problem = ChainSVMProblem(**data(3), C=C, features=features, transitions=features)
    found, other = solve(problem, "chain_bcfw", tol=1e-6), solve(problem, "chain_cutting_plane", tol=1e-5)
    assert found.converged and other.converged
    assert found.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-5)


def test_frank_wolfe_without_products_of_tokens(monkeypatch):
    problem = ChainSVMProblem(**data(4))
    wanted = solve(problem, "chain_bcfw", tol=1e-6)
    monkeypatch.setattr("widemargin.solvers.chains.chain_bcfw.MOST_PRODUCTS", 0)
    assert len(token_gram(problem)) == 0
    found = solve(problem, ChainBCFW(), tol=1e-5)
    assert found.converged
    assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=2e-5)


@pytest.mark.parametrize("sparse", [True, False])
def test_the_products_of_tokens(sparse):
    given = random_chains(5)
    problem = ChainSVMProblem(given["X"] if sparse else given["X"].toarray(), given["y"], given["lengths"])
    dense, gram = given["X"].toarray(), token_gram(problem)
    wanted = [dense[a:b] @ dense[a:b].T for a, b in zip(problem.offsets[:-1], problem.offsets[1:], strict=True)]
    np.testing.assert_allclose(gram, np.concatenate([G.reshape(-1) for G in wanted]), rtol=1e-6)


@pytest.mark.parametrize(("kind", "name"), [(ChainCRFProblem, "chain_eg"), (ChainSVMProblem, "chain_bcfw")])
def test_warm_starts_take_the_dual_point(kind, name):
    problem = kind(**data(6))
    first = solve(problem, name, tol=1e-7)
    again = solve(problem, name, tol=1e-7, warm_start=first)
    assert again.n_iter == 0 and again.converged
    nearby = solve(problem.with_C(1.1), name, tol=1e-5, warm_start=first)
    assert nearby.converged
    assert nearby.n_iter <= solve(problem.with_C(1.1), name, tol=1e-5).n_iter


@pytest.mark.parametrize("kind", [ChainCRFProblem, ChainSVMProblem])
def test_results_do_not_depend_on_threads(kind):
    problem = kind(**data(7))
    one, four = solve(problem, tol=1e-5, n_jobs=1), solve(problem, tol=1e-5, n_jobs=4)
    assert (one.coef == four.coef).all()


def test_weights_are_repetitions():
    given = data(8, sequences=6)
    weight = np.array([1.0, 2.0, 1.0, 0.0, 3.0, 1.0])
    rows = np.concatenate([np.arange(4 * i, 4 * i + 4) for i, w in enumerate(weight) for _ in range(int(w))])
    for kind in (ChainCRFProblem, ChainSVMProblem):
        weighted = kind(**given, sample_weight=weight)
        repeated = kind(given["X"][rows], given["y"][rows], [4] * int(weight.sum()))
        if len(repeated.classes) < 4:
            continue
        found, wanted = solve(weighted, tol=1e-6), solve(repeated, tol=1e-6)
        assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=2e-6)


def test_a_sharp_start_is_no_condition():
    problem = ChainCRFProblem(**data(9))
    for sharpness in (0.0, 5.0, 40.0):
        assert solve(problem, ChainEG(sharpness=sharpness), tol=1e-6).converged
