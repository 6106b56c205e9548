"""Factors of C by class: given ones, and those that give every class the same total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..vectors import Vector


def given_factors(classes: Sequence[Any], class_weight: Mapping[Any, float]) -> Vector:
    """One factor per class, 1 where none is given.

    Examples
    --------
    >>> given_factors(["a", "b"], {"b": 3.0})
    array([1., 3.])
    """
    unknown = [key for key in class_weight if key not in classes]
    if unknown:
        raise ValueError(f"class_weight names {unknown[0]!r}, which is no class of y: the classes are {list(classes)}")
    return np.array([float(class_weight.get(name, 1.0)) for name in classes])


def balanced_factors(codes: NDArray[np.intp], n_classes: int, weights: Vector | None = None) -> Vector:
    """One factor per class that makes their totals equal, counting a row by its weight; codes_i is row i's class.

    Examples
    --------
    >>> import numpy as np
    >>> balanced_factors(np.array([0, 0, 0, 1]), 2).round(3)
    array([0.667, 2.   ])
    """
    totals = np.bincount(codes, weights=weights, minlength=n_classes)
    return np.asarray(totals.sum() / (n_classes * np.where(totals > 0, totals, np.inf)))


def weighted_by_class(
    weights: Vector, codes: NDArray[np.intp], classes: Sequence[Any], class_weight: Mapping[Any, float] | str | None
) -> Vector:
    """The rows' weights times the factors of their classes: none, "balanced", or one for each class that is named.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_by_class(np.array([1.0, 2.0]), np.array([0, 1]), ["a", "b"], {"b": 3.0})
    array([1., 6.])
    """
    if class_weight is None:
        return weights
    if not isinstance(class_weight, str):
        return np.asarray(weights * given_factors(classes, class_weight)[codes])
    if class_weight != "balanced":
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}")
    return np.asarray(weights * balanced_factors(codes, len(classes), weights)[codes])
