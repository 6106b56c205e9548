"""What every way of handling several classes returns: linear models, how they decide, and their certificates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import Matrix
from ..objective.certificate import Certificate
from ..solvers.run.solution import Solution
from ..vectors import Vector

Codes = NDArray[np.int32]


class Decision(Protocol):
    """From rows to classes."""

    def __call__(self, model: MulticlassModel, X: Matrix, n_jobs: int) -> Codes:
        """The code of each row's class."""


@dataclass(frozen=True)
class MulticlassModel:
    """Linear models over several classes, with a certificate each.

    `coef` holds one model per row: per class, or per pair of classes in the order (0,1), (0,2), ..., (1,2), ...
    `classes` holds the labels in ascending order; inside, a class is its number in that order.

    Examples
    --------
    >>> from widemargin import fit_one_vs_one
    >>> X, y = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], ["a", "a", "b", "b", "c", "c"]
    >>> model = fit_one_vs_one(X, y, intercept="free", C=10.0)
    >>> model.predict([[0.5], [4.5], [8.5]]).tolist()
    ['a', 'b', 'c']
    """

    coef: Vector = field(repr=False)
    intercept: Vector = field(repr=False)
    classes: NDArray[Any]
    solutions: tuple[Solution, ...] = field(repr=False)  # one per problem that was solved
    decide: Decision = field(repr=False)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """One per problem that was solved."""
        return tuple(solution.certificate for solution in self.solutions)

    @property
    def converged(self) -> bool:
        """Whether every problem reached the tolerance."""
        return all(solution.converged for solution in self.solutions)

    @property
    def n_classes(self) -> int:
        """k"""
        return len(self.classes)

    def decision_values(self, X: Any, n_jobs: int = 1) -> Vector:
        """Every model's value at every row, rows x models."""
        X = X if isinstance(X, Matrix) else Matrix(X)
        scores: Vector = X.matmat(self.coef.T, n_jobs=n_jobs) + self.intercept
        return scores

    def predict(self, X: Any, n_jobs: int = 1) -> NDArray[Any]:
        """The class of each row: its label, one of `classes`."""
        X = X if isinstance(X, Matrix) else Matrix(X)
        if X.shape[1] != self.coef.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, the model was fitted with {self.coef.shape[1]}")
        return np.take(self.classes, self.decide(self, X, n_jobs))


def highest_score(model: MulticlassModel, X: Matrix, n_jobs: int) -> Codes:
    """One model per class: the highest value wins."""
    return np.asarray(model.decision_values(X, n_jobs).argmax(axis=1), dtype=np.int32)
