"""What a search for C returns: a table, the best value, and the model fitted with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..multiclass.table import Models
from ..solvers.run.solution import Solution
from ..vectors import Vector


@dataclass(frozen=True)
class Candidate:
    """One value of C, tried on all folds."""

    C: float
    scores: tuple[float, ...]  # one per fold
    nonzeros: float  # coefficients of a fold's model that are not zero, on average
    passes: float  # over the data, all folds together
    seconds: float
    converged: bool

    @property
    def error(self) -> float:
        """The standard error of the mean score; zero for one fold."""
        return float(np.std(self.scores, ddof=1)) / len(self.scores) ** 0.5 if len(self.scores) > 1 else 0.0

    @property
    def mean_score(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.scores))

    @property
    def std_score(self) -> float:
        """The standard deviation over the folds."""
        return float(np.std(self.scores))


@dataclass(frozen=True)
class SearchResult:
    """All values of C that were tried, the best of them, and the models of all rows.

    `models.coef` has one row per model and `models.intercept` one number: per class, or per pair of classes, where
    there are several. The solutions that they come from carry the certificates.

    Of values with the same mean score the smallest is the best. `ended` says why the values in `not_tried` were left
    out, and is None when all were tried. `edge` is "upper" or "lower" where the best value lies at that end of a range
    which the search chose itself and could not widen any further, else None.

    Examples
    --------
    >>> from widemargin import find_C
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> found = find_C(X, y, Cs=[0.01, 1.0], cv=2)
    >>> found.best_C, found.best_score
    (0.01, 1.0)
    >>> found.to_dict()["C"]
    [0.01, 1.0]
    """

    candidates: tuple[Candidate, ...]
    best: Candidate
    models: Models = field(repr=False)
    scoring: str
    ended: str | None
    not_tried: tuple[float, ...]
    l1_ratio: float  # the share of l1 in the penalty
    edge: str | None = None

    @property
    def solution(self) -> Solution:
        """The solution on all rows; of several models, the first one's."""
        return self.solutions[0]

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The solutions on all rows, one per problem."""
        return self.models.solutions

    @property
    def best_C(self) -> float:
        """The value with the highest mean score."""
        return self.best.C

    @property
    def best_score(self) -> float:
        """The highest mean score."""
        return self.best.mean_score

    @property
    def Cs(self) -> Vector:
        """The values that were tried, ascending."""
        return np.array([candidate.C for candidate in self.candidates])

    @property
    def scores(self) -> Vector:
        """Scores of shape (values, folds)."""
        return np.array([candidate.scores for candidate in self.candidates])

    @property
    def mean_scores(self) -> Vector:
        """The mean over the folds, one per value."""
        return np.array([candidate.mean_score for candidate in self.candidates])

    def to_dict(self) -> dict[str, list[Any]]:
        """One list per column."""
        columns: dict[str, list[Any]] = {
            name: [getattr(candidate, name) for candidate in self.candidates]
            for name in ("C", "mean_score", "std_score", "nonzeros", "passes", "seconds", "converged")
        }
        for number in range(len(self.best.scores)):
            columns[f"score_{number}"] = [candidate.scores[number] for candidate in self.candidates]
        return columns

    def to_frame(self) -> Any:
        """The table as a pandas data frame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("a data frame needs pandas: pip install pandas, or use to_dict()") from error
        return pandas.DataFrame(self.to_dict())

    def plot(self, path: str | Path | None = None, *, title: str = "") -> Any:
        """Draws score and number of nonzeros against C, the chosen value marked; see `plots.plot_search`."""
        from ..plots.search import plot_search

        return plot_search(self, path, title=title)

    def __repr__(self) -> str:
        left_out = f", {len(self.not_tried)} not tried: {self.ended}" if self.not_tried else ""
        return (
            f"SearchResult(best_C={self.best_C:g}, {self.scoring}={self.best_score:.6g}, "
            f"{len(self.candidates)} values{left_out})"
        )
