"""Every registered solver's runs, on everything it declares: Ctrl-C, deadlines, warm starts and callbacks.

No clock is asked: a pass over the data is a second (`ticking`), so that "soon" is a number of passes.
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drawn import OWN_TOLERANCE, Draw, drawn_problem, tolerance
from ticking import press_ctrl_c, ticking, usual_ctrl_c
from widemargin import Solution, Status, solve
from widemargin.solvers import table
from widemargin.solvers.run.trace import TraceRow

# Passes after Ctrl-C or the deadline: the rest of the step at hand, whose inner loops end, and the certificate.
SOON = 24
STEPS = 50_000
# A coarse start may be worse than zero for what a method keeps beside the point, and chance ends stochastic runs; but
# it must not mislead for long.
SLOWER, SLOWER_BY_CHANCE = 2, 10

every_solver = pytest.mark.parametrize("name", list(table()))
some = settings(max_examples=15)


def soon(problem: Any) -> int:
    """Calls of the native core after Ctrl-C or the deadline: of rows in chunks, a pass calls it for each."""
    return SOON * getattr(problem.X, "n_chunks", 1)


def rounding(objective: float) -> float:
    return 1e-12 * (1 + abs(objective))


def assert_certified(problem: Any, solution: Solution) -> None:
    """What the run says of its solution is what the problem says of it, and weak duality holds."""
    told = solution.certificate
    exact = problem.certificate(solution.coef, solution.intercept, solution.dual)
    assert np.isfinite([told.primal, told.dual]).all()
    assert told.primal == pytest.approx(exact.primal, rel=1e-9)
    size = max(abs(exact.primal), getattr(exact, "least", 0.0))  # a one-class optimum may be zero
    assert told.dual == pytest.approx(exact.dual, rel=1e-9, abs=1e-9 * size)
    assert told.dual <= told.primal + rounding(told.primal)


def hard_problem(name: str, data: Draw) -> Any:
    """With features as they come and a large C, where inner loops are long."""
    return drawn_problem(name, data, sizes=(1.0, 100.0), raw=True)


def some_pass(problem: Any, name: str, data: Draw) -> int:
    """A pass in the middle of a run, anywhere in it."""
    with ticking() as ticks:
        solve(problem, name, tol=tolerance(name), max_iter=200)
    return data.draw(st.integers(1, max(1, ticks.count - 1)), label="pass")


@pytest.mark.parametrize("name", list(table()))
@some
@given(data=st.data())
def test_ctrl_c_in_any_pass_ends_the_run_soon_with_a_certified_solution(name: str, data: Draw) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread receives signals")
    problem = hard_problem(name, data)
    pressed = some_pass(problem, name, data)
    tol = 1e-4 * tolerance(name)
    with usual_ctrl_c(), ticking() as ticks:
        ticks.at(pressed, press_ctrl_c)
        solution = solve(problem, name, tol=tol, max_iter=1000)
    assert ticks.count <= pressed + soon(problem)
    assert solution.status is Status.INTERRUPTED or solution.converged
    assert not solution.converged or solution.certificate.relative_gap <= tol
    assert_certified(problem, solution)


@every_solver
@some
@given(data=st.data())
def test_a_deadline_ends_the_run_soon_with_a_certified_solution(name: str, data: Draw) -> None:
    problem = hard_problem(name, data)
    tiny = data.draw(st.booleans(), label="tiny")
    seconds = 1e-9 if tiny else some_pass(problem, name, data)
    tol = 1e-4 * tolerance(name)
    with ticking() as ticks:
        solution = solve(problem, name, tol=tol, max_iter=1000, max_seconds=seconds)
    assert ticks.count <= seconds + soon(problem)
    assert solution.status is Status.TIME_LIMIT or solution.converged
    assert not solution.converged or solution.certificate.relative_gap <= tol
    assert_certified(problem, solution)


@every_solver
@some
@given(data=st.data())
def test_a_start_at_the_solution_ends_there_and_a_coarse_one_ends_at_the_same_objective(name: str, data: Draw) -> None:
    problem, tol = drawn_problem(name, data), tolerance(name)
    cold = solve(problem, name, tol=tol, max_iter=STEPS)
    assume(cold.status is not Status.STALLED)  # who converges on what is the subject of test_every_solver.py
    again = solve(problem, name, tol=tol, max_iter=STEPS, warm_start=cold)
    assert again.converged and again.n_iter == 0
    assert again.certificate.primal <= cold.certificate.primal + rounding(cold.certificate.primal)
    coarse = solve(problem, name, tol=data.draw(st.sampled_from([0.5, 0.1]), label="coarse"), max_iter=STEPS)
    warm = solve(problem, name, tol=tol, max_iter=STEPS, warm_start=coarse)
    slower = SLOWER_BY_CHANCE if name in OWN_TOLERANCE else SLOWER
    assert warm.converged and warm.n_iter <= slower * (cold.n_iter + SOON)
    assert warm.certificate.primal <= coarse.certificate.primal + rounding(coarse.certificate.primal)
    largest_gap = max(cold.certificate.gap, warm.certificate.gap)
    assert abs(cold.certificate.primal - warm.certificate.primal) <= largest_gap + 1e-14 * abs(cold.certificate.primal)
    assert_certified(problem, warm)


@every_solver
@some
@given(data=st.data())
def test_a_callback_sees_the_run_go_on_and_ends_it(name: str, data: Draw) -> None:
    problem, tol = drawn_problem(name, data), tolerance(name)
    rows: list[TraceRow] = []
    whole = solve(problem, name, tol=tol, max_iter=STEPS, callback=rows.append)
    assume(whole.status is not Status.STALLED)
    assert whole.converged and rows
    for before, after in pairwise(rows):
        assert before.iteration <= after.iteration and before.passes <= after.passes
    certified = [row for row in whole.trace if row.certified]
    lowest, highest = min(row.objective for row in certified), max(row.dual for row in certified)
    assert highest <= lowest + rounding(lowest)
    last = data.draw(st.integers(1, len(rows)), label="rows")
    seen: list[TraceRow] = []

    def stop(row: TraceRow) -> bool:
        seen.append(row)
        return len(seen) >= last

    ended = solve(problem, name, tol=tol, max_iter=STEPS, callback=stop)
    assert len(seen) == last
    assert ended.status is Status.INTERRUPTED or ended.converged
    assert ended.converged or last < len(rows)
    assert_certified(problem, ended)
