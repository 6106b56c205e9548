"""The matrix [X s]^T diag(h) [X s] of the Newton equations, kept up to date as h changes.

The losses that are pieces of parabolas change h only in rows that cross a kink. Late in a run these are few, so the
matrix is corrected by those rows instead of being made anew. h is in proportion to C: the matrix is kept for C = 1, and
where fits at several C follow one another, in the notes of their data, the next one corrects the matrix of the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...vectors import Vector
from ..costs import KEPT_FEATURES, gram_cost

if TYPE_CHECKING:
    from ...objective.problem import Problem

# A relative change of h that counts as none.
ROUNDING = 1e-14


def gram_of(problem: Problem, constant: float) -> Gram:
    """The matrix that the last fit to the same data left in their notes, or a new one."""
    notes = problem.X.notes
    large = problem.X.shape[1] > KEPT_FEATURES
    if notes is None or large or not problem.loss.piecewise:  # h would change in every row
        return Gram(problem, constant)
    key = f"gram {constant} {problem.n_jobs}"
    if key not in notes:
        notes[key] = Gram(problem, constant)
    gram: Gram = notes[key]
    gram.C = problem.C
    return gram


class Gram:
    """The upper triangle of [X s]^T diag(h / C) [X s]; s = 0 stands for no constant column."""

    def __init__(self, problem: Problem, constant: float) -> None:
        rows, columns = problem.X.shape
        order = columns + (constant != 0)
        self.matrix = np.zeros((order, order))
        self._X = problem.X
        self.C = 1.0  # what h is divided by
        self._constant = constant
        self._n_jobs = problem.n_jobs
        self._h = np.zeros(rows)
        self._cost = gram_cost(rows, order, problem.X.nnz)

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
    def _keeps(self) -> bool:
        return len(self.matrix) <= KEPT_FEATURES

    def _begin_alike(self, h: float) -> None:
        """All rows alike, as at w = 0: a multiple of X^T X, which is kept for the other problems over the same rows."""
        known = self._X.kept_gram.get(self._constant)
        if known is None:
            self._add(np.ones(len(self._h)))
            self._X.kept_gram.clear()  # of other constants
            known = self._X.kept_gram[self._constant] = self.matrix.copy()
        np.multiply(known, h, out=self.matrix)

    def _add(self, h: Vector) -> None:
        self._X.sandwich(h, constant=self._constant, out=self.matrix, n_jobs=self._n_jobs)
