"""The problem with all its features, the working set that the interior-point method runs on, and the best it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...data.matrix import stored
from ...vectors import Vector
from ..base import Point, Run, Step
from ..costs import INTERIOR_ORDER
from ..linalg.reduction import Reduction
from .attempts import Attempt
from .state import InteriorState, feasible

if TYPE_CHECKING:
    from ...objective.problem import Problem

Columns = NDArray[np.intp]

# A gap that is not below this share of the one before has not fallen; so many steps without a fall end the run.
NO_PROGRESS, PATIENCE = 0.9, 60
# Where the matrix of a step would be above INTERIOR_ORDER, features are taken into a working set, which may grow up to
# this order: a factorisation of some seconds, during which nobody is heard. The first one has FIRST_WORKING_SET.
MOST_ORDER = 5000
FIRST_WORKING_SET = 500
# A working set is solved to this share of the tolerance: the first ones coarsely, each finer than the one before.
FIRST_SHARE, FINER, WORKING_SHARE = 30.0, 0.2, 0.3
# Features with a slack beyond this, in units of rho, leave the first working sets when others come.
KEPT_SLACK, MOST_EXCHANGES = 0.5, 5
# Slacks, in units of rho, beyond which a weight is taken for zero; the first that costs less than this share of tol.
ZERO_SLACKS = (1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5)
ZEROS_SHARE = 0.1
# Steps that the features left over may take to make up for the others.
MOST_STEPS_WITHIN = 60


class WorkingSet:
    """The problem with all its features, the working set, and the best that is known."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self._run = problem, run
        self._counting = np.flatnonzero(problem.weights > 0)
        self._inner = problem if len(self._counting) == problem.X.shape[0] else problem.taken(self._counting)
        self.iteration, self.passes, self.strictness = 0, 0.0, 1.0
        self.primal, self.dual, self._violations = np.inf, -np.inf, np.zeros(problem.X.shape[1])
        self._best = Point(np.zeros(problem.X.shape[1]), 0.0, None)
        rows, columns = self._inner.X.shape
        self.working: Columns = np.arange(columns)
        if min(rows, columns) > INTERIOR_ORDER and problem.penalty.rho > 0:
            self.working = self._first_working_set()

    def begin(self, attempt: Attempt) -> None:
        """Another start; what is known stays."""
        self.attempt = attempt
        self._rounds, self._share = 0, FIRST_SHARE
        self._reduction = Reduction(stored(self._inner.X)) if attempt.reduced else None

    def new_state(self) -> InteriorState:
        """An interior point of the working set's problem, of whose progress nothing is known yet."""
        self._gap, self._since = np.inf, self.iteration  # the smallest gap that was worth telling, and when that was
        return InteriorState(self.restricted(), self.attempt)

    @property
    def is_complete(self) -> bool:
        """Whether all features take part."""
        return len(self.working) == self.problem.X.shape[1]

    def _first_working_set(self) -> Columns:
        """The features with the steepest slopes at w = 0: a start's support may be far larger than that of the end."""
        problem, zeros = self._inner, np.zeros(self._inner.X.shape[0])
        b = problem.best_intercept(zeros) if problem.intercept == "free" else 0.0
        slopes = problem.X.rmatvec(problem.loss_derivatives(zeros, b)[0], n_jobs=problem.n_jobs)
        size = min(FIRST_WORKING_SET, len(slopes) - 1)
        return np.sort(np.argpartition(-np.abs(slopes), size)[:size])

    def restricted(self) -> Problem:
        """The problem on the working set."""
        if self._reduction is not None:
            return self._inner.over(self._reduction.X)
        if self.is_complete:
            return self._inner
        return self._inner.over(self._inner.X.select(self.working))

    def _wanted(self, primal: float, dual: float) -> float:
        return self._run.goal.wanted(primal, primal - dual)

    def is_solved(self, state: InteriorState) -> bool:
        """Whether the working set can tell no more."""
        return self._share * self.strictness * self._wanted(state.primal, state.dual) >= state.primal - state.dual

    def look(self, state: InteriorState) -> Step:
        """Judges the state's point on the whole problem."""
        self.iteration += 1
        if self.is_complete:
            self._note_dual(state.v, state.dual)
        elif self.is_solved(state):
            self._judge_dual(state.v)
        if state.primal < self.primal:
            self._note_primal(state)
        unknown = np.isinf(self.dual)
        gap = self.primal - self.dual
        return Step(
            iteration=self.iteration,
            passes=self.passes,
            point=lambda: self._best,
            objective=self.primal,
            dual=np.nan if unknown else self.dual,
            gap=np.nan if unknown else max(0.0, gap),
            looks_done=not unknown and gap <= self.strictness * self._wanted(self.primal, self.dual),
            n_active=len(self.working),
        )

    def is_stuck(self, state: InteriorState) -> bool:
        """Whether the state's gap has hardly fallen over the last steps: rounding holds it."""
        if not state.primal - state.dual > NO_PROGRESS * self._gap:
            self._gap, self._since = state.primal - state.dual, self.iteration
        return self.iteration - self._since > PATIENCE

    def _note_dual(self, v: Vector, dual: float) -> None:
        if dual > self.dual or self._best.dual is None:
            self.dual = dual
            everyone = np.zeros(self.problem.X.shape[0])
            everyone[self._counting] = v
            self._best = Point(self._best.w, self._best.intercept, everyone)

    def _judge_dual(self, v: Vector) -> None:
        """The bound that v gives when every feature has its say, and which features say most."""
        self._violations = np.abs(self._inner.X.rmatvec(v, n_jobs=self._inner.n_jobs))
        v, dual = feasible(self._inner, v)
        self.passes += 1
        self._violations[self.working] = 0.0
        self._note_dual(v, dual)

    def _note_primal(self, state: InteriorState) -> None:
        w, b = self._whole_weights(state.answer), state.intercept
        self.primal, self._best = state.primal, Point(w, b, self._best.dual)

    def _whole_weights(self, part: Vector) -> Vector:
        if self._reduction is not None:
            return self._reduction.back(part[: self._reduction.X.shape[1]])
        w = np.zeros(self.problem.X.shape[1])
        w[self.working] = part[: len(self.working)]
        return w

    def sparsify(self, state: InteriorState) -> None:
        """Weights whose slack is far from zero go: as many as hardly cost anything, or as the others make up for."""
        wanted = self._wanted(self.primal, self.dual)
        allowed = min(self.primal + ZEROS_SHARE * wanted, self.dual + self.strictness * wanted)
        rows, solved = state.problem.X.shape[0], 0
        for threshold in ZERO_SLACKS:
            w = np.where(state.slacks > threshold * state.rho, 0.0, state.w)
            self.passes += 1
            if self._note_sparse(state, w, allowed):
                return
            # An optimum needs no more weights than rows; some more are allowed for.
            near = np.flatnonzero(w[: len(self.working)])
            if 2 * solved < len(near) <= min(4 * rows, len(self.working) // 2):
                if self._solved_on(near, allowed):
                    return
                solved = len(near)

    def _note_sparse(self, state: InteriorState, w: Vector, allowed: float) -> bool:
        primal = state.objective(w)
        if primal <= allowed:
            self.primal = primal
            self._best = Point(self._whole_weights(w), state.intercept_of(w), self._best.dual)
        return primal <= allowed

    def _solved_on(self, near: Columns, allowed: float) -> bool:
        """Whether some of the working features alone reach that objective; takes their point."""
        everyone, self.working = self.working, self.working[near]
        state = InteriorState(self.restricted(), self.attempt)
        try:
            for _ in range(MOST_STEPS_WITHIN):
                state.measure()
                self.passes += state.step_passes
                if state.dual > allowed or self._run.should_stop():
                    return False
                if self._note_sparse(state, state.w, allowed):
                    return True
                if not state.step():
                    return False
            return False
        finally:
            self.working = everyone

    def exchange(self, state: InteriorState) -> bool:
        """Takes in the features that violate their bound, worst first; False where there are none and all is done."""
        worst = np.flatnonzero(self._violations > self.problem.penalty.rho)
        if len(worst) == 0 and self._share <= WORKING_SHARE:
            return False
        self._rounds, self._share = self._rounds + 1, max(WORKING_SHARE, FINER * self._share)
        kept = self.working
        if self._rounds <= MOST_EXCHANGES:
            kept = kept[state.slacks[: len(kept)] <= KEPT_SLACK * state.rho]
        worst = worst[np.argsort(-self._violations[worst])][: max(FIRST_WORKING_SET, len(kept) // 2)]
        self._violations[self.working] = 0.0  # told anew by the next round
        self.working = np.union1d(kept, worst)
        return min(self.problem.X.shape[0], len(self.working)) <= MOST_ORDER
