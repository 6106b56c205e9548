"""BLAS runs on one thread from its first use in a fit on, and gets its threads back when the last fit has ended."""

from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from support import random_problem
from test_import import modules_after
from widemargin import MaximumEntropyProblem, solve
from widemargin.blas import _libraries, _SharedLimit, limit_blas, one_blas_thread
from widemargin.solvers import TRON
from widemargin.solvers.sparse.support_step import BLAS_SUPPORT, minimise_on_support


def counts() -> list[int]:
    """Threads of each BLAS library in the process, as they are now."""
    return [pool["num_threads"] for pool in _libraries().info() if pool["user_api"] == "blas"]


@pytest.fixture
def two_threads() -> Iterator[list[int]]:
    """BLAS with two threads each, where it can have two."""
    with threadpool_limits(2, user_api="blas"):
        found = counts()
        if 2 not in found:
            pytest.skip("this BLAS has one thread")
        yield found


def several_classes() -> MaximumEntropyProblem:
    rng = np.random.default_rng(4)
    return MaximumEntropyProblem(rng.standard_normal((60, 5)), rng.integers(0, 3, 60))


@pytest.mark.parametrize(
    ("make_problem", "solver"),
    [
        (lambda: random_problem(1, "logistic"), "newton_cholesky"),
        (lambda: random_problem(1, "logistic", "l1"), "prox_newton"),
        (lambda: random_problem(1, "hinge"), "multipliers"),
        (lambda: random_problem(1, "logistic", "l1"), "interior_point"),
        (several_classes, TRON(preconditioner="blocks")),
    ],
    ids=["newton_cholesky", "prox_newton", "multipliers", "interior_point", "tron"],
)
def test_a_fit_uses_one_thread_of_blas_and_gives_the_others_back(make_problem, solver, two_threads):
    seen = []
    solve(make_problem(), solver, tol=1e-8, callback=lambda row: seen.append(counts()) and None)
    assert set(seen[-1]) == {1}
    assert counts() == two_threads


def test_the_step_on_a_large_support_limits_it_too(two_threads):
    n = BLAS_SUPPORT + 1
    w, slope = np.ones(n), np.full(n, 0.5)
    with one_blas_thread():
        minimise_on_support(np.eye(n), slope, w, np.zeros(n), np.zeros(n))
        assert set(counts()) == {1}
    np.testing.assert_allclose(w, 0.5)


def test_threads_are_given_back_however_fits_overlap(two_threads):
    limit = _SharedLimit()
    limit.enter()
    assert counts() == two_threads  # nobody has used it yet
    limit.set()
    limit.enter()
    limit.leave()
    assert set(counts()) == {1}
    limit.leave()
    assert counts() == two_threads


def test_outside_of_fits_nothing_is_limited(two_threads):
    limit_blas()  # nobody would lift it
    assert counts() == two_threads


def test_a_fit_without_blas_loads_nothing():
    fit = "from widemargin import Problem, solve; solve(Problem([[1.0], [-1.0]], [1, 0], loss='hinge'), 'dual_cd')"
    assert not modules_after(fit) & {"scipy", "threadpoolctl"}
