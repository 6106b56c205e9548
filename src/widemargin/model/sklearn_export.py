"""A model as a fitted scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .model import Model


def to_sklearn(model: Model) -> Any:
    """LogisticRegression, LinearSVC or LinearSVR with the model's weights."""
    estimator = _MAKERS[model.task](model)
    estimator.n_features_in_ = model.n_features
    if model.feature_names:
        estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
    return estimator


def _classifier(model: Model) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    if model.decision == "pairs":
        return _pairs(model)
    if model.has_probabilities and len(model.classes) > 2:
        return _one_against_rest(OneVsRestClassifier, LogisticRegression, model)
    estimator = LogisticRegression() if model.has_probabilities else LinearSVC()
    estimator.classes_ = np.array(model.classes)
    weights, intercepts = np.array(model.dense_weights(), dtype=np.float64), np.array(model.intercepts)
    if len(model.classes) == len(intercepts) == 2:  # scikit-learn has one row for two classes
        weights, intercepts = weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]
    estimator.coef_, estimator.intercept_ = weights, intercepts
    return estimator


def _one_against_rest(wrapper: Any, single: Any, model: Model) -> Any:
    """scikit-learn's own LogisticRegression of many classes is multinomial: its probabilities would be others."""
    from sklearn.preprocessing import LabelBinarizer

    estimator = wrapper(single())
    estimator.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(model.classes)
    if estimator.label_binarizer_.classes_.tolist() != list(model.classes):
        raise ValueError("the classes of this model are not in ascending order: scikit-learn needs them so")
    estimator.classes_ = estimator.label_binarizer_.classes_
    estimator.estimators_ = []
    for w, b in zip(model.dense_weights(), model.intercepts, strict=True):
        one = single()
        one.classes_, one.coef_, one.intercept_ = np.array([0, 1]), np.array([w], dtype=float), np.array([b])
        one.n_features_in_ = model.n_features
        estimator.estimators_.append(one)
    return estimator


def _pairs(model: Model) -> Any:
    from sklearn.multiclass import OneVsOneClassifier
    from sklearn.svm import LinearSVC

    estimator = OneVsOneClassifier(LinearSVC())
    estimator.classes_, estimator.pairwise_indices_ = np.array(model.classes), None
    estimator.estimators_ = []
    for w, b in zip(model.dense_weights(), model.intercepts, strict=True):
        one = LinearSVC()
        one.classes_, one.coef_, one.intercept_ = np.array([0, 1]), np.array([w], dtype=float), np.array([b])
        one.n_features_in_ = model.n_features
        estimator.estimators_.append(one)
    return estimator


def _regressor(model: Model) -> Any:
    from sklearn.linear_model import LinearRegression

    estimator = LinearRegression()
    estimator.coef_ = np.array(model.dense_weights()[0], dtype=np.float64)
    estimator.intercept_ = float(model.intercepts[0])
    return estimator


def _one_class(model: Model) -> Any:
    from sklearn.linear_model import SGDOneClassSVM

    estimator = SGDOneClassSVM()
    estimator.coef_ = np.array(model.dense_weights()[0], dtype=np.float64)
    estimator.offset_ = np.array([-model.intercepts[0]])
    return estimator


_MAKERS: dict[str, Callable[[Model], Any]] = {
    "classification": _classifier,
    "regression": _regressor,
    "one_class": _one_class,
}
