"""Interior-point and Newton steps for the problems that know several classes at once.

Problem   1/2 |W|^2 + sum_i C_i loss(y_i, z_i),  z_i = W^T x_i + b:   objective/crammer_singer.py, maximum_entropy.py
          1/2 |w|^2 + sum_is C_i loss(sigma_is, x_i . w - b_s):       objective/ordinal.py; duals are given there

A step solves linear equations whose order is the number of coefficients (system.py). Wide data are first turned into
data with as many features as rows (linalg/reduction.py), which leaves objective and dual point as they are. Ten to
sixty steps are enough, whatever C and the scales of the features: the cost is known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...data.matrix import stored
from ...data.rows import IN_ORDER, VERBS
from ...objective.losses import LossesThat
from ...objective.multiclass import MulticlassProblem
from ...objective.ordinal import OrdinalProblem
from ...vectors import Vector
from ..base import Point, Run, Solver, Step, Steps
from ..costs import JOINT_ORDER, joint_step_passes
from ..linalg.orthogonal import is_affordable
from ..linalg.reduction import Reduction
from .state import JointState

if TYPE_CHECKING:
    from ...objective.any_problem import AnyProblem

# A gap that is not below this share of the one before has not fallen; so many steps without a fall end the run.
NO_PROGRESS, PATIENCE = 0.9, 15


@dataclass(frozen=True)
class _Joint(Solver):
    """What the two solvers share."""

    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})

    def accepts(self, problem: AnyProblem) -> bool:
        """Whether the problem is one that it solves, and its matrix within reach."""
        return self.solves(problem) and _order(problem) <= JOINT_ORDER and _is_reducible(problem)

    def iterate(self, problem: Any, run: Run) -> Steps:
        whole = _Whole(problem, run)
        state = self._state(whole.inner, whole.start())
        state.should_stop = run.should_stop
        while True:
            state.measure()
            verdict = yield whole.look(state)
            if verdict is not None:
                whole.strictness *= 0.5
            if whole.is_stuck() or not state.step():
                return

    def _state(self, problem: Any, start: Vector | None) -> JointState:
        raise NotImplementedError


@dataclass(frozen=True)
class ClassInterior(_Joint):
    """Few, costly steps for the problems with one weight vector per class: large C and raw features do not matter.

    Examples
    --------
    >>> from widemargin import CrammerSingerProblem, solve
    >>> from widemargin.solvers import ClassInterior
    >>> problem = CrammerSingerProblem([[1e3, 0.0], [0.0, 1.0], [-1e3, -1.0]], [1, 2, 3], C=1e3, intercept="free")
    >>> solve(problem, ClassInterior(), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "class_interior"
    summary: ClassVar[str] = "interior point or Newton over all classes at once, for large C and raw features"
    takes: ClassVar[type[Any]] = MulticlassProblem
    losses: ClassVar[frozenset[str]] = frozenset({"crammer_singer", "multinomial"})

    def _state(self, problem: Any, start: Vector | None) -> JointState:
        from .class_system import ClassSystem
        from .entropy_rows import EntropyRows
        from .simplex_rows import SimplexRows

        system = ClassSystem(problem)
        if problem.loss.smooth:
            x = system.balanced(problem.zero().point.w if start is None else start)
            return JointState(problem, system, EntropyRows(problem, system.matvec(x)), x)
        rows = SimplexRows(problem)
        return JointState(problem, system, rows, system.held * system.rmatvec(rows.v))


@dataclass(frozen=True)
class OrdinalInterior(_Joint):
    """Few, costly steps for ordinal regression: large C and raw features do not matter.

    Examples
    --------
    >>> from widemargin import OrdinalProblem, solve
    >>> from widemargin.solvers import OrdinalInterior
    >>> problem = OrdinalProblem([[0.0], [1e3], [2e3], [3e3]], [1, 2, 2, 3], loss="hinge", C=1e3)
    >>> solve(problem, OrdinalInterior(), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "ordinal_interior"
    summary: ClassVar[str] = "interior point over all thresholds at once, for large C and raw features"
    takes: ClassVar[type[Any]] = OrdinalProblem
    losses = LossesThat(lambda loss: loss.piecewise and loss.classification)
    intercepts: ClassVar[frozenset[str]] = frozenset({"free_thresholds", "regularized_thresholds"})

    def _state(self, problem: Any, start: Vector | None) -> JointState:
        from .ordinal_rows import OrdinalRows
        from .ordinal_system import OrdinalSystem

        system = OrdinalSystem(problem)
        rows = OrdinalRows(problem, system)
        return JointState(problem, system, rows, system.held * system.rmatvec(rows.v))


def _order(problem: Any) -> int:
    """Unknowns of a step's equations."""
    rows, features = problem.X.shape
    return int(problem.size - max(0, features - rows) * problem.per_feature)


def _is_reducible(problem: Any) -> bool:
    rows, features = problem.X.shape
    return features <= rows or is_affordable(features, rows)


class _Whole:
    """The problem as it was given, the one that is solved instead, and the best that is known."""

    def __init__(self, problem: Any, run: Run) -> None:
        self._problem, self._run = problem, run
        self._counting = np.flatnonzero(problem.weights > 0)
        inner = problem if len(self._counting) == problem.X.shape[0] else problem.taken(self._counting)
        rows, features = inner.X.shape
        self._reduction = Reduction(stored(inner.X)) if features > rows else None
        self.inner = inner if self._reduction is None else inner.over(self._reduction.X)
        self.iteration, self.strictness = 0, 1.0
        self.primal, self.dual = np.inf, 0.0
        self._x, self._v = np.zeros(self.inner.size), self.inner.zero().point.dual
        self._gap, self._since = np.inf, 0  # the smallest gap that was worth telling, and when that was
        self._step_passes = joint_step_passes(rows, features, max(1, inner.X.nnz), problem.per_feature)

    def start(self) -> Vector | None:
        """The coefficients to begin at, where the features are those of the problem."""
        start = self._run.start
        return None if start is None or self._reduction is not None else start.w

    def look(self, state: JointState) -> Step:
        """Takes the state's point and bound if they are the best."""
        self.iteration += 1
        if state.primal < self.primal:
            self.primal, self._x = state.primal, state.answer
        if state.dual > self.dual:
            self.dual, self._v = state.dual, state.v
        gap = max(0.0, self.primal - self.dual)
        return Step(
            iteration=self.iteration,
            passes=self.iteration * self._step_passes,
            point=self._point,
            objective=self.primal,
            dual=self.dual,
            gap=gap,
            looks_done=gap <= self.strictness * self._run.goal.wanted(self.primal, gap),
            n_active=len(self._counting),
        )

    def is_stuck(self) -> bool:
        """Whether the gap has hardly fallen over the last steps: rounding holds it."""
        if not self.primal - self.dual > NO_PROGRESS * self._gap:
            self._gap, self._since = self.primal - self.dual, self.iteration
        return self.iteration - self._since > PATIENCE

    def _point(self) -> Point:
        """The best point, over all rows and features."""
        everyone = np.zeros((self._problem.X.shape[0], self._v.shape[1]))
        everyone[self._counting] = self._v
        return Point(self._coefficients(everyone), dual=everyone)

    def _coefficients(self, v: Any) -> Vector:
        """The weights over all features: of two ways back, by Q or from the dual point, the better one."""
        if self._reduction is None:
            return self._x
        width, held = self._problem.per_feature, self.inner.X.shape[1]
        table, rest = self._x[: held * width].reshape(held, width), self._x[held * width :]
        back = np.append(self._reduction.back(table), rest)
        total = v if width > 1 else v.sum(axis=1, keepdims=True)
        made = np.append(self._problem.X.rmatmat(total, n_jobs=self._problem.n_jobs), rest)
        return min(back, made, key=self._problem.objective)
