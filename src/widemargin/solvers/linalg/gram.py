"""The matrix [X s]^T diag(h) [X s] of the Newton equations, kept up to date as h changes.

The losses that are pieces of parabolas change h only in rows that cross a kink. Late in a run these are few, so the
matrix is corrected by those rows instead of being made anew. h is in proportion to C: the matrix is kept for C = 1, and
where fits of one problem at several C follow one another, the next one corrects the matrix of the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...data.kept import kept
from ...vectors import Vector
from ..costs import KEPT_FEATURES, gram_cost

if TYPE_CHECKING:
    from ...data.rows import Rows
    from ...objective.problem import Problem

# A relative change of h that counts as none.
ROUNDING = 1e-14


def gram_of(problem: Problem, constant: float) -> Gram:
    """The matrix that the last fit of the same problem has kept, or a new one."""
    large = problem.X.shape[1] > KEPT_FEATURES
    if problem.keeper is None or large or not problem.loss.piecewise:  # else h changes in every row
        return Gram(problem.X, constant, problem.n_jobs)
    gram = kept(problem.keeper, f"gram {constant} {problem.n_jobs}", lambda: Gram(problem.X, constant, problem.n_jobs))
    gram.C = problem.C
    return gram


class Gram:
    """The upper triangle of [X s]^T diag(h / C) [X s]; s = 0 stands for no constant column."""

    def __init__(self, X: Rows, constant: float, n_jobs: int = 1) -> None:
        rows, columns = X.shape
        order = columns + (constant != 0)
        self.matrix = np.zeros((order, order))
        self._X = X
        self.C = 1.0  # what h is divided by
        self._constant = constant
        self._n_jobs = n_jobs
        self._h = np.zeros(rows)
        self._cost = gram_cost(rows, order, X.nnz)

    def cost_of_update(self, h: Vector) -> float:
        """What bringing the matrix to these h costs, in nanoseconds."""
        changed = min(np.count_nonzero(self._change(h)), np.count_nonzero(h))
        return self._cost * float(changed) / len(h)

    def _change(self, h: Vector) -> Vector:
        """What is to be added to the h of the matrix; zero where rounding alone makes a difference."""
        change = h * (1 / self.C)
        change -= self._h
        change[np.abs(change) <= ROUNDING * self._h] = 0.0
        return change

    def update(self, h: Vector) -> float:
        """Brings the matrix to these h; returns how many passes over the data that cost."""
        change = self._change(h)
        n_changed, n_active = np.count_nonzero(change), np.count_nonzero(h)
        if n_changed >= n_active:
            self.matrix.fill(0.0)
            self._h = h * (1 / self.C)
            change, n_changed = self._h, n_active
            if self._keeps and n_active == len(h) and (change == change[0]).all():
                self._begin_alike(float(change[0]))
                return 1.0
        else:
            self._h = np.where(change != 0, h * (1 / self.C), self._h)
        if n_changed:
            self._add(change)
        return n_changed / len(h)

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix and of the rows' curvatures."""
        return self.matrix.nbytes + self._h.nbytes

    @property
    def _keeps(self) -> bool:
        return len(self.matrix) <= KEPT_FEATURES

    def _begin_alike(self, h: float) -> None:
        """All rows alike, as at w = 0: a multiple of X^T X, which is kept for the other problems over the same rows."""
        known = kept(self._X.owner, f"gram of all rows, {self._constant}", self._of_all)
        np.multiply(known, h, out=self.matrix)

    def _of_all(self) -> Vector:
        self._add(np.ones(len(self._h)))
        return self.matrix.copy()

    def _add(self, h: Vector) -> None:
        self._X.sandwich(h, constant=self._constant, out=self.matrix, n_jobs=self._n_jobs)
