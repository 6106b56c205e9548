"""The search for C by a recipe, and the model with the value that it chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from ..data.matrix import Matrix
from ..multiclass.strategy import Strategy
from ..selection.result import SearchResult
from ..selection.search import Plan, search
from ..selection.several import Subject, subject_of_labels
from .fit import Fitted, Recipe, fitted_of, labelled, one_problem


def search_model(
    X: Any,
    y: NDArray[Any] | None,
    recipe: Recipe,
    Cs: Sequence[float] | None = None,
    folds: int = 5,
    features: Mapping[str, Any] | None = None,
) -> tuple[SearchResult, Fitted]:
    """Tries values of C on the folds, and trains on all rows with the best one; max_seconds is for all of it.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.model.fit import Recipe
    >>> X, y = np.repeat(np.eye(3), 4, axis=0), np.repeat([1, 2, 3], 4)
    >>> found, fitted = search_model(X, y, Recipe(), [0.1, 1.0], 2)
    >>> found.best_C, found.best_score, fitted.model.classes
    (0.1, 1.0, [1, 2, 3])
    """
    if recipe.task == "one_class":
        raise ValueError("a search for C needs labels or targets to predict: a one-class model has nu instead")
    rows, any_C = Matrix(X), replace(recipe, C=1.0)
    strategy: Strategy | None = None
    classes: Sequence[Any] = ()
    if recipe.task == "classification":
        strategy, data = labelled(rows, y, any_C)
        subject: Subject = subject_of_labels(strategy, data, any_C.problem())
        classes = list(data.classes)
    else:
        subject = one_problem(rows, y, any_C)
    found = search(subject, recipe.effort(), Plan(Cs, folds))
    return found, fitted_of(found.models, replace(recipe, C=found.best_C), features, classes, strategy)
