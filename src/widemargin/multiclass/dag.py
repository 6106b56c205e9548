"""DAGSVM: the models of one against one, of which each prediction reads k - 1.

Platt, Cristianini, Shawe-Taylor 2000; survey section V-A. All classes are candidates at first. The model of the first
and the last candidate is asked and the class it rejects is removed; the one that is left is the answer. It does not
matter which of two wrong classes goes, so where every model of the true class is right, this and the vote agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .. import _core
from ..data.matrix import Matrix
from .base import Codes, MulticlassModel
from .labelled import Table
from .one_vs_one import OneVsOne, fit_one_vs_one, vote_table


def dag(model: MulticlassModel, X: Matrix, n_jobs: int) -> Codes:
    """k - 1 pairwise models decide, each removing a class."""
    classes = np.empty(X.shape[0], dtype=np.int32)
    models = np.ascontiguousarray(model.coef).reshape(-1)
    _core.dag_classes(X.native_rows, models, model.intercept, model.n_classes, classes, n_jobs)
    return classes


def fit_dag(X: Any, y: Any, **settings: Any) -> MulticlassModel:
    """A binary model for every pair of classes; a walk through k - 1 of them decides.

    Parameters
    ----------
    X, y, **settings
        As in `fit_one_vs_one`: the models are the same.

    Examples
    --------
    >>> from widemargin import fit_dag
    >>> X, y = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], [1, 1, 2, 2, 3, 3]
    >>> fit_dag(X, y, intercept="free", C=10.0).predict([[0.0], [4.0], [9.0]])
    array([1, 2, 3])
    """
    return fit_one_vs_one(X, y, decide=dag, **settings)


@dataclass(frozen=True)
class Dag(OneVsOne):
    """The models of one against one, and a walk through them. Scores are given, so that all pairs were evaluated."""

    def decision(self, scores: Table, n_classes: int) -> Table:
        """The votes per class, the class at which the walk ends above all others."""
        number = np.zeros((n_classes, n_classes), dtype=np.intp)
        for at, (p, q) in enumerate(combinations(range(n_classes), 2)):
            number[p, q] = at
        rows = np.arange(len(scores))
        first, last = np.zeros_like(rows), np.full_like(rows, n_classes - 1)
        for _ in range(n_classes - 1):
            for_last = scores[rows, number[first, last]] > 0
            first, last = first + for_last, last - ~for_last
        table = vote_table(scores, n_classes)
        table[rows, first] += n_classes
        return table
