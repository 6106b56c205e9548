"""Ordinal regression as a piecewise quadratic model: one term per row and threshold.

residual_is = 1 - sigma_is (x_i . w - b_s). The terms of a row share its score, so a Hessian product reads each row
once, whatever the number of thresholds: the expanded rows are never formed.
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
    from ...objective.ordinal import OrdinalProblem


@dataclass(frozen=True, kw_only=True)
class OrdinalModel(PiecewiseModel):
    """One term per row and threshold of an OrdinalProblem."""

    problem: OrdinalProblem
    sigma: Vector  # rows x thresholds

    @classmethod
    def of(cls, problem: OrdinalProblem) -> OrdinalModel:
        """The model of a problem."""
        sigma = np.stack([problem.sides(s) for s in range(problem.n_thresholds)], axis=1)
        return cls(
            loss=problem.loss,
            ramp=ramp_of(problem.loss),
            C=problem.C,
            weights=np.repeat(problem.weights[:, None], problem.n_thresholds, axis=1),
            n_features=problem.X.shape[1],
            extra_reg=0.0 if problem.free else 1.0,
            problem=problem,
            sigma=sigma,
        )

    def _size(self) -> int:
        return self.problem.size

    def point(self, at: At) -> Point:
        """The point beta in the problem's own terms, its thresholds in order: sorting them never costs anything."""
        beta = at.beta.copy()
        beta[self.n_features :].sort()
        return Point(beta, 0.0, self.sigma * at.force)

    def scores(self, w: Vector) -> Vector:
        return self.problem.X.matvec(w, n_jobs=self.problem.n_jobs)

    def plain_residuals(self, scores: Vector, extra: Vector) -> Vector:
        return 1 - self.sigma * (scores[:, None] - extra)

    def residual_change(self, scores: Vector, extra: Vector) -> Vector:
        return -self.sigma * (scores[:, None] - extra)

    def pull_back(self, force: Vector) -> Vector:
        u = -self.sigma * force
        return np.append(self.problem.X.rmatvec(u.sum(axis=1), n_jobs=self.problem.n_jobs), -u.sum(axis=0))

    def product(self, curvature: Vector, p: Vector) -> Vector:
        X, p_b, n_jobs = self.problem.X, p[self.n_features :], self.problem.n_jobs
        q = X.matvec(p[: self.n_features], n_jobs=n_jobs)
        g = X.rmatvec(curvature.sum(axis=1) * q - curvature @ p_b, n_jobs=n_jobs)
        return np.append(g, curvature.sum(axis=0) * p_b - q @ curvature)

    def diagonal(self, curvature: Vector) -> Vector:
        d = self.problem.X.column_sqnorms(curvature.sum(axis=1), n_jobs=self.problem.n_jobs)
        return np.append(d, curvature.sum(axis=0))

    def settled(self, beta: Vector, scores: Vector) -> Vector:
        """Given the scores, the thresholds do not know of each other: each is found on its own."""
        settled = beta.copy()
        r = self.residuals(scores, beta[self.n_features :])
        for s in range(self.problem.n_thresholds):
            settled[self.n_features + s] += exact_shift(self.ramp, r[:, s], self.sigma[:, s], self.weights[:, s])
        return settled
