"""What y says: two classes, several, or labels that do not exclude one another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from ..multiclass import make_strategy
from ..multiclass.binary import Binary
from ..multiclass.per_label import PerLabel
from ..multiclass.strategy import Strategy
from ..objective.labels import ordered_labels
from ..vectors import Vector
from ._shared import class_row_weights


@dataclass(frozen=True)
class Target:
    """The rows' classes as numbers, the classes themselves, and the method that suits them."""

    codes: NDArray[np.intp]
    classes: NDArray[Any]
    strategy: Strategy

    def weights(self, X: Any, class_weight: Any, sample_weight: Any) -> NDArray[np.float64] | None:
        """sample_weight_i * class_weight[y_i]"""
        return class_row_weights(X, self.codes, self.classes, class_weight, sample_weight)

    def labels(self, chosen: NDArray[np.intp]) -> NDArray[Any]:
        """Numbers of classes as classes."""
        return np.take(self.classes, chosen)

    def without_rows(self) -> Self:
        """The same, fit to be kept in a model: what the training rows were is no part of it."""
        return replace(self, codes=np.empty(0, dtype=np.intp))


def read_target(y: Any, rows: int, multi_class: str) -> Target:
    """y, checked and numbered."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: a classifier learns from labels")
    several = make_strategy(multi_class)  # a mistake in the name is told for two classes as well
    if type_of_target(y, input_name="y") == "multilabel-indicator":
        return _read_indicator(y, rows)
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    codes, classes = ordered_labels(labels, rows)
    return Target(codes, classes, Binary() if len(classes) == 2 else several)


def _read_indicator(y: Any, rows: int) -> Target:
    given = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if not (np.isin(given, (0, 1)).all() or np.isin(given, (-1, 1)).all()):
        found = ", ".join(repr(value) for value in np.unique(given).tolist()[:5])
        raise ValueError(f"y has several columns of {found}: a table of labels holds 0 and 1 (or -1 and 1)")
    indicator = (given == 1).astype(np.intp)
    if len(indicator) != rows:
        raise ValueError(f"y has {len(indicator)} rows, X has {rows} rows: they must agree")
    return _Indicator(indicator, np.arange(indicator.shape[1]), PerLabel())


@dataclass(frozen=True)
class _Indicator(Target):
    """One column of 0 and 1 per label: what is predicted is such a table again."""

    def weights(self, X: Any, class_weight: Any, sample_weight: Any) -> NDArray[np.float64] | None:
        """One column of weights per label, its two sides being the classes 0 and 1; one for all if all are the same."""
        if class_weight is None:
            return None if sample_weight is None else self._column(X, 0, None, sample_weight)
        columns = [self._column(X, label, class_weight, sample_weight) for label in range(self.codes.shape[1])]
        return np.column_stack(columns)

    def _column(self, X: Any, label: int, class_weight: Any, sample_weight: Any) -> Vector:
        sides, present = self.codes[:, label], np.unique(self.codes[:, label])
        if len(present) < 2 or class_weight is None:  # all rows alike: no side to weigh, none that must be there
            class_weight, sides, present = None, np.zeros_like(sides), np.zeros(1, dtype=np.intp)
        weights = class_row_weights(X, sides, present, class_weight, sample_weight)
        return np.ones(len(sides)) if weights is None else weights

    def labels(self, chosen: NDArray[np.intp]) -> NDArray[Any]:
        return chosen
