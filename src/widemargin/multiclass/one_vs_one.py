"""One against one: a binary problem for every pair of classes, and a vote.

Survey section V-A. k (k - 1) / 2 models: O(k^2 n) numbers to store and to read for each prediction. Each problem holds
the rows of two classes only, so training reads every row k - 1 times in all. Pairs are solved on up to n_jobs threads;
they do not know of each other, so the result does not depend on how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import Matrix
from ..objective.labels import ordered_labels, row_weights
from ..objective.problem import Problem
from ..solvers.base import Solver
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution
from ..vectors import Vector
from .base import Codes, Decision, MulticlassModel
from .labelled import Labelled, Table
from .parts import OneSided, Part, two_sides
from .solving import Ask
from .strategy import Strategy


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
    data = Labelled(X, codes, classes, row_weights(1.0, sample_weight, X.shape[0]))

    def run(model: int, problem: Problem, effort: Effort, start: Solution | None) -> Solution:
        return replace(effort, max_seconds=max_seconds).solve(problem, start)  # for each pair, not for all of them

    ask = Ask(Effort(solver, tol, max_iter, None, seed, n_jobs), solve=run)
    found = OneVsOne().fit(data, problem, ask)
    coef = found.coef if isinstance(found.coef, np.ndarray) else found.coef.toarray()
    return MulticlassModel(coef, found.intercept, classes, found.solutions, decide)


@dataclass(frozen=True)
class OneVsOne(Strategy):
    """One model per pair of classes, and a vote; the second class of a pair is above zero."""

    decides = "pairs"

    def parts(self, data: Labelled, settings: Mapping[str, Any]) -> Sequence[Part]:
        """k (k - 1) / 2 problems, each of the rows of two classes in their order."""
        return [_part(data, pair, settings) for pair in combinations(range(len(data.classes)), 2)]

    def subjects(self, classes: Sequence[Any]) -> list[tuple[Any, int]]:
        """Pairs of classes."""
        return [(pair, number) for number, pair in enumerate(combinations(classes, 2))]

    def decision(self, scores: Table, n_classes: int) -> Table:
        """Votes per class, between equal ones the sum of values."""
        return vote_table(scores, n_classes)


def _part(data: Labelled, pair: tuple[int, int], settings: Mapping[str, Any]) -> Part:
    p, q = pair

    def rows() -> NDArray[np.intp]:
        return np.flatnonzero((data.codes == p) | (data.codes == q))

    def make() -> Problem | OneSided:
        taken, weights = rows(), data.common_weights
        second = np.asarray(data.codes[taken] == q)
        return two_sides(lambda: data.X.take(taken), second, None if weights is None else weights[taken], settings)

    return Part(make, f"{data.classes[p]} or {data.classes[q]}", pair, rows=rows)
