"""Ctrl-C: noted between two steps, a second one ends at once, and another's handler stays in charge."""

import os
import signal
import threading

import numpy as np
import pytest

from support import random_problem
from widemargin import Problem, Status, solve
from widemargin.objective.linear_smooth import LinearSmooth
from widemargin.solvers import TRON, DualCD
from widemargin.solvers.run.interrupt import catch_interrupt
from widemargin.solvers.run.side_by_side import Together

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent the way of POSIX")


@pytest.fixture(autouse=True)
def usual_handler():
    """The interpreter's own handler, whatever the test runner installed."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread receives signals")
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, previous)


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def slow_problem():
    return random_problem(0, "hinge", rows=400, columns=40, C=100.0, intercept="free")


def test_first_is_noted_and_second_raises():
    with catch_interrupt() as interrupted:
        assert not interrupted()
        press_ctrl_c()
        assert interrupted()
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


def test_outside_of_a_run_it_raises_as_ever():
    with catch_interrupt():
        pass
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


def test_another_handler_stays_in_charge():
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    with catch_interrupt() as interrupted:
        press_ctrl_c()
        assert heard and not interrupted()
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads_leave_signals_alone():
    found = []

    def work():
        with catch_interrupt() as interrupted:
            found.append(interrupted())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


def test_ctrl_c_in_a_callback_returns_a_certified_solution():
    problem = slow_problem()
    solution = solve(problem, tol=0.0, callback=lambda row: press_ctrl_c() if row.iteration == 3 else None)
    assert solution.status is Status.INTERRUPTED
    assert solution.n_iter == 3
    exact = problem.certificate(solution.coef, solution.intercept, solution.dual)
    assert solution.certificate.primal == pytest.approx(exact.primal, rel=1e-12)
    assert solution.certificate.dual == pytest.approx(exact.dual, rel=1e-12)
    assert solution.certificate.dual <= solution.certificate.primal
    assert np.isfinite(solution.certificate.relative_gap)


def test_ctrl_c_from_outside_returns_a_certified_solution():
    """Sent once the run is under way, from another thread, while the main one is inside the solver."""
    problem = slow_problem()
    under_way = threading.Event()

    def outside():
        assert under_way.wait(60)
        press_ctrl_c()

    sender = threading.Thread(target=outside)
    sender.start()

    def wait_for_it(row):
        under_way.set()
        sender.join(60)

    solution = solve(problem, tol=0.0, callback=wait_for_it)
    assert solution.status is Status.INTERRUPTED
    assert solution.certificate.dual <= solution.certificate.primal


def test_ctrl_c_during_the_last_verification_is_not_lost(monkeypatch):
    """The run has ended by its limit: an interrupt while it is verified must not throw the result away."""
    problem = slow_problem()
    best_intercept = Problem.best_intercept
    calls = []

    def interrupted_once(self, z, start=0.0):
        if len(z) == len(problem.y):  # w = 0, before the run, is judged by fewer
            calls.append(1)
            if len(calls) == 1:
                press_ctrl_c()
        return best_intercept(self, z, start)

    monkeypatch.setattr(Problem, "best_intercept", interrupted_once)
    solution = solve(problem, tol=1e-12, max_iter=1)
    assert calls
    assert solution.status is Status.ITERATION_LIMIT
    assert np.isfinite(solution.certificate.relative_gap)


def test_ctrl_c_during_conjugate_gradients_ends_them_after_that_product(monkeypatch):
    """One Newton step may take thousands of products with the Hessian."""
    problem = random_problem(0, "squared_hinge", rows=400, columns=100, C=1e4)
    hess_vec, products = LinearSmooth.hess_vec, []

    def press_at_the_third(self, at, v):
        products.append(1)
        if len(products) == 3:
            press_ctrl_c()
        return hess_vec(self, at, v)

    monkeypatch.setattr(LinearSmooth, "hess_vec", press_at_the_third)
    solution = solve(problem, TRON(xi=1e-12), tol=1e-12)
    assert solution.status is Status.INTERRUPTED
    assert len(products) == 3
    assert np.isfinite(solution.certificate.relative_gap)


def test_problems_begun_together_pass_it_on():
    problem = slow_problem()

    def sides(at):
        if at == 0:
            press_ctrl_c()
        return problem.y > 0

    with pytest.raises(KeyboardInterrupt):
        Together(problem, 1e-12, 0, DualCD()).begin(sides, 4)
