"""One fold of a search: its rows, its walks along C, and the score of what is held out.

Small data are copied fold by fold, so that a pass sees the rows that count and no others. Large data are shared: rows
that are held out get weight zero, which is the same problem. Each model of the fold continues from its own fits at
smaller C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..data.rows import IN_ORDER
from ..deadline import Deadline
from ..multiclass.parts import OneSided, Part
from ..objective.points import Point
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution, Status
from ..vectors import Vector
from .ahead import LENGTHS, STEPS, savings_ahead
from .folds import Fold
from .scoring import Score
from .several import Several, parts_of
from .walk import SPANNING, Starts

if TYPE_CHECKING:
    from ..data.rows import Rows
    from .several import Subject


@dataclass(frozen=True)
class FoldFit:
    """The score of the rows held out, the predictions it was made from, and the models of the others."""

    score: float
    predictions: Vector  # rows held out by models
    solutions: list[Solution]

    @property
    def coef(self) -> Vector:
        """The coefficients of all models, one after another."""
        return np.concatenate([solution.coef for solution in self.solutions])


# Entries that the copies of all folds may have together: some 250 MB of sparse rows.
MOST_ENTRIES_COPIED = 20_000_000
# Bytes that the last solutions of all models of all folds may take; beyond it every fit starts anew.
MOST_HELD = 2**30


def shares_rows(subject: Subject, n_folds: int) -> bool:
    """Whether the folds look at the same rows, in memory or in a file, rather than at copies."""
    return IN_ORDER not in subject.X.offers or subject.X.nnz * n_folds > MOST_ENTRIES_COPIED


def spanning_within(subject: Subject, n_folds: int) -> int:
    """How many earlier solutions each model may start from: none where all of them together would fill the memory."""
    rows, features = subject.X.shape
    n_models = len(parts_of(subject))
    too_many = n_models > 1 and 8 * n_models * n_folds * SPANNING * (2 * rows + features) > MOST_HELD
    return 0 if too_many else SPANNING


@dataclass
class FoldRun:
    """Fits the rows of one fold at one C after another, and scores the others."""

    subject: Subject
    fold: Fold
    effort: Effort
    score: Score
    mean_loss: bool
    shared: bool
    spanning: int = SPANNING
    _parts: Sequence[Part] = field(init=False)
    _starts: list[Starts] = field(init=False)
    _held_out: Rows = field(init=False)
    _factor: float = field(init=False, default=1.0)

    def __post_init__(self) -> None:
        subject, fold = self.subject, self.fold
        fitted = subject.restricted(fold.fitted) if self.shared else subject.taken(fold.fitted)
        if not isinstance(fitted, Several):  # what several models would keep fills the memory
            fitted = fitted.kept_along()
        self._parts = parts_of(fitted)
        self.restart()
        self._held_out = subject.X if self.shared else subject.X.take(fold.held_out)
        if self.mean_loss:
            self._factor = float(subject.weights.sum() / fitted.weights.sum())

    def restart(self) -> None:
        """Forgets the fits made so far: the next C may be a smaller one."""
        self._starts = [Starts(self.spanning) for _ in self._parts]

    def at(self, C: float, max_seconds: float | None = None) -> FoldFit:
        """Fits at C and scores; Ctrl-C is passed on."""
        deadline, count = Deadline.after(max_seconds), len(self._parts)
        solutions = [self._fitted(k, C * self._factor, deadline.share(k, count)) for k in range(count)]
        z = self._predictions(solutions)
        z = z[self.fold.held_out] if self.shared else z
        return FoldFit(self.score(z, self.fold.held_out), z, solutions)

    def _fitted(self, model: int, C: float, seconds: float | None) -> Solution:
        problem = self._parts[model].at(C).make()
        if isinstance(problem, OneSided):  # a class that this fold lacks
            return problem.solution(self.subject.X.shape[1])
        solution = self._starts[model].solve(problem, replace(self.effort, max_seconds=seconds))
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return solution

    def saved_ahead(self, fit: FoldFit, C: float) -> Vector:
        """What steps beyond C save of the loss of the rows held out, in that of a constant prediction: see ahead.py."""
        saved, constant = np.zeros(1), 0.0
        for part, judge, solution in zip(self._parts, self._judges, fit.solutions, strict=True):
            problem, held_out = part.at(C * self._factor).make(), judge.at(C).make()
            if not (isinstance(problem, OneSided) or isinstance(held_out, OneSided)):
                savings, least = savings_ahead(problem, solution, held_out)
                saved, constant = saved + savings, constant + least
        known = constant > 0 and bool(np.isfinite(saved).all())
        return saved / constant if known else np.zeros(STEPS * len(LENGTHS))

    @cached_property
    def _judges(self) -> Sequence[Part]:
        """The problems of the rows held out."""
        subject, rows = self.subject, self.fold.held_out
        if not (subject.weights[rows] > 0).any():
            return [Part(lambda: OneSided(True)) for _ in self._parts]
        return parts_of(subject.restricted(rows) if self.shared else subject.taken(rows))

    def _predictions(self, solutions: Sequence[Solution]) -> Vector:
        """One column per model."""
        if isinstance(self.subject, Several):
            W = np.stack([solution.coef for solution in solutions], axis=1)
            scores: Vector = self._held_out.matmat(W) + np.array([solution.intercept for solution in solutions])
            return scores
        (only,) = solutions
        z = only.point.z if self.shared else None  # over the same rows, the certificate knows it
        if z is None:
            z = self.subject.predictions(self._held_out, only.coef, only.intercept)
        return np.column_stack([z])

    def on_all_rows(self, model: int, dual: Vector) -> Vector:
        """A dual point of this fold as one of the whole problem: zero for the rows held out."""
        rows = self._parts[model].rows
        there = np.arange(len(self.subject.y)) if self.shared else self.fold.fitted
        v = np.zeros((len(self.subject.y), *dual.shape[1:]))
        v[there if rows is None else there[rows()]] = dual
        return v


def average_model(runs: Sequence[FoldRun], part: Part, model: int, solutions: Sequence[Solution]) -> Point:
    """A guess at a model of all rows: the mean of the folds' coefficients, and of each row's dual variables."""
    duals = [run.on_all_rows(model, one.dual) for run, one in zip(runs, solutions, strict=True) if one.dual is not None]
    dual = None
    if len(duals) == len(solutions):
        fitted = np.zeros(len(runs[0].subject.y))
        for run in runs:
            fitted[run.fold.fitted] += 1
        dual = np.sum(duals, axis=0)
        dual /= np.maximum(fitted, 1).reshape(-1, *[1] * (dual.ndim - 1))  # a row of duals for each row of the data
        dual = dual if part.rows is None else dual[part.rows()]
    coef = np.mean([solution.coef for solution in solutions], axis=0)
    return Point(coef, float(np.mean([solution.intercept for solution in solutions])), dual)
