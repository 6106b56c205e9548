"""A primal-dual interior-point method for every loss and penalty.

Problem   min over w, b   rho |w|_1 + (1 - rho)/2 |w|^2 + sum_i C_i loss(y_i, z_i),      z = X w + b
Dual      max over v      -R*(X^T v) - sum_i C_i conjugate(-v_i / C_i, y_i);             sum v = 0 for a free intercept

The conditions of the optimum hold for the weights (weights.py) and for the rows (rows.py): numbers that are not below
zero, in pairs of which one is zero. The products of all pairs are held at a common mu > 0 that goes to zero.
Mehrotra's predictor and corrector ("On the implementation of a primal-dual interior point method", 1992): a step is two
solutions of one linear system with as many unknowns as the data have rows or features, whichever are fewer. Twenty to
sixty steps are enough, whatever C and the scales of the features; for SVMs see Fine and Scheinberg (2001), for l1 and
the logistic loss Koh, Kim and Boyd (2007).

Where both rows and features are many and weights may be zero, the method runs on a working set of features, those
nearest to |x_j . v| = rho, which grows by those that violate it at the end.

Every v is a dual point, scaled to feasibility. The weights of an interior point are never zero: at the end those go
whose slack is far from zero, which lowers the objective.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...data.matrix import stored
from ...data.rows import GRAM, VERBS
from ...objective.certificate import feasible_dual
from ...objective.losses import ALL_LOSSES
from ...vectors import Vector
from ..base import Point, Run, Solver, Step, Steps
from ..costs import INTERIOR_ORDER, INTERIOR_STEP, system_passes
from ..linalg.reduction import Reduction
from .attempts import Attempt, attempts
from .rows import make_rows
from .system import System
from .weights import make_weights

if TYPE_CHECKING:
    from ...objective.any_problem import AnyProblem
    from ...objective.problem import Problem

Columns = NDArray[np.intp]

# A step ends at this share of the way to the first bound.
NEAR_BOUND = 0.99
# mu falls at most by this factor in a step.
FASTEST = 1e-3
# Steps that are cut shorter than this are made again without the corrector; so many in succession end the run.
SHORT_STEP, MOST_SHORT_STEPS = 0.1, 50
SHORTEST = 1e-12
# A gap that is not below this share of the one before has not fallen; so many steps without a fall end the run.
NO_PROGRESS, PATIENCE = 0.9, 60
# Rounding in x_j . v per |x_j| |v|.
NOISE = 5e-18
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


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Primal-dual interior-point method: few, costly steps that large C and raw features do not slow down.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import InteriorPoint
    >>> problem = Problem([[0.0], [1000.0], [3000.0]], [-1, -1, 1], loss="hinge", penalty="l1", C=1e3, intercept="free")
    >>> solve(problem, InteriorPoint(), tol=1e-6).coef.round(6)
    array([0.001])
    """

    name: ClassVar[str] = "interior_point"
    summary: ClassVar[str] = "primal-dual interior-point method, for large C and raw features"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, GRAM})
    losses = ALL_LOSSES
    penalties: ClassVar[frozenset[str]] = frozenset({"l1", "elasticnet", "l2"})

    def accepts(self, problem: AnyProblem) -> bool:
        """Whether the problem is one that it solves, and its matrix within reach: with l2 all features take part."""
        return self.solves(problem) and (problem.penalty_names != {"l2"} or min(problem.X.shape) <= MOST_ORDER)

    def iterate(self, problem: Problem, run: Run) -> Steps:
        whole = _Whole(problem, run)
        for attempt in attempts(problem):
            whole.begin(attempt)
            yield from self._attempt(whole)

    def _attempt(self, whole: _Whole) -> Steps:
        """Steps from one start until they are stuck or done."""
        while True:
            state = whole.new_state()
            while True:
                state.measure()
                step = whole.look(state)
                if step.looks_done and state.rho > 0:
                    whole.sparsify(state)
                verdict = yield step
                if not whole.is_complete and whole.is_solved(state):
                    break
                if verdict is not None:
                    whole.strictness *= 0.5
                if not state.step() or whole.is_stuck(state):
                    break
                whole.passes += state.step_passes
            if whole.is_complete or not whole.exchange(state):
                return


