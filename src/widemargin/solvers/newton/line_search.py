"""The line search: f along a ray x + t d, with the predictions z + t dz at hand, O(rows) per trial.

    phi(t) = 1/2 sum_j r_j (x_j + t d_j)^2 + sum_i C_i loss(y_i, z_i + t dz_i)

`exact` finds phi'(t) = 0 by Newton's method inside a shrinking bracket; phi is convex, so phi' rises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import _core
from ...vectors import Vector, inner

if TYPE_CHECKING:
    from .objective import Iterate, SmoothObjective


class Ray:
    """phi with its derivatives."""

    def __init__(self, f: SmoothObjective, at: Iterate, d: Vector, dz: Vector) -> None:
        problem = f.problem
        self._where = (problem.loss.native, at.z, dz, problem.y, problem.weights)
        self._n_jobs = problem.n_jobs
        shrunk = f.penalised * d
        # The penalty along the ray: a + b t + c t^2 / 2.
        self._a, self._b, self._c = (
            0.5 * inner(f.penalised * at.x, at.x),
            inner(shrunk, at.x),
            inner(shrunk, d),
        )
        self.start_value = at.value
        self.start_slope = inner(at.gradient, d)

    def value(self, t: float) -> float:
        """phi(t)"""
        return self._a + t * (self._b + 0.5 * t * self._c) + _core.ray_value(*self._where, t, self._n_jobs)

    def slope(self, t: float) -> tuple[float, float]:
        """phi'(t) and phi''(t)"""
        first, second = _core.ray_slope(*self._where, t, self._n_jobs)
        return self.with_penalty(t, first, second)

    def with_penalty(self, t: float, first: float, second: float) -> tuple[float, float]:
        """phi'(t) and phi''(t) from the losses' part of them."""
        return first + self._b + t * self._c, second + self._c


def exact(
    ray: Ray, *, slope_left: float = 0.1, most_trials: int = 60, first: tuple[float, float] | None = None
) -> float:
    """t with |phi'(t)| at most a share `slope_left` of |phi'(0)|; 0 where the ray does not descend.

    `first` are phi'(1) and phi''(1), if they are known: t = 1 is tried first.

    A slope that rounding alone may have left counts as zero: near the optimum of badly scaled data the value no longer
    changes while the gradient still does, and the full step is the right one.
    """
    if not ray.start_slope < 0:
        return 0.0
    enough = max(slope_left * -ray.start_slope, 1e-15 * abs(ray.start_value))
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(most_trials):
        slope, curvature = first or ray.slope(t)
        first = None
        if abs(slope) <= enough:
            return t
        if slope < 0:
            low = t
        else:
            high = t
        newton = t - slope / curvature if curvature > 0 else np.inf
        t = newton if low < newton < min(high, 10 * max(low, 1.0)) else _between(low, high)
    return low


def _between(low: float, high: float) -> float:
    return 0.5 * (low + high) if high < np.inf else 4 * low
