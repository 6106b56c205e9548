"""A piecewise quadratic objective as the finite Newton method sees it.

    f(beta) = 1/2 |beta|^2_reg + sum over terms of C_t ramp loss(residual_t(beta))

beta is w followed by the intercept or the thresholds. What differs between binary classification, least squares and
ordinal regression is how residuals follow from the scores X w and those extra coordinates, nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...vectors import Vector, inner
from .cgls import LeastSquares
from .line_search import exact_step
from .ramps import Ramp

if TYPE_CHECKING:
    from ...objective.losses import Loss


@dataclass(frozen=True)
class At:
    """Everything known at a point beta."""

    beta: Vector
    scores: Vector  # X w
    residuals: Vector  # one per term
    force: Vector  # C_t d loss / d residual
    active: NDArray[np.bool_]  # terms on the slanted part
    value: float  # f(beta)
    gradient: Vector

    @property
    def gradient_gap(self) -> float:
        """1/2 |gradient|^2: the duality gap of a smooth objective, once free coordinates are at their best."""
        return 0.5 * inner(self.gradient, self.gradient)


@dataclass(frozen=True, kw_only=True)
class PiecewiseModel(ABC):
    """The objective with its ramp; `weights` are C_t, shaped like the residuals, multiples of the problem's C.

    `offset` is added to every residual before the ramp sees it: how a rounded corner is centred, see rounds.py.
    """

    loss: Loss
    ramp: Ramp  # that the loss is, or that stands for it while its corner is rounded
    C: float
    weights: Vector
    n_features: int
    offset: Vector | float = 0.0
    target: Vector | float = 1.0  # what the residuals are where all scores are zero
    extra_reg: float  # the penalty's curvature in the extra coordinates: 1, or 0 where they are free

    # What a kind of problem must say.

    @abstractmethod
    def scores(self, w: Vector) -> Vector:
        """X w"""

    @abstractmethod
    def plain_residuals(self, scores: Vector, extra: Vector) -> Vector:
        """The residual of every term."""

    @abstractmethod
    def residual_change(self, scores: Vector, extra: Vector) -> Vector:
        """How residuals change along a direction with these scores and extra coordinates."""

    @abstractmethod
    def pull_back(self, force: Vector) -> Vector:
        """The gradient in beta of sum_t force_t residual_t."""

    @abstractmethod
    def product(self, curvature: Vector, p: Vector) -> Vector:
        """A^T diag(curvature) A p, where A is the derivative of the residuals."""

    @abstractmethod
    def diagonal(self, curvature: Vector) -> Vector:
        """The diagonal of A^T diag(curvature) A."""

    # What follows from it.

    def residuals(self, scores: Vector, extra: Vector) -> Vector:
        """The residual of every term, with its offset."""
        return self.plain_residuals(scores, extra) + self.offset

    def penalised(self, v: Vector) -> Vector:
        """reg v"""
        if self.extra_reg == 1 or len(v) == self.n_features:
            return v
        scaled = v.copy()
        scaled[self.n_features :] *= self.extra_reg
        return scaled

    def at(self, beta: Vector, scores: Vector | None = None) -> At:
        """The point beta, its scores if they are known; free coordinates are first set to their best values."""
        scores = self.scores(beta[: self.n_features]) if scores is None else scores
        if self.extra_reg == 0:
            beta = self.settled(beta, scores)
        r = self.residuals(scores, beta[self.n_features :])
        position = self.ramp.position(r)
        force = self.ramp.scale * self.weights * position
        penalised = self.penalised(beta)
        value = 0.5 * inner(beta, penalised) + float(np.sum(self.weights * self.ramp.value(r, position)))
        active = self.ramp.active(r) & (self.weights > 0)
        return At(beta, scores, r, force, active, value, penalised + self.pull_back(force))

    @abstractmethod
    def settled(self, beta: Vector, scores: Vector) -> Vector:
        """beta with its free coordinates at their best."""

    def newton_system(self, at: At, precondition: bool) -> LeastSquares:
        """The least squares problem that keeps the index sets of `at`: (6), (22) or (26)."""
        curvature = np.where(at.active, self.ramp.scale * self.weights, 0.0)
        position = at.residuals + self.ramp.shift
        pull = self.penalised(at.beta) - at.gradient
        if self.ramp.straight:  # terms on the linear part pull too, but are no part of the least squares
            pull = -self.pull_back(np.where(at.active, at.force, 0.0))
        return LeastSquares(
            product=lambda p: self.product(curvature, p),
            penalised=self.penalised,
            r=-at.gradient,
            pull=pull,
            z_sqnorm=float(np.sum(curvature * position * position)),
            value=at.value,
            diagonal=self._whole_diagonal(curvature) if precondition else None,
        )

    def _whole_diagonal(self, curvature: Vector) -> Vector:
        whole = self.diagonal(curvature) + self.penalised(np.ones(self._size()))
        whole[whole <= 0] = 1.0
        return whole

    @abstractmethod
    def _size(self) -> int:
        """How many coordinates beta has."""

    def move(self, at: At, direction: Vector) -> tuple[At, bool]:
        """Steps 5 to 7: to the end of the direction if no term changes its piece, else to the minimum along it.

        Also says whether the index sets stayed as they were.
        """
        scores = self.scores(direction[: self.n_features])
        change = self.residual_change(scores, direction[self.n_features :])
        keeps = self.ramp.keeps_sets(at.residuals, at.residuals + change)
        step = 1.0
        if not keeps:
            penalised = self.penalised(direction)
            step = exact_step(
                self.ramp,
                at.residuals,
                change,
                self.weights,
                slope=inner(at.beta, penalised),
                curvature=inner(direction, penalised),
            )
        if not np.isfinite(step):
            step = 1.0  # nothing bounds a free coordinate here: it is settled at its best next
        return self.at(at.beta + step * direction, at.scores + step * scores), keeps

    def with_ramp(self, ramp: Ramp, offset: Vector) -> PiecewiseModel:
        """The model with its terms under another loss."""
        return replace(self, ramp=ramp, offset=offset)

    def sharp_objective(self, at: At) -> float:
        """The objective with the loss itself, its corner not rounded, at this point."""
        penalty = 0.5 * inner(at.beta, self.penalised(at.beta))
        return penalty + float(np.sum(self.weights * self.loss.of_residual(at.residuals - self.offset)))

    def sharp_gap(self, at: At) -> float:
        """The duality gap of the loss with its corner between beta and the forces, which are its dual variables.

        A rounded corner never pulls harder than the pieces beside it, so they are feasible as they stand.
        """
        data_part = at.gradient - self.penalised(at.beta)
        if self.extra_reg == 0:
            data_part = data_part[: self.n_features]
        dual = float(np.sum(self.target * at.force)) - 0.5 * inner(data_part, data_part)
        return self.sharp_objective(at) - dual