class _Whole:
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

    def new_state(self) -> _State:
        """An interior point of the working set's problem, of whose progress nothing is known yet."""
        self._gap, self._since = np.inf, self.iteration  # the smallest gap that was worth telling, and when that was
        return _State(self.restricted(), self.attempt)

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

    def is_solved(self, state: _State) -> bool:
        """Whether the working set can tell no more."""
        return self._share * self.strictness * self._wanted(state.primal, state.dual) >= state.primal - state.dual

    def look(self, state: _State) -> Step:
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

    def is_stuck(self, state: _State) -> bool:
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
        v, dual = _feasible(self._inner, v)
        self.passes += 1
        self._violations[self.working] = 0.0
        self._note_dual(v, dual)

    def _note_primal(self, state: _State) -> None:
        w, b = self._whole_weights(state.answer), state.intercept
        self.primal, self._best = state.primal, Point(w, b, self._best.dual)

    def _whole_weights(self, part: Vector) -> Vector:
        if self._reduction is not None:
            return self._reduction.back(part[: self._reduction.X.shape[1]])
        w = np.zeros(self.problem.X.shape[1])
        w[self.working] = part[: len(self.working)]
        return w

    def sparsify(self, state: _State) -> None:
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

    def _note_sparse(self, state: _State, w: Vector, allowed: float) -> bool:
        primal = state.objective(w)
        if primal <= allowed:
            self.primal = primal
            self._best = Point(self._whole_weights(w), state.intercept_of(w), self._best.dual)
        return primal <= allowed

    def _solved_on(self, near: Columns, allowed: float) -> bool:
        """Whether some of the working features alone reach that objective; takes their point."""
        everyone, self.working = self.working, self.working[near]
        state = _State(self.restricted(), self.attempt)
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

    def exchange(self, state: _State) -> bool:
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


