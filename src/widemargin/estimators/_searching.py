"""What the estimators that choose C themselves have in common: where the others solve, these search.

A model of all classes at once gets one C, by its own score, and models of one class against the rest get one C each;
what is refitted carries its certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from ..multiclass.solving import Solve, Watch
from ..objective.problem import Problem
from ..selection.edge import told_of_edge
from ..selection.result import SearchResult
from ..selection.search import Plan, search
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution
from ..vectors import Vector
from ._linear import LinearModel


class Searching(LinearModel):
    """Solves by searching for C. Comes before the estimator that it makes search."""

    C: ClassVar[float] = 1.0  # any value: the search replaces it
    warm_start: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Chooses C and fits the model with it.

        Parameters
        ----------
        X : matrix of shape (rows, features)
            Sparse or dense, float32 or float64 without a copy; data frames too; or a file, as in `LinearSVC`.
        y : array of shape (rows,)
            As for the estimator without CV in its name.
        sample_weight : array of shape (rows,), optional
            A weight of two counts as the row given twice, in fits and scores.

        Returns
        -------
        self
        """
        X, y, sample_weight = self._given(X, y, sample_weight)
        self._score_weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        try:
            super().fit(X, y, sample_weight)
        finally:
            del self._score_weights
        return self

    def _solver(self) -> Solve:
        self._results: dict[int, SearchResult] = {}

        def run(model: int, problem: Problem, effort: Effort, start: Solution | None) -> Solution:
            # Side by side, lines of progress would mix.
            plan = self._plan(problem, progress=bool(self.verbose) and effort.n_jobs == self._threads())
            self._results[model] = self._search(problem, effort, plan)
            return self._results[model].solution

        return run

    def _watch(self) -> Watch | None:
        return None  # a search shows its values, not its fits

    def _search(self, problem: Problem, effort: Effort, plan: Plan) -> SearchResult:
        return told_of_edge(search(problem, effort, plan))

    def _plan(self, problem: Problem, *, progress: bool) -> Plan:
        Cs = spaced_Cs(self.Cs)
        return Plan(Cs, self.cv, self.scoring, self._score_weights, self.early_stopping, progress=progress)

    def _keep(self, solutions: Sequence[Solution]) -> None:
        """The searches in the order of the models; a label that never changes has none."""
        results = self.__dict__.pop("_results")
        self.searches_ = [results.get(model) for model in range(len(solutions))]
        self.C_ = np.array([np.nan if found is None else found.best_C for found in self.searches_])
        super()._keep(solutions)


class SearchingClassifier(Searching):
    """The same where there are classes: what was tried for each of them."""

    def _keep(self, solutions: Sequence[Solution]) -> None:
        super()._keep(solutions)
        found = self.searches_
        about = self._target.strategy.subjects(self.classes_.tolist())
        self.C_ = self.C_[[number for _, number in about]]
        self.Cs_ = np.unique(np.concatenate([one.Cs for one in found if one is not None] or [np.zeros(0)]))
        self.scores_ = {one: scores_at(self.Cs_, found[number]) for one, number in about if found[number] is not None}


def scores_at(Cs: Vector, found: SearchResult) -> Vector:
    """The scores of a search, folds by values; not a number where it did not try a value."""
    scores = np.full((len(found.best.scores), len(Cs)), np.nan)
    scores[:, np.searchsorted(Cs, found.Cs)] = found.scores.T
    return scores


def spaced_Cs(Cs: Any) -> Any:
    """A number as so many values from 0.0001 to 10,000, which is what it means in scikit-learn; else what was given."""
    return np.logspace(-4, 4, Cs) if isinstance(Cs, (int, np.integer)) and Cs >= 1 else Cs
