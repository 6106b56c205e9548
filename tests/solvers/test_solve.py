"""`solve`: one stopping rule, limits, callbacks, warm starts, and honest endings."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import widemargin
from block_rows import where_it_runs
from support import random_data, random_problem
from widemargin import Problem, Status, solve
from widemargin.objective.losses import LOSSES
from widemargin.solvers import DualCD, Solver
from widemargin.solvers.base import Point, Step
from widemargin.solvers.run.trace import Trace, TraceRow


def problem_of(loss="squared_hinge", intercept="none", **settings):
    return random_problem(1, loss, "l2", intercept, **{"rows": 200, "columns": 20, **settings})


def assert_proven(solution, problem, tol):
    """What the solution claims is what the problem says about its point."""
    exact = problem.certificate(solution.coef, solution.intercept, solution.dual)
    assert solution.certificate.primal == pytest.approx(exact.primal, rel=1e-12)
    assert solution.certificate.dual == pytest.approx(exact.dual, rel=1e-12)
    assert exact.relative_gap <= tol
    assert problem.objective(solution.coef, solution.intercept) == pytest.approx(exact.primal, rel=1e-12)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_converged_means_the_gap_is_below_tol(intercept, tol):
    problem = problem_of(intercept=intercept)
    solution = solve(problem, tol=tol)
    assert solution.status is Status.CONVERGED
    assert solution.converged
    assert_proven(solution, problem, tol)


def test_last_row_of_the_trace_is_certified():
    for tol, limit in ((1e-6, None), (1e-12, 2)):
        solution = solve(problem_of(C=100.0), tol=tol, max_iter=limit)
        last = solution.trace[-1]
        assert last.certified
        assert last.iteration == solution.n_iter
        assert last.objective >= solution.certificate.primal
        assert last.dual <= solution.certificate.dual


# Limits.


@pytest.mark.parametrize("max_iter", [1, 2, 7])
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_iteration_limit(max_iter, intercept):
    problem = problem_of("hinge", intercept, C=1000.0)
    solution = solve(problem, tol=1e-14, max_iter=max_iter)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.n_iter == max_iter
    assert not solution.converged
    assert_proven(solution, problem, np.inf)


def test_limit_that_was_enough_is_called_converged():
    problem = problem_of(C=1e-3)
    needed = solve(problem, tol=1e-3).n_iter
    assert solve(problem, tol=1e-3, max_iter=needed).converged


def test_time_limit():
    problem = problem_of("hinge", "free", C=1e4, rows=2000, columns=200)
    solution = solve(problem, tol=0.0, max_seconds=1e-6)
    assert solution.status is Status.TIME_LIMIT
    assert solution.n_iter >= 1
    assert_proven(solution, problem, np.inf)


@pytest.mark.parametrize("loss", sorted(DualCD.losses))
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_tol_zero_ends_honestly(loss, intercept):
    problem = random_problem(2, loss, "l2", intercept, rows=30, columns=5)
    solution = solve(problem, tol=0.0)
    assert solution.status in (Status.STALLED, Status.CONVERGED)
    assert solution.converged == (solution.certificate.relative_gap == 0.0)
    assert solution.certificate.relative_gap <= 1e-9


# Callbacks.


def test_callback_sees_every_row_and_may_stop():
    rows = []

    def stop_at_four(row):
        rows.append(row)
        return row.iteration >= 4

    problem = problem_of("hinge", C=100.0)
    solution = solve(problem, tol=1e-12, callback=stop_at_four)
    assert solution.status is Status.INTERRUPTED
    assert [row.iteration for row in rows] == [1, 2, 3, 4]
    assert list(solution.trace)[: len(rows)] == rows
    assert_proven(solution, problem, np.inf)


def test_callback_that_returns_nothing_changes_nothing():
    problem = problem_of("hinge")
    seen = []
    watched = solve(problem, tol=1e-6, callback=lambda row: seen.append(row.gap))
    assert watched.converged
    assert len(seen) == watched.n_iter
    np.testing.assert_allclose(watched.certificate.primal, solve(problem, tol=1e-6).certificate.primal, rtol=2e-6)


def test_error_in_a_callback_comes_through():
    def fail(row):
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        solve(problem_of(), callback=fail)


# Seeds, threads and warm starts.


def test_same_seed_same_result():
    problem = problem_of("hinge", "free")
    first, again, other = (solve(problem, tol=1e-4, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.coef, again.coef)
    np.testing.assert_array_equal(first.dual, again.dual)
    assert first.intercept == again.intercept
    assert not np.array_equal(first.coef, other.coef)


def test_threads_do_not_change_the_result():
    problem = problem_of("hinge", rows=3000)
    one = solve(problem, tol=1e-5)
    for n_jobs in (2, 3, -1):
        np.testing.assert_array_equal(solve(problem, tol=1e-5, n_jobs=n_jobs).coef, one.coef)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive"])
def test_warm_start_saves_work_and_reaches_the_same_optimum(loss, intercept):
    def at(C):
        return problem_of(loss, intercept, C=C)

    cold = solve(at(1.0), tol=1e-7)
    assert cold.converged
    again = solve(at(1.0), tol=1e-7, warm_start=cold)
    assert again.converged and again.n_iter == 0
    np.testing.assert_array_equal(again.coef, cold.coef)
    for C in (0.9, 1.1):
        nearby, fresh = solve(at(C), tol=1e-4, warm_start=cold), solve(at(C), tol=1e-4)
        assert nearby.converged and fresh.converged
        assert nearby.n_iter < fresh.n_iter or not LOSSES[loss].smooth
        assert nearby.certificate.primal == pytest.approx(fresh.certificate.primal, rel=2e-4)


def test_warm_start_is_never_made_worse():
    start = solve(problem_of("hinge", "free"), tol=1e-9)
    for C in (1.0, 1 + 1e-9):
        problem = problem_of("hinge", "free", C=C)
        given = problem.certificate(start.coef, start.intercept, start.dual)
        stopped = solve(problem, tol=0.0, max_iter=1, warm_start=start)
        assert stopped.certificate.primal <= given.primal
        assert stopped.certificate.dual >= given.dual


def test_warm_start_is_the_first_row():
    start = solve(problem_of("hinge"), tol=1e-2)
    rows = []
    warm = solve(problem_of("hinge", C=2.0), tol=1e-3, warm_start=start, callback=rows.append)
    assert [row.iteration for row in rows] == list(range(warm.n_iter + 1))
    assert rows[0].certified


def test_warm_start_from_other_rows_uses_the_coefficients():
    few, many = problem_of("hinge", rows=150), problem_of("hinge", rows=200)
    warm = solve(many, tol=1e-6, warm_start=solve(few))
    assert warm.converged
    assert warm.certificate.primal == pytest.approx(solve(many, tol=1e-6).certificate.primal, rel=2e-6)


def test_warm_start_of_another_kind_of_problem():
    """Any solution over the same columns will do: its dual point is brought into the new domain."""
    start = solve(problem_of("squared", "free"), tol=1e-3)
    for loss in sorted(DualCD.losses):
        for intercept in ("none", "regularized", "free"):
            problem = problem_of(loss, intercept)
            warm = solve(problem, tol=1e-6, warm_start=start)
            assert warm.converged
            assert_proven(warm, problem, 1e-6)


def test_warm_start_of_another_width_is_refused():
    with pytest.raises(ValueError, match="warm_start has 20 coefficients, the problem has 12"):
        solve(random_problem(0, "hinge"), warm_start=solve(problem_of("hinge")))


# Refusals.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": "dual_sd"}, "unknown solver 'dual_sd': use 'auto' or one of dual_cd"),
        ({"tol": -1e-3}, "tol must be a finite number >= 0"),
        ({"tol": np.nan}, "tol must be a finite number >= 0"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"max_iter": 1.5}, "max_iter must be at least 1 and whole"),
        ({"n_jobs": 1.5}, "n_jobs must be at least"),
        ({"tol": "a"}, "tol must be a finite number >= 0"),
        ({"max_seconds": 0.0}, "max_seconds must be greater than 0"),
        ({"max_seconds": np.nan}, "max_seconds must be greater than 0"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"seed": -1}, "seed must lie between 0 and"),
        ({"seed": 2**64}, "seed must lie between 0 and"),
        ({"solver": DualCD(order="zigzag")}, "unknown order: use cyclic, permuted"),
    ],
)
def test_refused_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        solve(problem_of(), **settings)


def test_solver_of_another_type_is_refused():
    with pytest.raises(TypeError, match="solver must be a name or a Solver"):
        solve(problem_of(), solver=DualCD)
    with pytest.raises(TypeError, match="solver must be a name or a Solver"):
        solve(problem_of(), solver=3)


@pytest.mark.parametrize(("loss", "penalty"), [("hinge", "l1"), ("logistic", "elasticnet"), ("squared", "l1")])
def test_unsupported_problem_names_who_can(loss, penalty):
    problem = random_problem(0, loss, penalty)
    able = [name for name, cls in widemargin.solvers.table().items() if cls.supports(loss, penalty, "none")]
    with pytest.raises(ValueError, match=f"'dual_cd' does not solve loss='{loss}', penalty='{penalty}'") as error:
        solve(problem, solver="dual_cd")
    assert all(name in str(error.value) for name in able)
    assert able or "no solver of this version does" in str(error.value)


def test_solvers_are_listed_with_what_they_solve():
    table = widemargin.solvers.table()
    assert table["dual_cd"] is DualCD
    for name, cls in table.items():
        assert cls.name == name
        assert issubclass(cls, Solver)
        assert cls.takes is not Problem or cls.losses <= set(LOSSES)
        assert cls.summary in repr(table)


def test_every_solver_can_be_made_by_its_name_and_solves_what_it_declares():
    for name, cls in widemargin.solvers.table().items():
        if not cls.can_take(Problem):
            continue  # ordinal regression and the one-class SVM have problems, and tests, of their own
        loss = next(name for name in sorted(cls.losses) if name in LOSSES)
        problem = random_problem(4, loss, sorted(cls.penalties)[0], sorted(cls.intercepts)[0], rows=40, columns=4)
        solution = solve(where_it_runs(problem, name), solver=name, tol=1e-2)
        assert solution.converged and solution.solver == name


# What comes back.


def test_solution_and_trace_show_themselves():
    solution = solve(problem_of(), tol=1e-6)
    text = repr(solution)
    for part in ("converged", solution.solver, "objective=", "relative_gap=", "nonzeros=20/20"):
        assert part in text
    columns = solution.trace.to_dict()
    assert {len(column) for column in columns.values()} == {len(solution.trace)}
    frame = solution.trace.to_frame()
    assert list(frame.columns) == list(columns)
    assert frame["gap"].iloc[-1] == solution.trace[-1].gap
    assert (np.diff(frame["seconds"]) >= 0).all()
    assert (np.diff(frame["passes"]) > 0).all()
    assert solution.trace[-1].relative_gap == pytest.approx(solution.trace[-1].gap / solution.trace[-1].objective)


def test_empty_trace():
    columns = Trace().to_dict()
    assert "gap" in columns and all(column == [] for column in columns.values())
    assert len(Trace()) == 0


def test_relative_gap_of_a_row_agrees_with_the_certificate():
    row = TraceRow(0.0, 1, 1.0, objective=0.0, dual=0.0, gap=0.0, n_active=1, certified=True)
    assert row.relative_gap == 0.0


# The driver, with solvers made for the purpose.


@dataclass(frozen=True)
class Scripted(Solver):
    """Yields given points, each claiming to be done."""

    name: ClassVar[str] = "scripted"
    summary: ClassVar[str] = "for tests"
    losses: ClassVar[frozenset[str]] = frozenset(LOSSES)

    points: tuple[float, ...] = ()

    def iterate(self, problem, run):
        for k, value in enumerate(self.points, start=1):
            w = np.full(problem.X.shape[1], value)
            yield Step(iteration=k, passes=k, point=lambda w=w: Point(w), looks_done=True)


def tiny_problem():
    return Problem([[1.0], [2.0]], [1.0, 2.0], loss="squared")


def test_best_verified_point_is_returned():
    solution = solve(tiny_problem(), Scripted(points=(0.5, 0.9, 0.2)), tol=1e-12)
    assert solution.status is Status.STALLED
    assert solution.coef[0] == 0.9
    assert solution.certificate.dual == max(row.dual for row in solution.trace)


def test_claim_to_be_done_is_not_believed():
    assert solve(tiny_problem(), Scripted(points=(0.0,)), tol=1e-3).status is Status.STALLED
    optimum = 10 / 11  # minimises w^2/2 + (w - 1)^2 + (2w - 2)^2
    assert solve(tiny_problem(), Scripted(points=(0.0, optimum, 5.0)), tol=1e-12).n_iter == 2


@pytest.mark.parametrize("point", [np.nan, np.inf, 1e200, 100.0])
def test_nothing_worse_than_no_model_is_returned(point):
    lost = solve(tiny_problem(), Scripted(points=(point,)), tol=1e-3)
    assert lost.status is Status.STALLED
    assert lost.coef.tolist() == [0.0]
    assert lost.certificate.primal == lost.certificate.at_zero == tiny_problem().objective([0.0])
    assert lost.certificate.relative_gap <= 1.0


def test_a_problem_without_anything_to_gain_ends_at_once():
    solution = solve(Problem([[1.0], [2.0]], [0.0, 0.0], loss="squared"))
    assert solution.converged and solution.n_iter == 0 and len(solution.trace) == 1
    assert solution.certificate.relative_gap == 0.0


def test_point_that_is_no_number_gives_way():
    found = solve(tiny_problem(), Scripted(points=(np.nan, 10 / 11)), tol=1e-12)
    assert found.converged
    assert found.coef[0] == 10 / 11


def test_solver_without_a_step_is_an_error():
    with pytest.raises(RuntimeError, match="solver 'scripted' ended before its first step"):
        solve(tiny_problem(), Scripted())


def test_a_warm_start_that_is_not_finite_is_refused():
    problem = problem_of()
    start = solve(problem)
    with pytest.raises(ValueError, match="warm_start is not finite"):
        solve(problem, warm_start=replace(start, coef=np.full_like(start.coef, np.nan)))
    with pytest.raises(TypeError, match="warm_start must be a Solution"):
        solve(problem, warm_start=start.coef)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_features_far_from_zero_cost_nothing_with_a_free_intercept(loss, penalty):
    X, response = random_data(3, rows=200, columns=5, density=1.0)
    y = np.sign(response) if LOSSES[loss].classification else response
    problem = Problem(X.toarray() + 1e3, y, loss=loss, penalty=penalty, intercept="free")
    assert solve(problem, tol=1e-3, max_seconds=60).converged


def test_multipliers_end_honestly_where_no_more_is_to_be_had():
    solution = solve(random_problem(2, "hinge", "l1"), "multipliers", tol=0)
    assert solution.certificate.relative_gap <= 1e-9
