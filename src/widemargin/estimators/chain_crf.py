"""Conditional random fields over chains, with the scikit-learn interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from .. import _core
from ..objective.chains.crf import ChainCRFProblem
from ..solvers.base import Solver
from ..vectors import Vector
from ._chain import ChainModel


class ChainCRF(ChainModel):
    """Labels for the tokens of sequences: a linear-chain conditional random field.

    Minimises R(w) + C sum over sequences of -log p(labels | tokens) until the relative duality gap is at most `tol`.
    crfsuite's c2 = 1 is C = 0.5 here.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty.
    penalty : {"l2", "l1", "elasticnet"}
    l1_ratio : float
        The share of l1 in the elastic net.
    features, transitions : {"all", "observed"}
        Whether every pair of feature and label (of label and label) has a weight, or those that occur in training.
    min_count : int
        Features of fewer tokens are left out.
    class_weight : None, "balanced" or dict
        Factors of C by label; a sequence has the mean of its labels' factors.
    solver : "auto", the name of a solver, or a Solver with its settings
    tol : float
        The stopping rule: relative duality gap.
    max_seconds : float, optional
        Limit on time.
    warm_start : bool
        Begin where the last fit ended, if features and labels are the same.
    n_jobs : int, optional
        Threads for passes over the sequences; -1 for all cores.

    Attributes
    ----------
    classes_ : the labels, in order.
    coef_ : array of shape (labels, features).
    transitions_ : array of shape (labels, labels), from the label of the line to that of the column.
    certificate_, trace_, solver_ : the proof, the run, and who made it.

    Examples
    --------
    >>> from widemargin import ChainCRF
    >>> X = [[{"word": "the"}, {"word": "dog"}], [["word:the"], ["word:cat"]]]
    >>> model = ChainCRF(C=10.0).fit(X, [["D", "N"], ["D", "N"]])
    >>> model.predict([[{"word": "the"}, {"word": "bird"}]])
    [['D', 'N']]
    """

    _remedy: ClassVar[str] = "raise max_seconds, lower C, or accept a larger tol"

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        features: str = "all",
        transitions: str = "all",
        min_count: int = 0,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-3,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.features = features
        self.transitions = transitions
        self.min_count = min_count
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _problem(self, X: Any, y: Any, lengths: Any, weight: Vector) -> ChainCRFProblem:
        return ChainCRFProblem(
            X,
            y,
            lengths,
            self.C,
            penalty=self.penalty,
            l1_ratio=self.l1_ratio,
            features=self.features,
            transitions=self.transitions,
            sample_weight=weight,
        )

    def predict_marginals(self, X: Any, lengths: Any = None) -> Any:
        """The probability of every label at every token: one array for each sequence, columns as in `classes_`."""
        found = self._read(X, lengths)
        if len(found.lengths) == 0:
            return []
        chains, z, edge = self._scored(found)
        n, k = chains.n_sequences, chains.n_labels
        mu, log_z, edges = np.empty((chains.n_tokens, k)), np.empty(n), np.empty(k * k)
        _core.chain_expectations(chains, np.ones(n), z, edge, log_z, mu.reshape(-1), edges, self._threads())
        return found.cut(mu)
