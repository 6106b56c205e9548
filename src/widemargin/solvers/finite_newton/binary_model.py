"""Binary classification and least squares as a piecewise quadratic model: one term per row.

residual_i = target_i - sign_i (x_i . w + scale c), where b = scale c: classification has target 1 and sign y_i, least
squares target y_i and sign 1. A regularized intercept is the weight c of a constant feature `scale`, a free one has
scale 1 and no penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...vectors import Vector
from ..base import Point
from .line_search import exact_shift
from .piecewise_model import At, PiecewiseModel
from .ramps import ramp_of

if TYPE_CHECKING:
    from ...objective.problem import Problem


@dataclass(frozen=True, kw_only=True)
class BinaryModel(PiecewiseModel):
    """One term per row of a Problem."""

    problem: Problem
    sign: Vector
    scale: float  # of the constant feature; 0: no intercept

    @classmethod
    def of(cls, problem: Problem, weights: Vector | None = None) -> BinaryModel:
        """The model of a problem; `weights` replace its C_i (zero leaves a row out)."""
        one = np.ones(problem.X.shape[0])
        classification = problem.loss.classification
        return cls(
            loss=problem.loss,
            ramp=ramp_of(problem.loss, problem.margin),
            C=problem.C,
            weights=problem.weights if weights is None else weights,
            n_features=problem.X.shape[1],
            extra_reg=0.0 if problem.intercept == "free" else 1.0,
            problem=problem,
            target=one if classification else problem.y,
            sign=problem.y if classification else one,
            scale=problem.constant,
        )

    def _size(self) -> int:
        return self.n_features + (self.scale > 0)

    def beta(self, w: Vector, intercept: float) -> Vector:
        """(w, c)"""
        return np.append(w, intercept / self.scale) if self.scale else np.array(w)

    def point(self, at: At) -> Point:
        """The point beta in the problem's own terms."""
        return Point(at.beta[: self.n_features].copy(), self._shift(at.beta[self.n_features :]), self.sign * at.force)

    def _shift(self, extra: Vector) -> float:
        return self.scale * float(extra[0]) if self.scale else 0.0

    def scores(self, w: Vector) -> Vector:
        return self.problem.X.matvec(w, n_jobs=self.problem.n_jobs)

    def plain_residuals(self, scores: Vector, extra: Vector) -> Vector:
        return self.target - self.sign * (scores + self._shift(extra))

    def residual_change(self, scores: Vector, extra: Vector) -> Vector:
        return -self.sign * (scores + self._shift(extra))

    def pull_back(self, force: Vector) -> Vector:
        u = -self.sign * force
        return self._with_extra(self.problem.X.rmatvec(u, n_jobs=self.problem.n_jobs), float(u.sum()))

    def product(self, curvature: Vector, p: Vector) -> Vector:
        g, g_b = self.problem.hess_vec(curvature, p[: self.n_features], self._shift(p[self.n_features :]))
        return self._with_extra(g, g_b)

    def diagonal(self, curvature: Vector) -> Vector:
        d = self.problem.X.column_sqnorms(curvature, n_jobs=self.problem.n_jobs)
        return self._with_extra(d, self.scale * float(curvature.sum()))

    def _with_extra(self, g: Vector, g_b: float) -> Vector:
        return np.append(g, self.scale * g_b) if self.scale else g

    def settled(self, beta: Vector, scores: Vector) -> Vector:
        r = self.residuals(scores, beta[self.n_features :])
        settled = beta.copy()
        settled[self.n_features] += exact_shift(self.ramp, r, -self.sign, self.weights)
        return settled
