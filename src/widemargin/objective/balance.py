"""Dual points of multi-class problems with free intercepts: every class must give as much as it takes.

A row of class p with dual variables v (v_q <= 0 for q != p, v_p = -sum of the others) moves -v_q from class q to its
own. Not penalising the intercepts asks for sum_i v_iq = 0 for every class: what flows into a class flows out again.
With F_pq the flow from q to p, factors exp(x_p - x_q) make it so where x minimises the convex sum F_pq exp(x_p - x_q)
(the balancing of a matrix by a diagonal one). At an optimum x = 0. Divided by the largest factor, flows only shrink, so
no bound is left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..vectors import Vector

# What may remain of the imbalance, as a share of all flow.
ROUNDING = 1e-13
MOST_STEPS = 100


def balancing_factors(flow: Vector) -> Vector:
    """Factors in [0, 1], one per pair of classes, under which each class's inflow equals its outflow.

    Examples
    --------
    >>> import numpy as np
    >>> flow = np.array([[0.0, 2.0], [1.0, 0.0]])
    >>> balancing_factors(flow) * flow
    array([[0., 1.],
           [1., 0.]])
    """
    from scipy.sparse.csgraph import connected_components  # not needed before

    circulates = flow > 0
    # A flow that cannot come back, because no path leads from its end to its beginning, must be stopped.
    _, part = connected_components(circulates, connection="strong")
    circulates &= part[:, None] == part[None, :]
    flow = np.where(circulates, flow, 0.0)
    x = np.zeros(len(flow))
    for _ in range(MOST_STEPS):
        factors = np.where(circulates, np.exp(x[:, None] - x[None, :]), 0.0)
        scaled = flow * factors
        surplus = scaled.sum(axis=1) - scaled.sum(axis=0)
        if np.abs(surplus).max() <= ROUNDING * scaled.sum():
            return factors / max(float(factors.max()), 1.0)
        laplacian = np.diag(scaled.sum(axis=1) + scaled.sum(axis=0)) - scaled - scaled.T
        step = np.linalg.lstsq(laplacian, -surplus, rcond=None)[0]
        x += step / max(1.0, float(np.abs(step).max()))  # Newton's method, at most a factor of e at a time
    return np.zeros_like(flow)  # rounding hides the balance: zero is balanced, too


def flows(moved: Vector, codes: NDArray[np.int32]) -> Vector:
    """F_pq: the sum of moved_iq over the rows of class p."""
    n_classes = moved.shape[1]
    columns = [np.bincount(codes, weights=moved[:, q], minlength=n_classes) for q in range(n_classes)]
    return np.stack(columns, axis=1)
