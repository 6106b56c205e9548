"""A small dense quadratic program over the simplex, by an active-set method that starts where it is told.

    max over beta   b . beta - 1/2 beta^T G beta       beta >= 0,  sum beta <= 1        G positive semidefinite

The free variables are those above zero. Each round solves the equality problem on them, walks to its solution as far as
beta >= 0 allows (a variable that becomes zero leaves), and, once there, lets in the variable whose gradient exceeds the
multiplier most. A slack variable (b = 0, G = 0) turns the inequality into sum beta = 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...vectors import Vector

Array = NDArray[np.float64]

# What is added to the diagonal, relative to its mean: linearly dependent cuts would make the system singular.
RIDGE = 1e-12


def solve_simplex_qp(G: Array, b: Vector, start: Vector, tol: float, max_rounds: int = 1000) -> Vector:
    """beta that maximises b . beta - 1/2 beta^T G beta over the simplex, to `tol` in the objective.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.solvers.cutting_plane.simplex_qp import solve_simplex_qp
    >>> solve_simplex_qp(np.diag([1.0, 4.0]), np.array([1.0, 1.0]), np.zeros(2), 1e-9).round(6)
    array([0.8, 0.2])
    """
    n = len(b)
    ridge = RIDGE * (float(np.trace(G)) / max(n, 1) or 1.0)
    full = np.zeros((n + 1, n + 1))
    full[:n, :n] = G
    full[np.diag_indices(n + 1)] += ridge
    linear = np.append(b, 0.0)
    beta = np.append(start, max(0.0, 1 - float(start.sum())))
    beta /= beta.sum()
    free = beta > 0
    for _ in range(max_rounds):
        target, multiplier = _equality_solution(full, linear, free)
        beta, arrived = _walk(beta, target, free)
        if not arrived:
            continue
        excess = linear - full @ beta - multiplier
        excess[free] = -np.inf
        entering = int(np.argmax(excess))
        # The mass that could move is at most one: the objective cannot gain more than the excess.
        if excess[entering] <= tol:
            break
        free[entering] = True
    return beta[:n]


def _equality_solution(G: Array, b: Vector, free: NDArray[np.bool_]) -> tuple[Vector, float]:
    """The maximiser on the free variables with sum beta = 1, and the multiplier of that constraint."""
    at = np.flatnonzero(free)
    n = len(at)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = G[np.ix_(at, at)]
    system[n, n] = 0.0
    scale = float(np.max(np.diag(system)[:n])) or 1.0
    system[:n, n] = system[n, :n] = scale  # the constraint in the units of G, for the solver's pivots
    found = np.linalg.lstsq(system, np.append(b[at], scale), rcond=None)[0]
    target = np.zeros_like(b)
    target[at] = found[:n]
    return target, scale * float(found[n])


def _walk(beta: Vector, target: Vector, free: NDArray[np.bool_]) -> tuple[Vector, bool]:
    """From beta towards the target until a free variable becomes zero and leaves; whether the target was reached.

    Where the values of G range so far that rounding has taken the constraint from the system, its solution may lie off
    the simplex, and the walk would leave no mass at all: then beta stays where it is.
    """
    leaving = free & (target < 0)
    if not leaving.any():
        total = float(target.sum())
        return (target / total, True) if total > 0 else (beta, True)
    room = np.full_like(beta, np.inf)
    room[leaving] = beta[leaving] / (beta[leaving] - target[leaving])
    first = int(np.argmin(room))
    moved = np.maximum(0.0, beta + room[first] * (target - beta))
    moved[first] = 0.0
    total = float(moved.sum())
    if not total > 0:
        return beta, True
    free[first] = False
    return moved / total, False
