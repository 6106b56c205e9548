"""Conjugate gradients for the regularised least squares problem of one Newton step.

    min over d    1/2 |z - A d|^2 + 1/2 |beta + d|^2_reg - linear terms

A holds the active rows, each scaled by the square root of its curvature; z their scaled residuals; r is the negative
gradient, so r = A^T z - reg beta (+ what the linear pieces pull). Keerthi and DeCoste (2005), section 4.3 and Appendix
A, steps 3 and 4; the stopping rule (13) |r| <= eps |z| is theirs, with z in their scale.

One pass over the active rows per iteration gives A^T A p; |A p|^2 and the change of |z|^2 follow from inner products
with it, so the rows are read once where the textbook form reads them twice. Rounding that gathers in r is gone at the
next Newton step, which starts from a gradient summed afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# A residual this much shorter than at the start is rounding.
EXHAUSTED = 1e-30


@dataclass(frozen=True)
class LeastSquares:
    """One Newton step's least squares problem."""

    product: Callable[[Vector], Vector]  # p -> A^T A p, one pass
    penalised: Callable[[Vector], Vector]  # p -> reg p
    r: Vector  # negative gradient at the start
    pull: Vector  # A^T z at the start
    z_sqnorm: float  # |z|^2 at the start
    diagonal: Vector | None = None  # of A^T A + reg, to precondition with


class CGLS:
    """A run of conjugate gradients: iterate over `steps`, then read `direction` and `optimal`."""

    def __init__(self, problem: LeastSquares) -> None:
        self.problem = problem
        self.direction = np.zeros_like(problem.r)
        self.optimal = False
        self.n_iter = 0

    def steps(self, eps: float, floor: float, limit: int) -> Iterator[int]:
        """Iterates until |r|^2 <= max(eps^2 |z|^2, floor) or `limit`; yields after each pass."""
        problem = self.problem
        r, z_sqnorm = problem.r.copy(), problem.z_sqnorm
        p = self._preconditioned(r).copy()
        rho, r_sqnorm = float(r @ p), float(r @ r)
        exhausted = EXHAUSTED * r_sqnorm
        offset = problem.pull - r  # A^T z = offset + r throughout, once reg d has been added
        self.optimal = r_sqnorm <= max(eps * eps * z_sqnorm, floor, exhausted)
        while not self.optimal and self.n_iter < limit:
            self.n_iter += 1
            data_part, penalty_part = problem.product(p), problem.penalised(p)
            q_sqnorm = float(p @ data_part)
            curvature = q_sqnorm + float(p @ penalty_part)
            if not curvature > 0:
                return  # a free direction in which nothing is active
            gamma = rho / curvature
            z_sqnorm += gamma * (gamma * q_sqnorm - 2 * (float(p @ offset) + rho))
            self.direction += gamma * p
            offset += gamma * penalty_part
            r -= gamma * (data_part + penalty_part)
            r_sqnorm = float(r @ r)
            self.optimal = r_sqnorm <= max(eps * eps * z_sqnorm, floor, exhausted)
            y = self._preconditioned(r)
            rho_before, rho = rho, float(r @ y)
            p *= rho / rho_before
            p += y
            yield self.n_iter

    def _preconditioned(self, r: Vector) -> Vector:
        return r if self.problem.diagonal is None else r / self.problem.diagonal
