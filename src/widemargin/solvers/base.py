"""What a solver is: frozen settings, a declaration of what it solves, and a generator of outer steps.

The generator is the algorithm and nothing else. It yields a `Step` after each outer step; the driver (run/driver.py)
traces it, watches limits, and, when a step says that it looks done, verifies exactly and either stops or sends the
verdict back. So there is one stopping rule, one clock and one certificate for all solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..data.rows import VERBS
from ..objective.certificate import Goal
from ..objective.points import Point as Point
from ..objective.problem import Problem

if TYPE_CHECKING:
    from ..objective.any_problem import AnyProblem
    from ..objective.certificate import Certified


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Run:
    """What the driver asks of a run."""

    tol: float
    seed: int
    max_iter: float  # outer steps, possibly infinite
    every_step: bool  # somebody watches: come back after each single step
    start: Point | None  # warm start
    seconds_left: Callable[[], float]
    at_zero: float = np.inf  # the objective at w = 0, by the gain over which gaps are measured
    interrupted: Callable[[], bool] = _never  # whether Ctrl-C came

    @property
    def goal(self) -> Goal:
        """Which gap is small enough."""
        return Goal(self.tol, self.at_zero)

    def should_stop(self) -> bool:
        """Whether a long inner loop should come back with what it has: the time is up, or Ctrl-C came."""
        return self.seconds_left() <= 0 or self.interrupted()

    def slice(self) -> float:
        """Seconds that one native call may take: short enough that limits and Ctrl-C are felt at once."""
        return min(0.05, max(0.0, self.seconds_left()))

    def watched(self) -> Run:
        """The run with somebody watching."""
        return replace(self, every_step=True)


@dataclass(frozen=True)
class Step:
    """Where the solver stands. `point` is asked for only when it is needed."""

    iteration: int
    passes: float
    point: Callable[[], Point] = field(repr=False)
    objective: float = np.nan
    dual: float = np.nan
    gap: float = np.nan
    looks_done: bool = False
    n_active: int = 0
    by_the_clock: bool = False  # the time slice ended a call midway: nothing may be decided here
    solver: str = ""  # who made the step, where that is not the solver that was asked


Steps = Generator[Step, "Certified | None", None]


@dataclass(frozen=True)
class Solver:
    """Base of all solvers: settings are fields, the declaration is class variables.

    Examples
    --------
    >>> from widemargin.solvers import DualCD, Solver
    >>> issubclass(DualCD, Solver), DualCD.supports("hinge", "l2", "free"), DualCD.supports("hinge", "l1", "free")
    (True, True, False)
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    takes: ClassVar[type[Any]] = Problem  # the problems that it can work on
    needs: ClassVar[frozenset[str]] = frozenset({VERBS})  # what it asks of the rows, see data/rows.py
    losses: ClassVar[Set[str]]
    penalties: ClassVar[frozenset[str]] = frozenset({"l2"})
    intercepts: ClassVar[frozenset[str]] = frozenset({"none", "regularized", "free"})

    @property
    def title(self) -> str:
        """What users are told that the solver is called."""
        return self.name

    @property
    def seconds_before(self) -> float:
        """What was spent before the run, where a solver has begun already."""
        return 0.0

    def iterate(self, problem: Any, run: Run) -> Steps:
        """Yields a Step after each outer step; is sent the exact verdict on a step that looked done."""
        raise NotImplementedError

    @classmethod
    def supports(cls, loss: str, penalty: str, intercept: str) -> bool:
        """Whether this solver solves that combination."""
        return loss in cls.losses and penalty in cls.penalties and intercept in cls.intercepts

    @classmethod
    def solves(cls, problem: AnyProblem) -> bool:
        """Whether this kind of solver solves that problem, over the rows that it has."""
        return cls.needs <= problem.X.offers and cls.declares(problem)

    @classmethod
    def declares(cls, problem: AnyProblem) -> bool:
        """Whether this kind of solver solves that problem, wherever its rows are."""
        if not isinstance(problem, cls.takes):
            return False
        loss, _, intercept = problem.describe()
        return any(cls.supports(loss, penalty, intercept) for penalty in problem.penalty_names)

    @classmethod
    def can_take(cls, problems: type[Any]) -> bool:
        """Whether problems of that class are of those that the solver works on."""
        return issubclass(problems, cls.takes)

    def accepts(self, problem: AnyProblem) -> bool:
        """Whether this solver, with these settings, solves that problem."""
        return self.solves(problem)

    def lacks(self, problem: AnyProblem) -> frozenset[str]:
        """What the solver needs and the problem's rows do not offer."""
        return self.needs - problem.X.offers
