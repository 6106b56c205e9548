"""The cache of what fits share: one budget, owners that come and go, threads that build once."""

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp

from support import random_problem
from widemargin import Matrix, solve
from widemargin.data.kept import SHELF, Owner, Shelf, size_of


def test_what_was_used_longest_ago_goes_first():
    shelf, owner = Shelf(budget=100), Owner()
    for name in ("a", "b"):
        shelf.get(owner, name, lambda: [], n_bytes=40)
    shelf.get(owner, "a", lambda: "not built", n_bytes=40)
    shelf.get(owner, "c", lambda: [], n_bytes=40)
    assert shelf.get(owner, "a", lambda: "anew", n_bytes=40) == []
    assert shelf.get(owner, "b", lambda: "anew", n_bytes=40) == "anew"


def test_what_is_larger_than_the_budget_is_kept_until_the_next_comes():
    shelf, owner = Shelf(budget=100), Owner()
    assert shelf.get(owner, "large", lambda: 1, n_bytes=101) == 1
    assert shelf.get(owner, "large", lambda: 2, n_bytes=101) == 1
    shelf.get(owner, "small", lambda: 3, n_bytes=10)
    assert shelf.get(owner, "large", lambda: 2, n_bytes=101) == 2
    assert shelf._held == 101


def test_things_go_with_their_owner():
    shelf, owner = Shelf(budget=1000), Owner()
    shelf.get(owner, "one", lambda: [1], n_bytes=10)
    shelf.get(owner, "two", lambda: [2], n_bytes=10)
    assert shelf._held == 20
    del owner
    gc.collect()
    assert shelf._held == 0 and not shelf._things


def test_an_owner_that_goes_while_things_are_kept_does_no_harm():
    """Its finalizer runs wherever the collector does, also inside the shelf."""
    shelf = Shelf(budget=1000)
    owner = Owner()
    shelf.get(owner, "one", lambda: [1], n_bytes=10)
    with shelf._lock:
        del owner
        gc.collect()
    other = Owner()
    assert shelf.get(other, "one", lambda: [2], n_bytes=10) == [2]
    assert shelf._held == 10


def test_things_that_are_made_again_and_again_leave_one_watch_each():
    shelf, owner, before = Shelf(budget=100), Owner(), len(weakref.finalize._registry)
    for _ in range(50):
        shelf.get(owner, "a", lambda: 1, n_bytes=60)
        shelf.get(owner, "b", lambda: 1, n_bytes=60)
    assert len(weakref.finalize._registry) <= before + 2


def test_a_problem_that_keeps_things_can_be_pickled_and_copied():
    problem = random_problem(1, "squared_hinge").kept_along()
    for other in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem)):
        assert other.keeper is not problem.keeper
        assert solve(other, tol=1e-6).converged


def test_threads_build_once():
    shelf, owner, built = Shelf(), Owner(), []
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: shelf.get(owner, "x", lambda: built.append(1) or object()), range(64)))
    assert len(built) == 1 and len(set(map(id, found))) == 1


def test_a_matrix_and_its_views_share_what_is_kept_and_taken_rows_do_not():
    X = Matrix(sp.csr_array(np.eye(5)))
    assert Matrix(X).native_columns is X.native_columns
    assert X.take([0, 1, 2, 3, 4]).native_columns is not X.native_columns


def test_columns_beyond_the_budget_are_made_once_all_the_same(monkeypatch):
    monkeypatch.setattr(SHELF, "budget", 10)
    X = Matrix(sp.csr_array(np.eye(5)))
    assert X.native_columns is X.native_columns


def test_sizes_are_about_right():
    assert size_of(np.zeros(10)) == 80
    assert size_of((np.zeros(10), np.zeros(5))) == 120
    X = Matrix(sp.csr_array(np.eye(50)))
    assert 50 * 8 <= size_of(X.native_columns) <= 50 * 20
    assert SHELF.budget > 2**20
