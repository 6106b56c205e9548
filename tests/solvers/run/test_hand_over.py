"""Two solvers in one run: when the first is judged, what the second is granted, and who goes on after it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from support import random_problem
from widemargin import Problem, solve
from widemargin.objective.certificate import Goal
from widemargin.solvers import DualCD, HandOver, NewtonCholesky, Solver
from widemargin.solvers.base import Point, Run, Step, Steps
from widemargin.solvers.run.hand_over import PATIENCE_SHARE, Outlook


@dataclass(frozen=True)
class Idle(Solver):
    """Makes ten passes a step and gets nowhere."""

    name: ClassVar[str] = "idle"
    losses: ClassVar[frozenset[str]] = frozenset({"squared_hinge"})

    def iterate(self, problem: Problem, run: Run) -> Steps:
        start = run.start or Point(np.zeros(problem.X.shape[1]), 0.0)
        for iteration in range(1, 10_000):
            yield Step(iteration=iteration, passes=10.0 * iteration, point=lambda: start, objective=1.0, gap=1.0)


def seen(*gaps: float) -> list[Step]:
    point = Point(np.zeros(1), 0.0)
    return [Step(k + 1, k + 1.0, lambda: point, objective=1.0, gap=gap) for k, gap in enumerate(gaps)]


def test_a_second_solver_that_gets_nowhere_gives_back() -> None:
    problem = random_problem(3, "squared_hinge", "l2", "free").with_C(100.0)
    found = solve(problem, HandOver(DualCD(), Idle(), budget=1.0, patience=3.0), tol=1e-8)
    assert found.converged and found.solver == "dual_cd+idle+dual_cd"
    passes = [row.passes for row in found.trace]
    assert passes == sorted(passes)
    alone = solve(problem, DualCD(), tol=1e-8)
    assert found.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-8)


def test_names_of_nested_hand_overs() -> None:
    problem = random_problem(3, "squared_hinge", "l2", "free").with_C(100.0)
    chain = HandOver(DualCD(), HandOver(Idle(), NewtonCholesky(), budget=5.0), budget=1.0, patience=3.0)
    found = solve(problem, chain, tol=1e-8)
    assert found.converged and found.solver == "dual_cd+idle+newton_cholesky"


def test_the_outlook_is_the_pace_of_the_latter_half() -> None:
    outlook = Outlook(Goal(1e-3), budget=50.0, patience=4.0)
    poor = [outlook.is_poor(step) for step in seen(1.0, 0.5, 0.25, 0.125)]
    assert not any(poor)  # halved by each pass: seven more to go
    assert outlook.passes_left == pytest.approx(math.log(125) / math.log(2))
    assert outlook.is_poor(seen(*[0.125] * 20)[-1])
    assert math.isinf(outlook.passes_left)


def test_a_plateau_at_the_start_is_waited_for() -> None:
    """A tenth of what the second solver is expected to cost is spent before the first is judged."""
    budget = 200.0
    patience = max(4.0, PATIENCE_SHARE * budget)
    outlook = Outlook(Goal(1e-3), budget=budget, patience=patience)
    gaps = [1.0] * 10 + [0.5 ** (k / 2) for k in range(40)]
    assert not any(outlook.is_poor(step) for step in seen(*gaps))


def test_an_estimate_that_was_refuted_does_not_count() -> None:
    """Estimates below the tolerance whose exact gap stays above it: the first solver is no better off than it is."""
    outlook = Outlook(Goal(1e-3), budget=10.0, patience=5.0)
    point = Point(np.zeros(1), 0.0)
    poor = []
    for k in range(1, 41):
        poor.append(outlook.is_poor(Step(2 * k - 1, 2 * k - 1.0, lambda: point, objective=1.0, gap=5e-4)))
        exact = Step(2 * k, 2.0 * k, lambda: point, objective=1.0, gap=2e-3, looks_done=True)
        poor.append(outlook.is_poor(exact))
    assert any(poor)


def test_hinge_fits_whose_estimates_are_refuted_hand_over() -> None:
    X = np.random.default_rng(0).standard_normal((11, 200)) * 1e-3
    for c in range(8):
        y = np.where(np.arange(11) % 8 == c, 1.0, -1.0)
        problem = Problem(X, y, "hinge", C=0.1, intercept="regularized", intercept_scaling=10.0)
        found = solve(problem, tol=1e-6)
        assert found.converged and found.n_iter < 1000
