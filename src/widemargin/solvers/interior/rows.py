"""The rows' side of the interior-point method: dual variables alpha with their bounds, or none where none are needed.

A row's dual variable is made of one or two arms, v_i = sum_k sign_k alpha_k with 0 <= alpha_k <= cap_k, so that its
conjugate is a parabola of each,

    C_i conjugate(-v_i / C_i) = sum_k  tilt_k alpha_k + bend_i/2 alpha_k^2

From the description of the loss (objective/losses.py), with s_i = y_i and t_i = 1 for labels, s_i = 1 and t_i = y_i for
targets:

    one arm for each side of zero    signs s_i and -s_i, tilts zone - t_i and zone + t_i, caps C_i upper and -C_i lower
    straight pieces without a zone   one arm from one bound to the other: v_i = s_i (C_i lower + alpha), tilt -t_i

A side of no width has no arm: the hinge losses have one, of sign y_i and tilt -1. bend_i is 2 bend / C_i.

At the optimum  tilt + bend alpha + sign z - lam + kap = 0  with the multipliers lam of alpha >= 0 and kap of
alpha <= cap. The slopes of the logistic loss never reach a bound: there v is the slope at z itself.

v itself is kept beside the arms: with features of great length it is far smaller than they are, and their difference
would lose its digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...vectors import Vector
from .attempts import Attempt
from .pairs import Pair
from .weights import first_weights

if TYPE_CHECKING:
    from ...objective.losses import Loss
    from ...objective.problem import Problem

# A row with less curvature than this share of C_i is as good as straight.
LEAST_CURVATURE = 1e-12


class Rows(Protocol):
    """What the method asks of the rows."""

    v: Vector
    pairs: list[Pair]
    linear: bool  # whether the conjugate is: no bends

    def measure(self, z: Vector) -> None:
        """Takes notice of new predictions."""

    def weights(self) -> Vector:
        """-dv/dz"""

    def pull(self, targets: Sequence[Vector | float]) -> Vector:
        """dv where z stands still and the products of the pairs go to the targets."""

    def answer(self, dz: Vector, dv: Vector) -> list[Vector]:
        """dy of the pairs, for the last pull and a change of the predictions and of v."""

    def moved(self, share: float, dv: Vector) -> None:
        """Takes notice of a share of the step in v, and of pairs that have moved."""


def make_rows(problem: Problem, attempt: Attempt) -> Rows:
    """The rows of a problem whose weights are all above zero, at the start of the method."""
    if problem.loss.piecewise:
        return BoundedRows(problem, attempt.meets_ridge)
    return SmoothRows(problem, attempt.keeps_v)


class SmoothRows:
    """v = -C loss'(z); with `keeps_v` only at the optimum: v goes there from zero for itself, and loses no digits."""

    def __init__(self, problem: Problem, keeps_v: bool) -> None:
        self._problem, self._keeps_v = problem, keeps_v
        self.pairs: list[Pair] = []
        self.linear = False
        rows = np.zeros(problem.X.shape[0])
        self.v = rows
        self.measure(rows + (problem.best_intercept(rows) if problem.intercept == "free" else 0.0))

    def measure(self, z: Vector) -> None:
        u, self._curvature = self._problem.loss_derivatives(z)
        self._slopes = -u
        if not self._keeps_v:
            self.v = self._slopes

    def weights(self) -> Vector:
        return np.maximum(self._curvature, LEAST_CURVATURE * self._problem.weights)

    def pull(self, targets: Sequence[Vector | float]) -> Vector:
        return self._slopes - self.v

    def answer(self, dz: Vector, dv: Vector) -> list[Vector]:
        return []

    def moved(self, share: float, dv: Vector) -> None:
        self.v = self._problem.clipped_dual(self.v + share * dv)


@dataclass(frozen=True)
class Arm:
    """One way from zero, or from a lower bound, in units of C_i."""

    sign: float  # relative to the label
    cap: float
    begin: float = 0.0  # the dual variable's share where alpha = 0


def arms_of(loss: Loss) -> list[Arm]:
    """The arms of a loss made of pieces, those with a cap first."""
    if not loss.smooth and loss.zone == 0:  # two arms could grow together at no cost
        return [Arm(1.0, loss.upper - loss.lower, loss.lower)]
    arms = [Arm(1.0, loss.upper), Arm(-1.0, -loss.lower)]
    return sorted((arm for arm in arms if arm.cap > 0), key=lambda arm: np.isinf(arm.cap))


