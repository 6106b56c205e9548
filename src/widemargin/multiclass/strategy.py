"""What a multi-class method is: it fits, and turns the scores of its models into classes.

A method gets the data once (`Labelled`) and a way to solve (`Ask`); it returns one row of coefficients per model
(`Fit`). Scores are X coef^T + intercept, one column per model; what they mean is the method's own business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..data.matrix import Matrix
from ..objective.problem import Problem
from ..solvers.base import Solver
from ..solvers.run.solution import Solution
from ..vectors import Vector

Table = NDArray[np.float64]


class Solve(Protocol):
    """Solves one problem, from a solution near by if there is one, on so many threads."""

    def __call__(self, problem: Problem, start: Solution | None, n_jobs: int) -> Solution: ...


class GoOn(Protocol):
    """Solves one problem by a solver that has begun already, on so many threads."""

    def __call__(self, problem: Problem, begun: Solver, n_jobs: int) -> Solution: ...


@dataclass(frozen=True)
class Labelled:
    """Rows with the number of each row's class; for labels that exclude nothing, one column of 0 and 1 per label."""

    X: Matrix
    codes: NDArray[np.intp]
    n_classes: int
    weights: Vector | Table | None  # per row, or one column per label


@dataclass(frozen=True)
class Ask:
    """What the user wants of every model: the keyword arguments of `Problem` and of `solve`, threads, warm starts.

    `solve` runs one problem with those arguments; a method with a problem of its own may take `settings` instead. Where
    each model is one call of `solve` and no more, `go_on` is given, and several models may begin side by side.
    """

    problem: Mapping[str, Any]
    settings: Mapping[str, Any]  # solver, tol, max_iter, seed
    solve: Solve
    n_jobs: int = 1
    starts: tuple[Solution, ...] = field(default=(), repr=False)
    go_on: GoOn | None = None

    def start(self, model: int) -> Solution | None:
        """The warm start of that model, if there is one."""
        return self.starts[model] if model < len(self.starts) else None


@dataclass(frozen=True)
class Fit:
    """One row of coefficients and one intercept per model, and the solutions that they come from."""

    coef: Table | sp.csr_array  # sparse where a dense table would be large and nearly empty
    intercept: Vector
    solutions: tuple[Solution, ...]


@dataclass(frozen=True)
class Strategy:
    """Base of the methods. By default there is one model per class, and the highest score wins."""

    has_probabilities: ClassVar[bool] = False  # whether `probabilities` works, for models fitted with the logistic loss

    def fit(self, data: Labelled, ask: Ask) -> Fit:
        """Fits all models."""
        raise NotImplementedError

    def subjects(self, classes: Sequence[Any]) -> list[tuple[Any, int]]:
        """What the models are about, each with the number of the solution that tells of it."""
        return [(one, number) for number, one in enumerate(classes)]

    def decision(self, scores: Table, n_classes: int) -> Vector | Table:
        """What `decision_function` returns: one column per class, or one value per row for two classes."""
        return scores

    def predict(self, scores: Table, n_classes: int) -> NDArray[np.intp]:
        """The number of each row's class."""
        return np.asarray(np.argmax(self.decision(scores, n_classes), axis=1))

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """One column per class, for models fitted with the logistic loss; votes, for one, are no probabilities."""
        raise NotImplementedError
