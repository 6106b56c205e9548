"""Structured SVMs over chains, with the scikit-learn interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..objective.chains.svm import ChainSVMProblem
from ..solvers.base import Solver
from ..vectors import Vector
from ._chain import ChainModel


class ChainSVM(ChainModel):
    """Labels for the tokens of sequences: a structured SVM over chains, with margin rescaling.

    Minimises 1/2 |w|^2 + C sum over sequences of the largest (cost + score) of a labeling less the score of the truth,
    until the relative duality gap is at most `tol`.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty.
    loss : "hamming" or array of shape (labels, labels)
        What the label of the column costs where that of the line is right; labels in ascending order.
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
    >>> from widemargin import ChainSVM
    >>> X = [[{"word": "the"}, {"word": "dog"}], [["word:the"], ["word:cat"]]]
    >>> model = ChainSVM().fit(X, [["D", "N"], ["D", "N"]])
    >>> model.predict([[{"word": "the"}, {"word": "bird"}]])
    [['D', 'N']]
    """

    _remedy: ClassVar[str] = "raise max_seconds, lower C, or accept a larger tol"

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Any = "hamming",
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
        self.loss = loss
        self.features = features
        self.transitions = transitions
        self.min_count = min_count
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _problem(self, X: Any, y: Any, lengths: Any, weight: Vector) -> ChainSVMProblem:
        return ChainSVMProblem(
            X,
            y,
            lengths,
            self.C,
            loss=self.loss,
            features=self.features,
            transitions=self.transitions,
            sample_weight=weight,
        )
