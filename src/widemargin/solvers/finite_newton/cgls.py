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

from ...vectors import Vector, inner

# A residual this much shorter than at the start is rounding.
EXHAUSTED = 1e-30
# Up to so many coordinates, and so many of its last iterations, r is kept orthogonal to what it was: it costs little
# beside a pass, and then rounding neither delays the end nor decides where it is.
ORTHOGONAL_SIZE, ORTHOGONAL_STEPS = 512, 256


@dataclass(frozen=True)
class LeastSquares:
    """One Newton step's least squares problem."""

    product: Callable[[Vector], Vector]  # p -> A^T A p, one pass
    penalised: Callable[[Vector], Vector]  # p -> reg p
    r: Vector  # negative gradient at the start
    pull: Vector  # A^T z at the start
    z_sqnorm: float  # |z|^2 at the start
    value: float  # of the objective at the start
    diagonal: Vector | None = None  # of A^T A + reg, to precondition with


@dataclass(frozen=True)
class Stop:
    """When conjugate gradients are accurate enough: |r|^2 <= max(eps^2 |z|^2, share * value, floor)."""

    eps: float  # the paper's rule (13)
    share: float = 0.0  # of the quadratic model's value: what a relative duality gap asks for
    floor: float = 0.0
    forcing: float = 0.0  # also stop when the (preconditioned) |r| is this share of what it was

    def bound(self, z_sqnorm: float, value: float) -> float:
        """What |r|^2 must not exceed."""
        return max(self.eps * self.eps * z_sqnorm, self.share * value, self.floor)


class CGLS:
    """A run of conjugate gradients: iterate over `steps`, then read `direction` and `optimal`."""

    def __init__(self, problem: LeastSquares) -> None:
        self.problem = problem
        self.direction = np.zeros_like(problem.r)
        self.optimal = False
        self.n_iter = 0
        self._root = None if problem.diagonal is None else np.sqrt(problem.diagonal)
        self._past: list[Vector] = []  # past r, scaled by the root of the preconditioner and to unit length

    def steps(self, stop: Stop, limit: int) -> Iterator[int]:
        """Iterates until `stop` or `limit`; yields after each pass."""
        problem = self.problem
        r, z_sqnorm = problem.r.copy(), problem.z_sqnorm
        self._remember(r)
        p = self._preconditioned(r).copy()
        rho, r_sqnorm = inner(r, p), inner(r, r)
        exhausted, forced = EXHAUSTED * r_sqnorm, stop.forcing**2 * rho
        value = problem.value
        offset = problem.pull - r  # A^T z = offset + r throughout, once reg d has been added
        self.optimal = r_sqnorm <= max(stop.bound(z_sqnorm, value), exhausted)
        while not self.optimal and rho > forced and self.n_iter < limit:
            self.n_iter += 1
            data_part, penalty_part = problem.product(p), problem.penalised(p)
            q_sqnorm = inner(p, data_part)
            curvature = q_sqnorm + inner(p, penalty_part)
            if not curvature > 0:
                return  # a free direction in which nothing is active
            gamma = rho / curvature
            z_sqnorm += gamma * (gamma * q_sqnorm - 2 * (inner(p, offset) + rho))
            self.direction += gamma * p
            offset += gamma * penalty_part
            r -= gamma * (data_part + penalty_part)
            r = self._orthogonalised(r)
            r_sqnorm = inner(r, r)
            value -= 0.5 * gamma * rho
            self.optimal = r_sqnorm <= max(stop.bound(z_sqnorm, value), exhausted)
            self._remember(r)
            y = self._preconditioned(r)
            rho_before, rho = rho, inner(r, y)
            p *= rho / rho_before
            p += y
            yield self.n_iter

    def _remember(self, r: Vector) -> None:
        if len(r) <= ORTHOGONAL_SIZE and len(self._past) < ORTHOGONAL_STEPS:
            scaled = r if self._root is None else r / self._root
            length = np.sqrt(inner(scaled, scaled))
            if length > 0:
                self._past.append(scaled / length)

    def _orthogonalised(self, r: Vector) -> Vector:
        if not self._past:
            return r
        scaled = r if self._root is None else r / self._root
        for past in self._past:
            scaled = scaled - inner(past, scaled) * past
        return scaled if self._root is None else scaled * self._root

    def _preconditioned(self, r: Vector) -> Vector:
        return r if self.problem.diagonal is None else r / self.problem.diagonal
