"""One against one: a binary problem for every pair of classes, and a vote.

Survey section V-A. k (k - 1) / 2 models: O(k^2 n) numbers to store and to read for each prediction. Each problem holds
the rows of two classes only, so training reads every row k - 1 times in all. Pairs are solved on up to n_jobs threads;
they do not know of each other, so the result does not depend on how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import Matrix
from ..objective.labels import ordered_labels, row_weights
from ..objective.problem import Problem
from ..solvers.base import Solver
from ..solvers.run.solution import Solution
from ..solvers.solve import solve
from ..threads import thread_count
from ..vectors import Vector
from .base import Codes, Decision, MulticlassModel
from .strategy import Ask, Fit, Labelled, Strategy, Table
from .two_class_fits import fit_models


def vote_table(values: Vector, n_classes: int) -> Vector:
    """Votes per class, plus the sum of its pairs' values squeezed below half a vote: it decides between equals."""
    votes, strength = np.zeros((len(values), n_classes)), np.zeros((len(values), n_classes))
    for at, (p, q) in enumerate(combinations(range(n_classes), 2)):
        wins = values[:, at] > 0
        votes[:, q] += wins
        votes[:, p] += ~wins
        strength[:, q] += values[:, at]
        strength[:, p] -= values[:, at]
    return np.asarray(votes + strength / (3 * (1 + np.abs(strength))))


def voting(model: MulticlassModel, X: Matrix, n_jobs: int) -> Codes:
    """Each pair has one vote."""
    table = vote_table(model.decision_values(X, n_jobs), model.n_classes)
    return np.asarray(table.argmax(axis=1), dtype=np.int32)


def fit_one_vs_one(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    solver: str | Solver = "auto",
    tol: float = 1e-3,
    n_jobs: int = 1,
    seed: int = 0,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    decide: Decision = voting,
    **problem: Any,
) -> MulticlassModel:
    """A binary model for every pair of classes; a vote decides.

    Parameters
    ----------
    X : matrix of shape (rows, features)
    y : array of shape (rows,)
        Two classes or more.
    sample_weight : array of shape (rows,), optional
    solver, tol, seed, max_iter, max_seconds
        Of each pair's run, as in `solve`.
    n_jobs : int
        Pairs solved at the same time; -1 for all cores.
    decide : callable
        From the models to a class: `voting`, or `dag` of dag.py.
    **problem
        What else `Problem` takes: loss, penalty, C, intercept, ...

    Examples
    --------
    >>> from widemargin import fit_one_vs_one
    >>> X, y = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], [1, 1, 2, 2, 3, 3]
    >>> model = fit_one_vs_one(X, y, loss="hinge", intercept="free", C=10.0)
    >>> len(model.certificates), model.predict([[8.0]])
    (3, array([3]))
    """
    X = X if isinstance(X, Matrix) else Matrix(X)
    codes, classes = ordered_labels(y, X.shape[0])
    weights = row_weights(1.0, sample_weight, X.shape[0])
    settings: dict[str, Any] = {"solver": solver, "tol": tol, "seed": seed}
    settings |= {"max_iter": max_iter, "max_seconds": max_seconds}

    def run(problem: Problem, start: Solution | None, n_jobs: int) -> Solution:
        return solve(problem, **settings, n_jobs=n_jobs, warm_start=start)

    ask = Ask(problem, settings, run, thread_count(n_jobs))
    found = OneVsOne().fit(Labelled(X, codes, len(classes), weights), ask)
    coef = found.coef if isinstance(found.coef, np.ndarray) else found.coef.toarray()
    return MulticlassModel(coef, found.intercept, classes, found.solutions, decide)


def pair_rows(codes: NDArray[np.intp], pair: tuple[int, int]) -> tuple[NDArray[np.intp], Vector]:
    """The rows of two classes, in their order, and their labels: the second class is +1."""
    p, q = pair
    rows = np.flatnonzero((codes == p) | (codes == q))
    return rows, np.where(codes[rows] == q, 1.0, -1.0)


@dataclass(frozen=True)
class OneVsOne(Strategy):
    """One model per pair of classes, and a vote."""

    def fit(self, data: Labelled, ask: Ask) -> Fit:
        """k (k - 1) / 2 fits, on up to n_jobs threads."""
        pairs = list(combinations(range(data.n_classes), 2))

        def fit(model: int, n_jobs: int) -> Solution:
            rows, labels = pair_rows(data.codes, pairs[model])
            weights = None if data.weights is None else data.weights[rows]
            problem = Problem(data.X.take(rows), labels, sample_weight=weights, **ask.problem)
            return ask.solve(problem, ask.start(model), n_jobs)

        return fit_models(fit, len(pairs), data.X.shape[1], ask.n_jobs)

    def subjects(self, classes: Sequence[Any]) -> list[tuple[Any, int]]:
        """Pairs of classes."""
        return [(pair, number) for number, pair in enumerate(combinations(classes, 2))]

    def decision(self, scores: Table, n_classes: int) -> Table:
        """Votes per class, between equal ones the sum of values."""
        return vote_table(scores, n_classes)
