"""The Newton step of an l1-penalised quadratic on its support: exact where the signs are right, blind to conditioning.

With the signs of the nonzero weights fixed, the objective is quadratic in them,

    Q(w) = 1/2 w^T H w - c . w + sum_j (rho_j sign_j w_j + bend_j/2 w_j^2)        slope = H w - c

and one linear system finds its minimum, which coordinate descent may need thousands of passes for. Weights that
would change their sign stop at zero together where that gains, else the step ends where the first one gets there; they
leave and the rest goes on. Coordinate descent decides which columns come.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...blas import limit_blas
from ...vectors import Vector, inner

Square = NDArray[np.float64]
Columns = NDArray[np.uint32]

# Columns of the largest dense matrix, which takes the square of this in memory; the others are left to coordinate
# descent or conjugate gradients.
LARGEST_DENSE = 1500
# From this size on, LAPACK is worth loading.
BLAS_SUPPORT = 150
# Weights that may reach zero in one call; each costs a linear system, and all together about this many operations.
MOST_CUTS = 30
MOST_OPERATIONS = 1e9


def lasso_support_step(native: _core.LassoCD, working: Columns, rho: float) -> None:
    """Moves the nonzero weights among the working columns to the minimum on their support."""
    w = np.empty(len(working))
    native.working_weights(w)
    support, w = working[w != 0], w[w != 0]
    n = len(support)
    if n == 0 or n > LARGEST_DENSE:
        return
    correlations, hessian = np.empty(n), np.empty(n * n)
    native.correlations(support, correlations)
    native.hessian(support, hessian)
    end = w.copy()
    minimise_on_support(hessian.reshape(n, n), -correlations, end, np.full(n, rho), np.full(n, 1 - rho))
    native.shift(support, end - w)


def minimise_on_support(hessian: Square, slope: Vector, w: Vector, rho: Vector, bend: Vector) -> float:
    """Moves w, and slope = H w - c with it, to the minimum of Q on the nonzero w and on those without l1.

    Returns the cubes of the supports whose systems were solved, summed.
    """
    cubes = 0.0
    if len(w) > BLAS_SUPPORT:
        limit_blas()
    affordable = MOST_OPERATIONS / max(1, int(np.count_nonzero(w))) ** 3
    for _ in range(int(np.clip(affordable, 1, MOST_CUTS))):
        support = np.flatnonzero((w != 0) | (rho == 0))
        if len(support) == 0:
            return cubes
        cubes += float(len(support)) ** 3
        at, penalised = w[support], rho[support]
        downhill = -(slope[support] + penalised * np.sign(at) + bend[support] * at)
        found = _solve(hessian[np.ix_(support, support)], bend[support], downhill)
        if found is None or not inner(found, downhill) > 0:
            return cubes
        end = at + found
        crossing = (end * at < 0) & (penalised > 0)
        end[crossing] = 0.0
        d = np.zeros_like(w)
        d[support] = end - at
        change = hessian @ d
        if crossing.any() and not _falls(d, slope, change, w, rho, bend):
            share, first = _until_zero(at, found, penalised)
            d[support] = share * found
            d[support[first]] = -at[first]
            change = hessian @ d
        w += d
        slope += change
        if not crossing.any():
            return cubes
    return cubes


def _falls(d: Vector, slope: Vector, change: Vector, w: Vector, rho: Vector, bend: Vector) -> bool:
    """Whether Q is lower at w + d, where the slope changes by H d."""
    end = w + d
    smooth = inner(d, slope + 0.5 * change) + 0.5 * inner(bend, end * end - w * w)
    return smooth + inner(rho, np.abs(end) - np.abs(w)) < 0


def _solve(hessian: Square, bend: Vector, right: Vector) -> Vector | None:
    """(H + diag(bend))^-1 right, a touch of the identity added so that dependent columns do no harm."""
    diagonal = np.diag_indices_from(hessian)
    hessian[diagonal] += bend + 1e-12 * hessian[diagonal] + 1e-24 * float(hessian[diagonal].max())
    if len(right) > BLAS_SUPPORT:
        from scipy.linalg.lapack import dposv

        _, found, failed = dposv(hessian, right, lower=1, overwrite_a=1)
    else:
        found = right.copy()
        failed = not _core.cholesky_solve(hessian.reshape(-1), found)
    return None if failed or not bool(np.isfinite(found).all()) else found


def _until_zero(w: Vector, d: Vector, rho: Vector) -> tuple[float, int]:
    """The share of d, at most 1, that brings the first penalised weight to zero, and which weight."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        until = np.where((w * d < 0) & (rho > 0), -w / d, np.inf)
    first = int(np.argmin(until))
    return (float(until[first]), first) if until[first] < 1 else (1.0, first)
