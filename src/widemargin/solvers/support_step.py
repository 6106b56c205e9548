"""The Newton step of a lasso on its support: exact where the signs are right, and blind to bad conditioning.

With the signs of the nonzero weights fixed, the objective is quadratic in them,

    Q(w) = rho sign . w + (1 - rho)/2 |w|^2 + loss,        Hessian H + (1 - rho) I,

and one linear system finds its minimum, which coordinate descent may need thousands of passes for. The step ends where
the first weight reaches zero; coordinate descent then decides which columns go and come.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core

Vector = NDArray[np.float64]
Columns = NDArray[np.uint32]

# Larger supports are left to coordinate descent: the Hessian takes the square of this in memory.
LARGEST_SUPPORT = 1500


def support_step(native: _core.LassoCD, working: Columns, rho: float) -> bool:
    """Moves the nonzero weights among the working columns to their minimum or to the first zero; whether it moved."""
    w = np.empty(len(working))
    native.working_weights(w)
    support, w = working[w != 0], w[w != 0]
    n = len(support)
    if n == 0 or n > LARGEST_SUPPORT:
        return False
    slope, hessian = np.empty(n), np.empty(n * n)
    native.correlations(support, slope)
    slope = rho * np.sign(w) + (1 - rho) * w - slope
    native.hessian(support, hessian)
    d = _solve(hessian.reshape(n, n), 1 - rho, -slope)
    if d is None or not float(d @ slope) < 0:
        return False
    native.shift(support, _cut(w, d) if rho > 0 else d)
    return True


def _solve(hessian: NDArray[np.float64], bend: float, right: Vector) -> Vector | None:
    """(H + bend I)^-1 right, a touch of the identity added so that dependent columns do no harm."""
    diagonal = np.diag_indices_from(hessian)
    hessian[diagonal] += bend + 1e-12 * float(hessian[diagonal].max())
    try:
        found: Vector = np.linalg.solve(hessian, right)
    except np.linalg.LinAlgError:
        return None
    return found if bool(np.isfinite(found).all()) else None


def _cut(w: Vector, d: Vector) -> Vector:
    """d, or as much of it as brings the first weight to zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        until_zero = np.where(w * d < 0, -w / d, np.inf)
    first = int(np.argmin(until_zero))
    if until_zero[first] >= 1:
        return d
    d = until_zero[first] * d
    d[first] = -w[first]
    return d
