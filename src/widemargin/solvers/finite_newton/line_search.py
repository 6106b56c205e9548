"""Exact line search over a piecewise quadratic: equations (14)-(18) of Keerthi and DeCoste (2005), in O(m log m)."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...vectors import Vector
from .ramps import Ramp


def exact_step(
    ramp: Ramp, residuals: Vector, change: Vector, weights: Vector, slope: float = 0.0, curvature: float = 0.0
) -> float:
    """argmin over delta >= 0 of  slope delta + curvature/2 delta^2 + sum_i weights_i loss(residuals_i + delta change_i)

    Infinite where the function falls for ever.
    """
    return _core.ramp_line_search(
        np.ascontiguousarray(residuals).ravel(),
        np.ascontiguousarray(change).ravel(),
        np.ascontiguousarray(ramp.scale * weights).ravel(),
        ramp.shift,
        ramp.lo,
        ramp.hi,
        slope,
        curvature,
    )


def exact_shift(ramp: Ramp, residuals: Vector, change: Vector, weights: Vector) -> float:
    """The step of either sign that minimises sum_i weights_i loss(residuals_i + step change_i); 0 if there is none."""
    for sign in (1.0, -1.0):
        step = exact_step(ramp, residuals, sign * change, weights)
        if 0 < step < np.inf:
            return sign * step
    return 0.0
