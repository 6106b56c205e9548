"""One against one: a binary problem for every pair of classes, and a vote.

Survey section V-A. k (k - 1) / 2 models: O(k^2 n) numbers to store and to read for each prediction. Each problem holds
the rows of two classes only, so training reads every row k - 1 times in all. Pairs are solved on up to n_jobs threads;
they do not know of each other, so the result does not depend on how many.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import Matrix
from ..objective.labels import ordered_labels, row_weights
from ..objective.problem import Problem
from ..solvers.base import Solver
from ..solvers.solution import Solution
from ..solvers.solve import solve
from ..threads import thread_count
from .base import Codes, Decision, MulticlassModel
from .strategy import Ask, Fit, Labelled, Strategy, Table

Vector = NDArray[np.float64]


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
    (3, array([2], dtype=int32))
    """
    X = X if isinstance(X, Matrix) else Matrix(X)
    codes, classes = ordered_labels(y, X.shape[0])
    weights = row_weights(1.0, sample_weight, X.shape[0])
    settings: dict[str, Any] = {"solver": solver, "tol": tol, "seed": seed}
    settings |= {"max_iter": max_iter, "max_seconds": max_seconds}

    def fit(pair: tuple[int, int]) -> Solution:
        rows, labels = pair_rows(codes, pair)
        return solve(Problem(X.take(rows), labels, sample_weight=weights[rows], **problem), **settings)

    with ThreadPoolExecutor(thread_count(n_jobs)) as pool:
        solutions = tuple(pool.map(fit, combinations(range(len(classes)), 2)))
    coef = np.stack([solution.coef for solution in solutions])
    intercept = np.array([solution.intercept for solution in solutions])
    return MulticlassModel(coef, intercept, classes, solutions, decide)


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
        all_pairs = list(combinations(range(data.n_classes), 2))
        weights = np.ones(data.X.shape[0]) if data.weights is None else data.weights
        workers = min(ask.n_jobs, len(all_pairs))

        def fit(model: int) -> Solution:
            rows, labels = pair_rows(data.codes, all_pairs[model])
            problem = Problem(data.X.take(rows), labels, sample_weight=weights[rows], **ask.problem)
            return ask.solve(problem, ask.start(model), 1 if workers > 1 else ask.n_jobs)

        if workers > 1:
            with ThreadPoolExecutor(workers) as pool:
                solutions = tuple(pool.map(fit, range(len(all_pairs))))
        else:
            solutions = tuple(fit(model) for model in range(len(all_pairs)))
        coef = np.stack([solution.coef for solution in solutions])
        return Fit(coef, np.array([solution.intercept for solution in solutions]), solutions)

    def decision(self, scores: Table, n_classes: int) -> Table:
        """Votes per class, between equal ones the sum of values."""
        return vote_table(scores, n_classes)

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """None: votes are no probabilities."""
        raise NotImplementedError("a vote gives no probabilities: use multi_class='ovr' or 'multinomial'")
