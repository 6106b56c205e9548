"""Scores of predictions that were made in one product with the whole matrix.

scikit-learn's scorers want a fitted model and rows. The model here holds the predictions of all rows, and is asked by
row numbers: no rows are copied to be scored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..vectors import Vector

if TYPE_CHECKING:
    from ..objective.problem import Problem

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


class PredictedOfSeveral(PredictedClasses):
    """Predictions of one value per class, the highest of which decides."""

    def predict(self, X: Rows) -> NDArray[Any]:
        """The class of the highest value."""
        return np.asarray(self.classes_[self.z[X].argmax(axis=1)])


class ProbabilitiesOfSeveral(PredictedOfSeveral):
    """The same of a maximum entropy model, which has probabilities too."""

    def predict_proba(self, X: Rows) -> Vector:
        """Probability of each class."""
        return np.asarray(softmax(self.z[X], axis=1))


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
    codes = class_numbers(problem)
    if scoring == "accuracy" and codes is not None:
        return "accuracy", lambda z, rows: _weighted_mean(_chosen(z[rows]) == codes[rows], weights, rows)
    from sklearn.metrics import get_scorer

    scorer = get_scorer(scoring)
    if problem.kind != "linear":
        scorer = _with_labels(scorer, problem.classes)
    truth = problem.y if codes is None or problem.classes is None else problem.classes[codes]
    model = _model_of(problem)

    def score(z: Vector, rows: Rows) -> float:
        extra = {} if weights is None else {"sample_weight": weights[rows]}
        try:
            return float(scorer(model(z), rows, truth[rows], **extra))
        except AttributeError as error:
            if "predict_proba" not in str(error):
                raise
            raise ValueError(
                f"scoring={scoring!r} needs probabilities, which loss={problem.loss.name!r} does not give: use a "
                "logistic loss (LogisticRegressionCV), or a score of decisions such as 'roc_auc'"
            ) from None

    return str(scoring), score


def class_numbers(problem: Problem) -> NDArray[Any] | None:
    """The number of each row's class; none where the targets are numbers."""
    if not problem.loss.classification:
        return None
    return np.asarray(problem.y > 0 if problem.kind == "linear" else problem.y, dtype=np.intp)


def _chosen(z: Vector) -> NDArray[Any]:
    """The number of the class that predictions stand for: of one value its side, of several the highest."""
    return np.asarray(z > 0 if z.ndim == 1 else z.argmax(axis=1))


def _with_labels(scorer: Any, classes: Any) -> Any:
    """A scorer of probabilities told of all classes, if it can be: the rows held out may lack one."""
    from inspect import signature

    from sklearn.metrics import make_scorer

    metric = getattr(scorer, "_score_func", None)
    if "predict_proba" not in str(getattr(scorer, "_response_method", "")):
        return scorer
    if metric is None or "labels" not in signature(metric).parameters or "labels" in scorer._kwargs:
        return scorer
    return make_scorer(
        metric,
        greater_is_better=scorer._sign > 0,
        response_method=scorer._response_method,
        labels=classes,
        **scorer._kwargs,
    )


def _weighted_mean(correct: NDArray[np.bool_], weights: Vector | None, rows: Rows) -> float:
    return float(np.mean(correct) if weights is None else np.average(correct, weights=weights[rows]))


def _model_of(problem: Problem) -> Callable[[Vector], BaseEstimator]:
    classes = problem.classes
    if classes is None:
        return PredictedTargets
    kind = _MODELS[problem.kind != "linear", problem.loss.probabilities]
    return lambda z: kind(z, classes)


# By whether there are several scores a row, and whether they give probabilities.
_MODELS = {
    (False, False): PredictedClasses,
    (False, True): PredictedProbabilities,
    (True, False): PredictedOfSeveral,
    (True, True): ProbabilitiesOfSeveral,
}
