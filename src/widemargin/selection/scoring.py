"""Scores of predictions that were made in one product with the whole matrix.

scikit-learn's scorers want a fitted model and rows. The model here holds the predictions of all rows, and is asked by
row numbers: no rows are copied to be scored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

if TYPE_CHECKING:
    from ..objective.problem import Problem

Vector = NDArray[np.float64]
Rows = NDArray[np.intp]
Score = Callable[[Vector, Rows], float]  # predictions of all rows, the rows to score


class PredictedClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions z of a two-class model, looked up by row number."""

    def __init__(self, z: Vector, classes: NDArray[Any]) -> None:
        self.z = z
        self.classes = classes
        self.classes_ = classes

    def decision_function(self, X: Rows) -> Vector:
        """Signed scores."""
        return self.z[X]

    def predict(self, X: Rows) -> NDArray[Any]:
        """The class on each row's side."""
        return np.asarray(self.classes_[(self.z[X] > 0).astype(np.intp)])


class PredictedProbabilities(PredictedClasses):
    """The same of a logistic model, which has probabilities too."""

    def predict_proba(self, X: Rows) -> Vector:
        """Probability of each class."""
        z = self.z[X]
        return np.exp(-np.logaddexp(0.0, np.column_stack([z, -z])))


class PredictedTargets(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions of a regression model, looked up by row number."""

    def __init__(self, z: Vector) -> None:
        self.z = z
        self.fitted_ = True

    def predict(self, X: Rows) -> Vector:
        """The predicted targets."""
        return self.z[X]


def make_score(problem: Problem, scoring: Any, weights: Vector | None = None) -> tuple[str, Score]:
    """The name and the function of a score; None means accuracy for labels and R^2 for targets.

    With weights, a row of weight two counts as two rows in the score as well.
    """
    if scoring is None:
        scoring = "accuracy" if problem.loss.classification else "r2"
    if scoring == "accuracy" and problem.loss.classification:
        positive = problem.y > 0
        return "accuracy", lambda z, rows: _weighted_mean((z[rows] > 0) == positive[rows], weights, rows)
    from sklearn.metrics import get_scorer

    scorer = get_scorer(scoring)
    truth = problem.y if problem.classes is None else problem.classes[(problem.y > 0).astype(np.intp)]
    model = _model_of(problem)

    def score(z: Vector, rows: Rows) -> float:
        extra = {} if weights is None else {"sample_weight": weights[rows]}
        return float(scorer(model(z), rows, truth[rows], **extra))

    return str(scoring), score


def _weighted_mean(correct: NDArray[np.bool_], weights: Vector | None, rows: Rows) -> float:
    return float(np.mean(correct) if weights is None else np.average(correct, weights=weights[rows]))


def _model_of(problem: Problem) -> Callable[[Vector], BaseEstimator]:
    classes = problem.classes
    if classes is None:
        return PredictedTargets
    kind = PredictedProbabilities if problem.loss.name == "logistic" else PredictedClasses
    return lambda z: kind(z, classes)
