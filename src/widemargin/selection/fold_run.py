"""One fold of a search: its rows, its walk along C, and the score of what is held out.

Small data are copied fold by fold, so that a pass sees the rows that count and no others. Large data are shared: rows
that are held out get weight zero, which is the same problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..data.rows import Rows
from ..solvers.run.solution import Solution, Status
from ..vectors import Vector
from .folds import Fold
from .scoring import Score
from .walk import Effort, Walk

if TYPE_CHECKING:
    from ..objective.problem import Problem


@dataclass(frozen=True)
class FoldFit:
    """The score of the rows held out, the predictions it was made from, and the model of the others."""

    score: float
    predictions: Vector
    solution: Solution


# Entries that the copies of all folds may have together: some 250 MB of sparse rows.
MOST_ENTRIES_COPIED = 20_000_000


def shares_rows(problem: Problem, n_folds: int) -> bool:
    """Whether the folds look at the same rows in memory rather than at copies."""
    return problem.X.nnz * n_folds > MOST_ENTRIES_COPIED


@dataclass
class FoldRun:
    """Fits the rows of one fold at one C after another, and scores the others."""

    problem: Problem
    fold: Fold
    effort: Effort
    score: Score
    mean_loss: bool
    shared: bool
    _walk: Walk = field(init=False)
    _held_out: Rows = field(init=False)
    _factor: float = field(init=False, default=1.0)

    def __post_init__(self) -> None:
        problem, fold = self.problem, self.fold
        fitted = problem.restricted(fold.fitted) if self.shared else problem.taken(fold.fitted)
        self._walk = Walk(fitted.kept_along(), self.effort)
        self._held_out = fitted.X if self.shared else problem.X.take(fold.held_out)
        if self.mean_loss:
            self._factor = float(problem.weights.sum() / fitted.weights.sum())

    def at(self, C: float, max_seconds: float | None = None) -> FoldFit:
        """Fits at C and scores; Ctrl-C is passed on."""
        solution = self._walk.to(C * self._factor, max_seconds)
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        z = solution.point.z if self.shared else None  # over the same rows, the certificate knows it
        if z is None:
            z = self.problem.predictions(self._held_out, solution.coef, solution.intercept)
        if self.shared:
            held_out = z[self.fold.held_out]
        else:
            held_out, z = z, np.zeros((len(self.problem.y), *z.shape[1:]))
            z[self.fold.held_out] = held_out
        return FoldFit(self.score(z, self.fold.held_out), held_out, solution)

    def on_all_rows(self, dual: Vector) -> Vector:
        """A dual point of this fold as one of the whole problem: zero for the rows held out."""
        if self.shared:
            return dual
        v = np.zeros((len(self.problem.y), *dual.shape[1:]))
        v[self.fold.fitted] = dual
        return v


def average_model(runs: Sequence[FoldRun], models: Sequence[Solution]) -> Solution:
    """A guess at the model of all rows: the mean of the folds' coefficients, and of each row's dual variables."""
    duals = [run.on_all_rows(model.dual) for run, model in zip(runs, models, strict=True) if model.dual is not None]
    dual = None
    if len(duals) == len(models):
        fitted = np.zeros(len(runs[0].problem.y))
        for run in runs:
            fitted[run.fold.fitted] += 1
        dual = np.sum(duals, axis=0)
        dual /= np.maximum(fitted, 1).reshape(-1, *[1] * (dual.ndim - 1))  # a row of duals for each row of the data
    return replace(
        models[0],
        coef=np.mean([model.coef for model in models], axis=0),
        intercept=float(np.mean([model.intercept for model in models])),
        dual=dual,
    )
