"""Every solver over every kind of rows that offers what it needs; where rows do not, a refusal that names who can."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from block_rows import on_disk
from drawn import crawls, drawn_problem, tolerance
from plain_rows import PlainRows
from widemargin import Matrix, MaximumEntropyProblem, Problem, solve
from widemargin.data.rows import BLOCKS, COLUMNS, GRAM, IN_ORDER, VERBS
from widemargin.solvers import DualCD, HandOver, table
from widemargin.solvers.auto import choose

ROWS = {
    "sparse": lambda X: Matrix(sp.csr_array(X)),
    "dense": Matrix,
    "plain": PlainRows,
    "file": lambda X: on_disk(sp.csr_array(X)),
    "dense file": on_disk,
}
BY_VERBS_ALONE = [name for name, cls in table().items() if cls.needs == {VERBS}]


def test_the_verbs_suffice_for_these():
    named = {"tron", "lbfgs", "newton_cholesky", "svm_perf", "ocas", "prox_newton", "multipliers", "finite_newton"}
    assert named <= set(BY_VERBS_ALONE)
    assert Matrix(np.eye(2)).offers == {VERBS, IN_ORDER, COLUMNS, GRAM}


@pytest.mark.parametrize("name", list(table()))
@settings(max_examples=15)
@given(data=st.data())
def test_the_same_optimum_over_every_kind_of_rows(name, data):
    problem = drawn_problem(name, data)
    plain = (problem.X.load() if BLOCKS in problem.X.offers else problem.X).to_scipy()
    dense = np.asarray(plain.toarray() if sp.issparse(plain) else plain, dtype=np.float64)
    assume(not crawls(name, problem))
    tol = tolerance(name)
    kind = data.draw(st.sampled_from(sorted(ROWS)), label="rows")
    other = problem.over(ROWS[kind](dense))
    if not table()[name].needs <= other.X.offers:
        lacks = f"solver '{name}' needs .*, which {type(other.X).__name__} lacks; use one of|no solver"
        with pytest.raises(ValueError, match=lacks):
            solve(other, name)
        return
    here, there = solve(problem, name, tol=tol, max_iter=50_000), solve(other, name, tol=tol, max_iter=50_000)
    assert here.converged and there.converged, (problem, here, there)
    exact = problem.certificate(there.coef, there.intercept, there.dual)
    assert exact.relative_gap <= tol * (1 + 1e-5)
    largest_gap = max(here.certificate.gap, there.certificate.gap)
    assert abs(here.certificate.primal - there.certificate.primal) <= largest_gap + 1e-10 * abs(exact.primal)


def problem_over(rows, loss="logistic", penalty="l2"):
    X = np.random.default_rng(0).standard_normal((200, 6))
    return Problem(rows(X), X[:, 0] + 0.3 * X[:, 1] > 0, loss=loss, penalty=penalty, intercept="free")


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_auto_chooses_among_those_that_can(loss, penalty):
    problem = problem_over(PlainRows, loss, penalty)
    chosen = choose(problem)
    assert chosen.accepts(problem)
    assert chosen.name in BY_VERBS_ALONE
    found = solve(problem, tol=1e-6)
    reference = solve(problem_over(Matrix, loss, penalty), tol=1e-6)
    assert found.converged
    assert found.certificate.primal == pytest.approx(reference.certificate.primal, rel=2e-6)


def test_auto_for_several_classes_over_verbs():
    X = np.random.default_rng(1).standard_normal((300, 5))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    found = solve(MaximumEntropyProblem(PlainRows(X), y, intercept="free"), tol=1e-8)
    reference = solve(MaximumEntropyProblem(X, y, intercept="free"), tol=1e-8)
    assert found.converged
    assert found.certificate.primal == pytest.approx(reference.certificate.primal, rel=2e-8)


def test_a_refusal_comes_before_any_work_and_names_those_that_can():
    problem = problem_over(PlainRows)
    with pytest.raises(
        ValueError, match="solver 'dual_cd' needs rows in order, which PlainRows lacks; use one of: "
    ) as e:
        solve(problem, "dual_cd")
    assert "tron" in str(e.value) and "primal_cd" not in str(e.value)


def test_a_wrapped_solver_is_named_by_what_is_inside():
    problem = problem_over(PlainRows)
    able = "solver 'dual_cd, then tron' needs rows in order"
    with pytest.raises(ValueError, match=able):
        solve(problem, HandOver(DualCD(), table()["tron"]()))
    l1 = problem_over(Matrix, penalty="l1")
    with pytest.raises(ValueError, match="solver 'dual_cd, then tron' does not solve loss='logistic', penalty='l1'"):
        solve(l1, HandOver(DualCD(), table()["tron"]()))


def test_where_nobody_can_it_is_said_so():
    from widemargin import OneClassProblem

    with pytest.raises(ValueError, match=r"no solver of this version solves .* over PlainRows"):
        solve(OneClassProblem(PlainRows(np.eye(4) + 1)))


def test_rows_that_lack_verbs_are_refused_by_name():
    class Few:
        offers, shape, nnz = frozenset(), (2, 1), 2

        def matvec(self, w, intercept=0.0, *, n_jobs=1):
            return np.zeros(2)

    with pytest.raises(TypeError, match=r"Few lacks the verbs .*rmatvec.*sandwich"):
        Problem(Few(), [1, -1])


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge", "squared"])
def test_an_elastic_net_at_its_ends_is_what_it_amounts_to(loss):
    X = 100 * np.random.default_rng(6).standard_normal((46, 26))
    y = np.sign(np.random.default_rng(7).standard_normal(46))
    for share, penalty in ((0.0, "l2"), (1.0, "l1")):
        net = Problem(X, y, loss, "elasticnet", l1_ratio=share)
        plain = Problem(X, y, loss, penalty)
        assert type(choose(net)) is type(choose(plain))
        found, wanted = solve(net, tol=1e-6), solve(plain, tol=1e-6)
        assert found.converged
        assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=2e-6)
