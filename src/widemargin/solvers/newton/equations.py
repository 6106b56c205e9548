"""The Newton equations H d = -gradient, H = diag(r) + [X s]^T diag(h) [X s], by a Cholesky factor that may be old.

A factor made at an earlier point, or from a sample of the rows, is nearly that of H: conjugate gradients preconditioned
with it need a few products with H, one pass over the rows in play each, where a new factor costs a pass of outer
products and features^3 / 3 operations. So the old factor is used as long as that is cheaper, and made anew where
conjugate gradients take as long as a new one would: the equations never cost more than twice the better way.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...blas import limit_blas
from ...vectors import Vector, inner
from ..costs import FACTOR, PASS
from ..linalg.cg import ResidualRule, truncated_cg
from ..linalg.gram import gram_of

if TYPE_CHECKING:
    from ...objective.linear_smooth import LinearAt, LinearSmooth

Factor = tuple[Vector, bool]

# What the calls of a step cost beside the arithmetic, in nanoseconds.
CALL = 3e4
# Products with H that an old factor is expected to take; a new one must cost more than these.
LIKELY_PRODUCTS = 6


class NewtonEquations:
    """Solves them from step to step."""

    def __init__(self, f: LinearSmooth) -> None:
        limit_blas()
        self.f = f
        self.gram = gram_of(f.problem, f.constant)
        self._factor: Factor | None = None
        self._border: Vector = self.gram.matrix[:, -1].copy()

    def begin_with(self, sample: NewtonEquations) -> None:
        """The first factor is that of a sample of the rows."""
        self._factor, self._border = sample._factor, sample._border

    def solve(self, at: LinearAt, xi: float) -> tuple[Vector, float]:
        """d with a residual of at most a share xi of the gradient's, and how many passes over the data it took."""
        active = at.n_active / len(at.h)
        affordable = self._cost_of_a_factor(at.h) / self._cost_of_a_product(active)
        products = 0
        if self._factor is not None and affordable >= LIKELY_PRODUCTS:
            d, products = self._by_old_factor(at, xi, int(affordable))
            if d is not None:
                return d, products * active
        return self._by_new_factor(at, products * active)

    # Nanoseconds, measured.

    def _cost_of_a_factor(self, h: Vector) -> float:
        return self.gram.cost_of_update(h) + FACTOR * self.f.size**3 + CALL

    def _cost_of_a_product(self, active: float) -> float:
        return active * PASS * self.f.problem.X.nnz + self.f.size**2 + CALL

    def _by_new_factor(self, at: LinearAt, passes: float) -> tuple[Vector, float]:
        passes += self.gram.update(at.h)
        # The upper triangle by rows is the lower one by columns, which is how LAPACK reads it: no copy is turned.
        H = np.multiply(self.gram.matrix.T, self.gram.C, order="F")
        diagonal = np.einsum("ii->i", H)  # a view
        diagonal += self.f.penalised
        self._factor, self._border = _factor(H, diagonal), self.gram.matrix[:, -1].copy()
        return cho_solve(self._factor, -at.gradient, check_finite=False), passes

    def _by_old_factor(self, at: LinearAt, xi: float, most: int) -> tuple[Vector | None, int]:
        """Conjugate gradients preconditioned by the factor; None where `most` products with H are not enough."""
        more = iter(range(most - 1))
        found = truncated_cg(
            partial(self.f.hess_vec, at),
            at.gradient,
            lambda r: cho_solve(self._factor, r, check_finite=False),
            math.inf,
            ResidualRule(xi),
            lambda: next(more, None) is not None,
        )
        return found.s if found.solved else None, found.n_products

    def gap(self, at: LinearAt) -> float:
        """The gap after a free intercept has made its own Newton step, which moves the gradient along H's border."""
        border = self._border
        if not self.f.free or border[-1] <= 0:
            return self.f.gap(at)
        g = at.gradient[:-1] - border[:-1] * (at.gradient[-1] / border[-1])
        return 0.5 * inner(g, g)


def _factor(H: Vector, diagonal: Vector) -> Factor:
    """H's Cholesky factor; where rounding or a free intercept without active rows forbids it, of H plus a ridge."""
    ridge = np.maximum(diagonal, 1e-8 * max(1.0, float(diagonal.max()))) * 1e-14
    while True:
        try:
            factor: Factor = cho_factor(H, lower=True, check_finite=False)
            return factor
        except LinAlgError:
            diagonal += ridge
            ridge *= 100
