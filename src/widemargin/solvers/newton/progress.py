"""How Newton-type runs are told: their steps, when to ask for a verdict, when rounding ends them, their accuracy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...vectors import Vector, inner
from ..base import Step

if TYPE_CHECKING:
    from ...objective.certificate import Goal
    from ...objective.smooth import At, Smooth


def step_at(f: Smooth, at: At, iteration: int, passes: float, gap: float, looks_done: bool) -> Step:
    """The step that ends at that point."""
    return Step(
        iteration=iteration,
        passes=passes,
        point=lambda: f.point(at),
        objective=at.value,
        dual=at.value - gap,
        gap=gap,
        looks_done=looks_done,
        n_active=at.n_active,
    )


class Claim:
    """When an estimated gap is worth an exact check: below the tolerance, and well below what was last refuted."""

    def __init__(self, goal: Goal) -> None:
        self._goal = goal
        self._below = np.inf

    def looks_done(self, gap: float, objective: float) -> bool:
        """Whether to ask for the exact certificate."""
        return gap <= self._below and self._goal.is_met(gap, objective)

    def refuted(self, gap: float) -> None:
        """The estimate was too good."""
        self._below = 0.5 * gap


class RoundingFloor:
    """Ends a run that rounding holds: several steps in a row that promise nothing and bring nothing."""

    def __init__(self, patience: int = 5) -> None:
        self.patience = patience
        self._best = np.inf
        self._idle = 0

    def reached(self, gap: float, promised: float, objective: float) -> bool:
        """`promised` is the decrease that the step's model foresaw."""
        if gap <= 0.5 * self._best or promised > 1e-12 * abs(objective):
            self._best, self._idle = min(gap, self._best), 0
            return gap == 0 and promised == 0
        self._idle += 1
        return self._idle >= self.patience


class Forcing:
    """How exactly the Newton equations are solved: xi_k = min(xi, sqrt(|g_k| / |g_0|)), but no better than needed."""

    def __init__(self, most: float, goal: Goal, first_gradient: Vector) -> None:
        self._most = most
        self._goal = goal
        self._first = math.sqrt(inner(first_gradient, first_gradient))

    def xi(self, at: At) -> float:
        """The share of the gradient that may remain."""
        length = math.sqrt(inner(at.gradient, at.gradient))
        if not (length > 0 and self._first > 0):
            return self._most
        falling = math.sqrt(length / self._first)
        needed = 0.3 * math.sqrt(2 * self._goal.wanted(at.value, 0.5 * length**2)) / length
        return min(self._most, max(falling, needed))
