"""When a run counts as stalled."""

import math
from collections.abc import Iterable

import numpy as np
import pytest

from widemargin.solvers.base import Point, Step
from widemargin.solvers.run.stall import LinkWatch, StallWatch, grace_steps


def first_stall(gap, grace=10, limit=10_000):
    """The first iteration at which the gap, as a function of the iteration, is called stalled; None if it never is."""
    watch = StallWatch(grace=grace)
    return next((k for k in range(1, limit) if watch.is_stalled(k, gap(k))), None)


def test_steady_progress_is_never_a_stall():
    assert first_stall(lambda k: 0.999**k, grace=1000) is None
    assert first_stall(lambda k: 1 / k) is None
    assert first_stall(lambda k: 1 / math.sqrt(k)) is None


def test_a_standing_gap_is_a_stall_after_the_grace():
    assert first_stall(lambda k: 1.0) == 1 * 4 + 10 + 1
    assert first_stall(lambda k: 1.0, grace=100) == 1 * 4 + 100 + 1


@pytest.mark.parametrize("floor", [1e-17, 0.0])
def test_a_gap_that_reached_its_floor_is_a_stall(floor):
    found = first_stall(lambda k: max(floor, 0.5**k))
    assert found is not None


def test_progress_slower_than_one_over_the_root_of_steps_is_a_stall():
    assert first_stall(lambda k: k**-0.3) is not None
    assert first_stall(lambda k: 1 / (1 + math.log(k))) is not None


def test_an_infinite_gap_is_no_progress():
    assert first_stall(lambda k: math.inf) == 11


def test_an_unknown_gap_neither_stalls_nor_excuses():
    assert first_stall(lambda k: math.nan) is None
    found = first_stall(lambda k: 1.0 if k % 10 == 0 else math.nan)
    assert found is not None and found <= 60


def test_noise_does_not_hide_progress():
    assert first_stall(lambda k: 0.99**k * (1 + k % 3), grace=1000) is None
    assert first_stall(lambda k: 0.01 / k if k % 97 == 0 else 1 / k, grace=1000) is None


def test_small_data_are_given_more_steps():
    assert grace_steps(10) == grace_steps(0) == 100_000
    assert grace_steps(10**5) == 10_000
    assert grace_steps(10**9) == 1_000


# Solvers that another one waits for.

ENTRIES = 10**9  # so many that a run is given the fewest steps


def told(iteration: int, gap: float, objective: float = math.nan, passes: float = 0.0) -> Step:
    return Step(iteration, passes, point=lambda: Point(np.zeros(1)), objective=objective, gap=gap)


def handed_over(steps: Iterable[Step]) -> int | None:
    """The step after which the other solver begins."""
    watch = LinkWatch(ENTRIES)
    return next((step.iteration for step in steps if watch.is_over(step)), None)


def test_the_next_in_line_begins_before_the_run_is_called_stalled():
    at = handed_over(told(k, 1.0) for k in range(1, 5000))
    assert at is not None and at < grace_steps(ENTRIES) <= first_stall(lambda k: 1.0, grace_steps(ENTRIES))


def test_a_solver_that_tells_no_gap_is_not_waited_for_for_ever():
    """Steps over a few columns make hardly a pass, however many there are."""
    at = handed_over(told(k, math.nan, passes=1e-3 * k) for k in range(1, 5000))
    assert at is not None and at < grace_steps(ENTRIES)


def test_a_gap_beyond_the_objective_is_no_progress():
    """It falls by half with every few steps and proves nothing that w = 0 did not."""
    assert handed_over(told(k, 1e40 * 0.95**k, objective=1.0) for k in range(1, 1500)) is not None
    assert handed_over(told(k, 0.95**k, objective=1.0) for k in range(1, 1500)) is None
