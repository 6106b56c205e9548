"""A preconditioner for maximum entropy with few features: the Hessian's diagonal blocks, one per class.

    H_m = diag(r) + [X s]^T diag(C_i p_im (1 - p_im)) [X s]        r = 1, and 0 for a free intercept

At W = 0 all classes are equally likely, the blocks are all the same, and they are the Hessian but for a factor
k / (k - 1). Later each class has its own few rows that are not certain, and only these are read. The blocks are made
anew when the products with the Hessian since the last time have cost as much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...blas import limit_blas
from ...vectors import Vector
from ..costs import PASS, gram_cost
from ..linalg.gram import Gram

if TYPE_CHECKING:
    from ...objective.entropy_smooth import EntropySmooth

# Up to so many features, the constant one included, the blocks are factorised.
MOST_FEATURES = 2000
# Rows whose curvature is below this share of the mean are left out: together they have less than it.
NEGLIGIBLE = 0.1
# A pass for k classes takes about this share of the time of k passes for one.
PASS_SHARE = 0.4
RIDGE = 1e-10


class ClassBlocks:
    """The factors of the blocks at some probabilities, kept as long as they serve."""

    def __init__(self, f: EntropySmooth) -> None:
        limit_blas()
        problem = f.problem
        self._f = f
        self._gram = Gram(problem.X, problem.constant, problem.n_jobs)
        self._factors: list[tuple[Vector, bool]] = []
        self._products = 0
        rows, features = problem.X.shape
        entries = max(1, problem.X.nnz)
        self._cost = gram_cost(rows, features, entries) / (PASS * entries) / PASS_SHARE  # in passes

    def used(self, n_products: int) -> None:
        """Notes products with the Hessian that were made since."""
        self._products += n_products

    def refresh(self, at: Any) -> float:
        """The blocks at that point, if it is time; returns the passes that it cost."""
        h, k = self._f.block_curvatures(at), self._f.n_blocks
        h = np.where(h >= NEGLIGIBLE * h.mean(axis=0), h, 0.0)
        cost = self._cost * np.count_nonzero(h) / h.size
        if self._factors and self._products < cost:
            return 0.0
        self._factors = []
        same = bool((h == h[:, :1]).all())
        for m in range(1 if same else k):
            self._factors.append(self._factor(np.ascontiguousarray(h[:, m])))
        self._factors *= k if same else 1
        self._products = 0
        return cost / k if same else cost

    def _factor(self, h: Vector) -> tuple[Vector, bool]:
        self._gram.update(h)
        H = self._gram.matrix.T.copy(order="F")
        diagonal = np.einsum("ii->i", H)  # a view
        diagonal[: self._f.n_penalised // self._f.problem.n_classes] += 1.0
        diagonal += RIDGE * float(diagonal.max())
        factor: tuple[Vector, bool] = cho_factor(H, lower=True, check_finite=False, overwrite_a=True)
        return factor

    def solve(self, r: Vector) -> Vector:
        """Every class's block solved for its part of r."""
        table = np.ascontiguousarray(r.reshape(-1, len(self._factors)).T)
        if self._factors[0] is self._factors[-1]:
            solved = cho_solve(self._factors[0], table.T, check_finite=False).T
        else:
            solved = np.stack(
                [cho_solve(F, part, check_finite=False) for F, part in zip(self._factors, table, strict=True)]
            )
        found = np.ascontiguousarray(solved.T)
        if self._f.free:
            # A constant added to all free intercepts changes nothing: their sum stays where it is.
            found[-1] -= found[-1].mean()
        return found.reshape(-1)
