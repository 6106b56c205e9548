"""Rows that occur many times, with the same target: solved as one row each, whose weight is the sum of theirs.

The objective is the same function of w. A dual point goes back in shares: v_i is the part of the merged row's v that
row i has in its weight, which is as feasible and as good. Tables of records (connections, transactions, surveys) often
have few kinds of rows; every pass then costs as much less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...data.matrix import Matrix
from .solution import Solution

if TYPE_CHECKING:
    from ...objective.any_problem import AnyProblem
    from ...objective.points import Point

# Fewer rows are solved before their kinds are counted.
FEWEST_ROWS = 20_000
# It pays where so many rows, or fewer, are left of one; whether to count is told by the kinds among so many rows.
WORTH = 0.5
SAMPLE, PROMISING = 2_000, 0.7


@dataclass(frozen=True)
class Merging:
    """A problem as it is solved, and the way back; without kinds it is as it was."""

    problem: AnyProblem
    kinds: NDArray[np.intp] | None = None  # the merged row that each row has become
    shares: NDArray[np.float64] | None = None  # its part in the weight of that row

    @classmethod
    def of(cls, problem: Any) -> Merging:
        """The problem over its kinds of rows, if these are few enough."""
        rows = problem.X.shape[0]
        if rows < FEWEST_ROWS or not isinstance(problem.X, Matrix) or not problem.per_row:
            return cls(problem)
        found = _kinds(problem)
        if found is None:
            return cls(problem)
        first, kinds = found
        totals = np.bincount(kinds, weights=problem.weights, minlength=len(first))
        shares = np.divide(problem.weights, totals[kinds], out=np.zeros(rows), where=totals[kinds] > 0)
        return cls(problem.taken(first).weighted(totals), kinds, shares)

    def there(self, point: Point | None) -> Point | None:
        """A point of the problem as it was, as one of this problem: its dual point is summed over each kind."""
        if point is None or self.kinds is None:
            return point
        if point.dual is None:
            return point.bare()
        summed = np.zeros((self.problem.X.shape[0], *np.shape(point.dual)[1:]))
        np.add.at(summed, self.kinds, point.dual)
        return replace(point.bare(), dual=summed)

    def back(self, solution: Solution) -> Solution:
        """A solution of this problem as one of the problem as it was."""
        if self.kinds is None or self.shares is None:
            return solution
        dual = solution.dual
        if dual is not None:
            each = np.asarray(dual)[self.kinds]
            dual = each * (self.shares if each.ndim == 1 else self.shares[:, np.newaxis])
        return replace(solution, dual=dual, point=replace(solution.point.bare(), dual=dual))


def _kinds(problem: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """The first row of each kind, and the kind of each row; None where there are too many kinds."""
    X, rng = problem.X, np.random.default_rng(0)
    _, some = X.sample(SAMPLE)
    if len(np.unique(some.matvec(rng.uniform(0.5, 1.5, X.shape[1])))) > PROMISING * some.shape[0]:
        return None
    marks = [X.matvec(rng.uniform(0.5, 1.5, X.shape[1])), X.matvec(rng.uniform(0.5, 1.5, X.shape[1]))]
    columns = [*marks, *(getattr(problem, name) for name in problem.per_row)]
    order = np.lexsort(columns)
    new = np.zeros(len(order), dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    if np.count_nonzero(new) > WORTH * len(order):
        return None
    kinds = np.empty(len(order), dtype=np.intp)
    kinds[order] = np.cumsum(new) - 1
    first = order[new]
    return (first, kinds) if _are_alike(X, first[kinds]) else None


def _are_alike(X: Matrix, others: NDArray[np.intp]) -> bool:
    """Whether every row is entry by entry the other that is named for it."""
    mine, theirs = X.to_scipy(), X.take(others).to_scipy()
    if not X.is_sparse:
        return bool(np.array_equal(mine, theirs))
    return bool((mine != theirs).nnz == 0)
