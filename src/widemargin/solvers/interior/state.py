"""An interior point and the steps that it takes: Mehrotra's predictor and corrector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...objective.certificate import feasible_dual
from ...vectors import Vector
from ..costs import INTERIOR_STEP, system_passes
from .attempts import Attempt
from .rows import make_rows
from .system import System
from .weights import make_weights

if TYPE_CHECKING:
    from ...objective.problem import Problem

# A step ends at this share of the way to the first bound.
NEAR_BOUND = 0.99
# mu falls at most by this factor in a step.
FASTEST = 1e-3
# Steps that are cut shorter than this are made again without the corrector; so many in succession end the run.
SHORT_STEP, MOST_SHORT_STEPS = 0.1, 50
SHORTEST = 1e-12
# Rounding in x_j . v per |x_j| |v|.
NOISE = 5e-18


class InteriorState:
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
        self.v, self.dual = feasible(self.problem, self._rows.v)
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


def feasible(problem: Problem, v: Vector) -> tuple[Vector, float]:
    """v without what rounding has put beyond the bounds, scaled to feasibility, and the dual value there."""
    v, _, dual = feasible_dual(problem, np.clip(v, *problem.dual_domain()))
    return v, dual
