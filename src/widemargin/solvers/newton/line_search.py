"""The exact line search along a ray of a smooth convex function: phi'(t) = 0 by Newton's method inside a bracket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...objective.smooth import Ray


def exact(ray: Ray, *, slope_left: float = 0.1, most_trials: int = 60) -> float:
    """t with |phi'(t)| at most a share `slope_left` of |phi'(0)|; 0 where the ray does not descend. t = 1 comes first.

    phi is convex, so phi' rises. A slope that rounding alone may have left counts as zero: near the optimum of badly
    scaled data the value no longer changes while the gradient still does, and the full step is the right one.
    """
    if not ray.start_slope < 0:
        return 0.0
    enough = max(slope_left * -ray.start_slope, 1e-15 * abs(ray.start_value))
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(most_trials):
        slope, curvature = ray.slope(t)
        if abs(slope) <= enough and (slope <= 0 or _is_no_higher(ray, t)):
            return t
        if slope < 0:
            low = t
        else:
            high = t
        newton = t - slope / curvature if curvature > 0 else np.inf
        t = newton if low < newton < min(high, 10 * max(low, 1.0)) else _between(low, high)
    return low


def _is_no_higher(ray: Ray, t: float) -> bool:
    """Whether phi(t) <= phi(0), up to rounding: a steep but short descent may end far below a long slight rise."""
    return ray.value(t) <= ray.start_value + 1e-10 * abs(ray.start_value)


def _between(low: float, high: float) -> float:
    return 0.5 * (low + high) if high < np.inf else 4 * low