class _State:
    """An interior point of one problem whose rows all count."""

    def __init__(self, problem: Problem, attempt: Attempt) -> None:
        self.problem, self._rows = problem, make_rows(problem, attempt)
        self._system = System(problem, attempt.through_features)
        self.rho = problem.penalty.rho
        g = self._system.rmatvec(self._rows.v)
        self._weights = make_weights(self.rho, g, self._first_mu(len(g)), attempt.meets_ridge)
        self.w, self.b = self._weights.first, 0.0
        if problem.intercept == "free" and not self._rows.pairs:
            self.b = problem.best_intercept(np.zeros(problem.X.shape[0]))
        self._pairs = [*self._weights.pairs, *self._rows.pairs]
        self._n_pairs = sum(pair.x.size for pair in self._pairs)
        # A linear program: the model and the dual point may go different shares of their ways.
        self._apart = self._rows.linear and self.rho == 1
        self._short = 0
        squares = problem.X.column_sqnorms(n_jobs=problem.n_jobs)
        self._lengths = np.append(np.sqrt(squares), np.zeros(len(g) - len(squares)))
        rows, columns = problem.X.shape
        self.step_passes = INTERIOR_STEP + system_passes(rows, columns, max(1, problem.X.nnz))

    def _first_mu(self, n_penalised: int) -> float:
        pairs = self._rows.pairs
        if pairs:
            return sum(pair.product for pair in pairs) / sum(pair.x.size for pair in pairs)
        return max(self.problem.at_zero, 1e-300) / (self.problem.X.shape[0] + 2 * n_penalised)

    # Where the iterate stands.

    @property
    def intercept(self) -> float:
        return self.intercept_of(self.answer)

    def intercept_of(self, w: Vector) -> float:
        """b, or the last of the weights where it is penalised."""
        return self.problem.intercept_scale * float(w[-1]) if self.problem.intercept == "regularized" else self.b

    def measure(self) -> None:
        """Predictions, slopes, both objectives and the residuals of the weights' conditions."""
        z = self._system.matvec(self.w, self.b)
        self._rows.measure(z)
        g = self._system.accurate_rmatvec(self._rows.v)
        self._weights.measure(self.w, g, NOISE * float(np.linalg.norm(self._rows.v)) * self._lengths)
        self.answer, self.primal = self.w, self.objective(self.w, z)
        self.v, self.dual = _feasible(self.problem, self._rows.v)
        if self.rho == 0:
            self._try_answer(g)

    def _try_answer(self, g: Vector) -> None:
        """With l2 the weights that the dual point makes may be better, above all where rounding holds w."""
        primal = self.objective(g)
        if primal < self.primal:
            self.answer, self.primal = g, primal

    def objective(self, w: Vector, z: Vector | None = None) -> float:
        """The objective of other weights with the same intercept, unless that is the last of them."""
        z = self._system.matvec(w, self.b) if z is None else z
        return self.problem.penalty_value(w[: self.problem.X.shape[1]], self.intercept_of(w)) + self.problem.loss_sum(z)

    @property
    def slacks(self) -> Vector:
        """How far each slope is from the bound on the side of its weight."""
        return self._weights.slacks()

    # Steps.

    def step(self) -> bool:
        """A step; False where none is possible any more, or numbers leave the range of floats."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._step()

    def _step(self) -> bool:
        """Predictor and corrector."""
        if not self._system.factorise(self._rows.weights(), self._weights.curvature()):
            return False
        if not self._pairs:
            return self._newton_step()
        total = sum(pair.product for pair in self._pairs)
        if not 0 < total < np.inf:
            return False
        dx, dy, db = self._direction([0.0] * len(self._pairs))
        primal, dual = self._reach(dx, dy, 1.0)
        ends = zip(self._pairs, dx[1:], dy, strict=True)
        left = sum(float(np.sum((p.x + primal * x) * (p.y + dual * y))) for p, x, y in ends)
        target = max(FASTEST, min(1.0, left / total)) ** 3 * total / self._n_pairs
        shorter = min(primal, dual)
        corrected = [target - shorter * x * y for x, y in zip(dx[1:], dy, strict=True)]
        dx, dy, db = self._direction(corrected)
        primal, dual = self._reach(dx, dy, NEAR_BOUND)
        if min(primal, dual) < SHORT_STEP:
            dx, dy, db = self._direction([target] * len(self._pairs))
            primal, dual = self._reach(dx, dy, NEAR_BOUND)
        self._short = self._short + 1 if min(primal, dual) < SHORT_STEP else 0
        finite = all(np.isfinite(change).all() for change in (*dx, *dy, self._dv)) and np.isfinite(db)
        if not (finite and max(primal, dual) > SHORTEST):
            return False
        self._move(primal, dual, dx, dy, db)
        return self._short <= MOST_SHORT_STEPS

    def _newton_step(self) -> bool:
        """Where nothing is bounded, Newton's step, halved until the objective falls."""
        (dw,), _, db = self._direction([])
        before, b = self.objective(self.w), self.b
        t = 1.0
        while t > SHORTEST:
            self.b = b + t * db
            if self.objective(self.w + t * dw) < before:
                self.w = self.w + t * dw
                self._rows.moved(t, self._dv)
                return True
            t *= 0.5
        self.b = b
        return False

    def _direction(self, targets: Sequence[Vector | float]) -> tuple[list[Vector], list[Vector], float]:
        """dw and the pairs' dx; their dy; db: Newton's step towards those products of the pairs."""
        rows, weights = self._rows, self._weights
        own = len(weights.pairs)
        pull = rows.pull(targets[own:])
        dw, db, dz, self._dv = self._system.solve(weights.right(targets[:own]), pull, -float(rows.v.sum()))
        dy = [*weights.answer(dw), *rows.answer(dz, self._dv)]
        dx = [pair.answer(target, y) for pair, target, y in zip(self._pairs, targets, dy, strict=True)]
        return [dw, *dx], dy, db

    def _reach(self, dx: list[Vector], dy: list[Vector], share: float) -> tuple[float, float]:
        """How far the model and the dual point can go, at most 1, until this share of the way to a bound."""
        primal = min(_until_zero(pair.x, change, share) for pair, change in zip(self._pairs, dx[1:], strict=True))
        dual = min(_until_zero(pair.y, change, share) for pair, change in zip(self._pairs, dy, strict=True))
        return (primal, dual) if self._apart else (min(primal, dual),) * 2

    def _move(self, primal: float, dual: float, dx: list[Vector], dy: list[Vector], db: float) -> None:
        self.w, self.b = self.w + primal * dx[0], self.b + primal * db
        for pair, x, y in zip(self._pairs, dx[1:], dy, strict=True):
            pair.x, pair.y = pair.x + primal * x, pair.y + dual * y
        self._rows.moved(dual, self._dv)


def _until_zero(x: Vector, dx: Vector, share: float) -> float:
    """The largest step, at most 1, that takes no x further than this share of its way to zero."""
    fastest = float(np.max(-dx / x, initial=0.0))
    return 1.0 if fastest <= share else share / fastest


def _feasible(problem: Problem, v: Vector) -> tuple[Vector, float]:
    """v without what rounding has put beyond the bounds, scaled to feasibility, and the dual value there."""
    v, _, dual = feasible_dual(problem, np.clip(v, *problem.dual_domain()))
    return v, dual
