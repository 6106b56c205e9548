"""A stochastic run answers with its best epoch, not with its last, and with a finite point whatever overflows."""

from __future__ import annotations

import numpy as np
import pytest

from support import random_data, random_problem, real_data
from widemargin import Problem, solve
from widemargin.solvers import Pegasos, Solver, table
from widemargin.solvers.stochastic.best_epoch import SAMPLE, BestEpoch

STOCHASTIC = [cls() for cls in table().values() if ".stochastic." in cls.__module__]
PEGASOS = [Pegasos(average=False), Pegasos(subsample=None), Pegasos(subsample=None, average=False)]


def objectives(problem: Problem, solver: Solver, epochs: range) -> np.ndarray:
    """What runs of so many epochs return, over the optimum."""
    best = solve(problem, "dual_cd", tol=1e-8).certificate.primal
    return np.array([solve(problem, solver, tol=1e-12, max_iter=k).certificate.primal / best for k in epochs])


@pytest.mark.parametrize("solver", [*STOCHASTIC, *PEGASOS], ids=repr)
@pytest.mark.parametrize("intercept", ["none", "regularized"])
def test_more_epochs_end_no_worse(solver, intercept):
    """Where the sample is all of the rows, the best epoch is known exactly."""
    problem = random_problem(
        1, "hinge", rows=60, columns=30, C=5.0, intercept=intercept, sample_weight=np.arange(60) % 3
    )
    found = objectives(problem, solver, range(1, 25))
    assert np.all(np.diff(found) <= 1e-12 * found[1:])


def test_a_sample_of_rows_passes_a_bad_epoch_over():
    """Found by a search over seeds: the tenth epoch ends 30 % above the best before it."""
    problem = random_problem(1, "hinge", rows=3 * SAMPLE, columns=30, C=1.0)
    found = objectives(problem, table()["sgd_m"](), range(1, 40))
    assert np.all(found <= 1.1 * np.minimum.accumulate(found))


def test_a_bad_last_epoch_of_a9a_is_not_returned():
    X, y = real_data("a9a")
    problem = Problem(X, y, loss="hinge", C=1.0)
    assert np.all(objectives(problem, table()["sgd_m"](), range(50, 61)) < 1.03)


@pytest.mark.parametrize("solver", STOCHASTIC, ids=repr)
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_what_overflows_is_never_returned(solver, scale):
    """Rates and steps as long as these features overflow; a run must end at a finite point all the same."""
    X, response = random_data(1, rows=300)
    for loss in sorted(solver.losses):
        problem = Problem(X * scale, np.sign(response), loss, C=1e3)
        solution = solve(problem, solver, max_iter=3)
        assert np.isfinite([solution.certificate.primal, solution.certificate.dual]).all(), loss
        assert np.isfinite(solution.coef).all() and np.isfinite(solution.dual).all()


def test_a_first_rate_at_which_everything_overflows_is_too_large():
    X, response = random_data(1, rows=300)
    problem = Problem(1e3 * X, np.sign(response), "squared_hinge")
    assert solve(problem, "svm_sgd", max_iter=5).certificate.primal < problem.objective(np.zeros(12))


def offered(best: BestEpoch, w: float, dual: float, bound: float) -> None:
    room, v = best.room
    room[:], v[:] = w, dual
    best.offer(0.0)
    best.offer_dual(bound)


def test_only_finite_points_are_kept_and_what_was_verified_is_forgotten():
    problem = random_problem(0, "hinge")
    best = BestEpoch(problem, 0)
    offered(best, np.nan, 0.1, np.nan)
    assert not best.point().w.any() and not best.point().dual.any()
    offered(best, 0.01, 0.2, 2.0)
    offered(best, np.inf, np.nan, np.nan)
    offered(best, 9.0, 0.3, 1.0)  # worse in both
    assert np.all(best.point().w == 0.01) and np.all(best.point().dual == 0.2)
    best.forget()
    assert np.all(best.point().w == 0.01) and np.all(best.point().dual == 0.2)
    offered(best, 9.0, 0.3, 1.0)
    assert np.all(best.point().w == 9.0) and np.all(best.point().dual == 0.3)


def test_a_point_that_was_taken_does_not_change_with_later_epochs():
    best = BestEpoch(random_problem(0, "hinge"), 0)
    offered(best, 0.5, 0.2, 2.0)
    taken = best.point()
    best.forget()
    for w in (0.3, 0.2, 0.1):
        offered(best, w, w, -w)
        best.forget()
    assert np.all(taken.w == 0.5) and np.all(taken.dual == 0.2)