class BoundedRows:
    """Arms between their bounds, one line of each matrix per arm."""

    def __init__(self, problem: Problem, meets_ridge: bool) -> None:
        loss, y, C = problem.loss, problem.y, problem.weights
        arms = arms_of(loss)
        signs = np.array([[arm.sign] for arm in arms])
        target = np.ones_like(y) if loss.classification else y
        unit = 1.0 if loss.classification else float(y.std()) or 1.0
        self._sign = signs * (y if loss.classification else np.ones_like(y))
        self._tilt = loss.zone - signs * target
        self._bend = 2 * loss.bend / C
        self._begin = sum(arm.begin for arm in arms) * loss.side(y) * C
        self.linear = not loss.smooth
        self._alpha = np.ones_like(self._sign) * self._first(problem, arms, unit)
        self.v = self._begin + np.sum(self._sign * self._alpha, axis=0)
        slope = self._tilt + self._bend * self._alpha
        if meets_ridge:
            slope = slope + self._sign * self._first_predictions(problem)
            unit = max(unit, float(np.abs(slope).max()))
        lam = np.maximum(slope, 0.0) + unit
        self.pairs = [Pair(lam, self._alpha)]
        self._sides = [(1.0, slice(None))]
        caps = np.array([[arm.cap] for arm in arms if np.isfinite(arm.cap)])
        if len(caps):
            capped = slice(0, len(caps))
            self.pairs.append(Pair((lam - slope)[capped], caps * C - self._alpha[capped]))
            self._sides.append((-1.0, capped))
        self.measure(np.zeros_like(C))

    def _first_predictions(self, problem: Problem) -> Vector:
        """X w at the weights that the method begins with."""
        X, n_jobs, rho = problem.X, problem.n_jobs, problem.penalty.rho
        w = first_weights(rho, X.rmatvec(self.v, n_jobs=n_jobs))
        constant = first_weights(rho, np.array([problem.intercept_scale * float(self.v.sum())]))
        return X.matvec(w, problem.intercept_scale * float(constant[0]), n_jobs=n_jobs)

    @staticmethod
    def _first(problem: Problem, arms: list[Arm], unit: float) -> Vector:
        """Where v = 0 if that is inside; else in the middle of the bounds, or at a residual of 1.5; balanced."""
        C, loss, cap = problem.weights, problem.loss, min(arm.cap for arm in arms)
        if len(arms) > 1:
            return C * min(0.5 * cap, unit)
        if arms[0].begin < 0:
            return C * -arms[0].begin
        first = C * (0.75 / loss.bend if np.isinf(cap) else 0.5 * cap)
        if problem.intercept != "free":
            return first
        positive = problem.y > 0
        above, below = float(C[positive].sum()), float(C[~positive].sum())
        if not (above > 0 and below > 0):  # rows of one class alone count: there is nothing to balance
            return first
        return first * np.where(positive, min(1.0, below / above), min(1.0, above / below))

    def measure(self, z: Vector) -> None:
        self._slope = self._tilt + self._bend * self._alpha + self._sign * z
        self._curvature = np.zeros_like(self._alpha) + self._bend
        with np.errstate(over="ignore"):  # a variable on its bound does not move, and 1 / infinity says so
            for (side, arms), pair in zip(self._sides, self.pairs, strict=True):
                self._slope[arms] -= side * pair.x
                self._curvature[arms] += pair.x / pair.y

    def weights(self) -> Vector:
        weights: Vector = np.sum(1 / self._curvature, axis=0)
        return weights

    def pull(self, targets: Sequence[Vector | float]) -> Vector:
        self._force = -self._slope
        for (side, arms), pair, target in zip(self._sides, self.pairs, targets, strict=True):
            self._force[arms] += side * pair.pull(target)
        pulled: Vector = np.sum(self._sign * self._force / self._curvature, axis=0)
        return pulled

    def answer(self, dz: Vector, dv: Vector) -> list[Vector]:
        change = (self._force - self._sign * dz) / self._curvature if len(self._sign) > 1 else self._sign * dv
        return [side * change[arms] for side, arms in self._sides]

    def moved(self, share: float, dv: Vector) -> None:
        self.v = self.v + share * dv
        self._alpha = self.pairs[0].y
