"""Truncated, preconditioned conjugate gradients for the Newton equations H s = -g, within |s|_M <= radius.

Steihaug 1983; Lin, Weng and Keerthi 2008, Algorithm 2; the preconditioner enters as in Hsia, Chiang and Lin 2018. It is
M, a diagonal or a function that solves with it, and both the residual and the trust region are measured by it:
|r|^2 = r^T M^-1 r, |s|^2 = s^T M s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from ...vectors import Vector, inner


class StopRule(Protocol):
    """When the equations are solved well enough."""

    def __call__(self, j: int, residual: float, start: float, model: float, last_model: float) -> bool:
        """After product j: the residual's norm now and at the start, the quadratic model's value now and before."""


@dataclass(frozen=True)
class ResidualRule:
    """|r| <= xi |g|: Lin, Weng and Keerthi."""

    xi: float

    def __call__(self, j: int, residual: float, start: float, model: float, last_model: float) -> bool:
        return residual <= self.xi * start


@dataclass(frozen=True)
class ModelRule:
    """The last product lowered the quadratic model by less than a share of the average (Nash and Sofer 1990).

    Galli and Lin 2021 recommend it for the line search variant. xi still ends a run whose residual is small enough.
    """

    share: float
    xi: float

    def __call__(self, j: int, residual: float, start: float, model: float, last_model: float) -> bool:
        return residual <= self.xi * start or j * (last_model - model) <= self.share * -model


@dataclass(frozen=True)
class TruncatedStep:
    """What the conjugate gradients found."""

    s: Vector = field(repr=False)
    length: float  # |s|_M
    model: float  # g^T s + 1/2 s^T H s
    n_products: int
    on_border: bool = False  # the trust region ended it
    solved: bool = False  # the stopping rule ended it


def truncated_cg(
    product: Callable[[Vector], Vector],
    g: Vector,
    M: Vector | Callable[[Vector], Vector],
    radius: float,
    enough: StopRule,
    keep_going: Callable[[], bool],
) -> TruncatedStep:
    """s with H s close to -g and |s|_M <= radius; `keep_going` is asked after each product with H."""
    s, r = np.zeros_like(g), -g
    solve = M if callable(M) else partial(_divide, M)
    y = solve(r)
    p = y.copy()
    rho = start = inner(r, y)
    # s^T M s, s^T M p and p^T M p follow by recurrence, so that the border costs no products of its own.
    ss, sp, pp = 0.0, 0.0, rho
    model = last_model = 0.0
    j, solved = 0, False
    while rho > 0:
        Hp = product(p)
        j += 1
        curvature = inner(p, Hp)
        if not curvature > 0 and math.isinf(radius):
            break  # rounding, and no border to go to
        alpha = rho / curvature if curvature > 0 else math.inf
        if not ss + alpha * (2 * sp + alpha * pp) <= radius**2:
            tau = (math.sqrt(max(0.0, sp * sp + pp * (radius**2 - ss))) - sp) / pp
            s += tau * p
            return TruncatedStep(s, radius, model - tau * (rho - 0.5 * tau * curvature), j, on_border=True)
        s += alpha * p
        Hp *= alpha
        r -= Hp
        ss += alpha * (2 * sp + alpha * pp)
        last_model, model = model, model - 0.5 * alpha * rho
        y = solve(r)
        last_rho, rho = rho, inner(r, y)
        solved = enough(j, math.sqrt(max(rho, 0.0)), math.sqrt(start), model, last_model)
        if solved or j >= 2 * len(g) or not keep_going():
            break
        beta = rho / last_rho
        sp, pp = beta * (sp + alpha * pp), rho + beta * beta * pp
        p *= beta
        p += y
    return TruncatedStep(s, math.sqrt(max(ss, 0.0)), model, j, solved=solved)


def _divide(M: Vector, r: Vector) -> Vector:
    return r / M
