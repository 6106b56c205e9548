"""Scores of predictions that are there already.

scikit-learn's scorers want a fitted model and rows. The model here holds the predictions of the rows in question, and
what it is asked by does not matter: no rows are copied to be scored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..multiclass.binary import Binary
from ..multiclass.strategy import Strategy
from ..vectors import Vector
from .several import strategy_of

if TYPE_CHECKING:
    from .several import Subject

Rows = NDArray[np.intp]
Score = Callable[[Vector, Rows], float]  # predictions, one column per model, and the rows that they are about


class PredictedClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions of a method for classes."""

    def __init__(self, z: Vector, strategy: Strategy, classes: NDArray[Any]) -> None:
        self.z = z
        self.strategy = strategy
        self.classes = classes
        self.classes_ = classes

    def decision_function(self, X: Any) -> Vector:
        """Signed scores of two classes, else one column per class."""
        return self.strategy.decision(self.z, len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        return np.asarray(self.classes_[self.strategy.predict(self.z, len(self.classes_))])


class PredictedProbabilities(PredictedClasses):
    """Predictions of a logistic model, which has probabilities too."""

    def predict_proba(self, X: Any) -> Vector:
        """Probability of each class."""
        return self.strategy.probabilities(self.z, len(self.classes_))


class PredictedTargets(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions of a regression model."""

    def __init__(self, z: Vector) -> None:
        self.z = z
        self.fitted_ = True

    def predict(self, X: Any) -> Vector:
        """The predicted targets."""
        return self.z[:, 0]


def make_score(subject: Subject, scoring: Any, weights: Vector | None = None) -> tuple[str, Score]:
    """The name and the function of a score; None means accuracy for labels and R^2 for targets.

    With weights, a row of weight two counts as two rows in the score as well.
    """
    strategy = strategy_of(subject)
    if scoring is None:
        scoring = "r2" if strategy is None else "accuracy"
    if strategy is not None and scoring == "accuracy":
        return "accuracy", _accuracy(subject, strategy, weights)
    from sklearn.metrics import get_scorer

    scorer = get_scorer(scoring)
    model: Callable[[Vector], BaseEstimator] = PredictedTargets
    truth: NDArray[Any] = subject.y
    if strategy is not None:
        model, truth = _classifier(subject, strategy), _classes(subject)[class_numbers(subject)]
        scorer = scorer if isinstance(strategy, Binary) else _with_labels(scorer, _classes(subject))

    def score(z: Vector, rows: Rows) -> float:
        extra = {} if weights is None else {"sample_weight": weights[rows]}
        try:
            return float(scorer(model(z), rows, truth[rows], **extra))
        except AttributeError as error:
            if "predict_proba" not in str(error):
                raise
            raise ValueError(
                f"scoring={scoring!r} needs probabilities, which loss={subject.loss.name!r} does not give: use a "
                "logistic loss (LogisticRegressionCV), or a score of decisions such as 'roc_auc'"
            ) from None

    return str(scoring), score


def class_numbers(subject: Subject) -> NDArray[np.intp]:
    """The number of each row's class."""
    assert subject.class_codes is not None  # its loss is one of labels
    return subject.class_codes


def _accuracy(subject: Subject, strategy: Strategy, weights: Vector | None) -> Score:
    codes, n_classes = class_numbers(subject), len(_classes(subject))

    def score(z: Vector, rows: Rows) -> float:
        correct = strategy.predict(z, n_classes) == codes[rows]
        return float(np.mean(correct) if weights is None else np.average(correct, weights=weights[rows]))

    return score


def _classifier(subject: Subject, strategy: Strategy) -> Callable[[Vector], BaseEstimator]:
    probable = strategy.has_probabilities and subject.loss.probabilities
    kind = PredictedProbabilities if probable else PredictedClasses
    return lambda z: kind(z, strategy, _classes(subject))


def _classes(subject: Subject) -> NDArray[Any]:
    assert subject.classes is not None  # its loss is one of labels
    return subject.classes


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
