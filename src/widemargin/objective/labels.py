"""Labels, targets and weights: checked, and brought into the form the losses want."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numbers import as_number
from ..vectors import Vector


class NotTwoClassesError(ValueError):
    """Labels of one class, or of more than two, where a problem is about two."""


def binary_labels(y: Any, rows: int) -> tuple[Vector, NDArray[Any]]:
    """y as -1 and +1, and the two classes in ascending order: the second one became +1."""
    labels = _column("y", y, rows)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"y[{int(np.flatnonzero(~np.isfinite(labels))[0])}] is not finite: every row needs a label")
    if labels.dtype.kind in "biuf":
        low, high = labels.min(), labels.max()
        positive = labels == high
        two = low != high and bool((positive | (labels == low)).all())
        classes = np.array([low, high]) if two else np.unique(labels)
    else:
        classes, codes = _distinct(labels)
        positive = codes == 1
    if len(classes) != 2:
        found = ", ".join(repr(c) for c in classes.tolist()[:5]) + (", ..." if len(classes) > 5 else "")
        raise NotTwoClassesError(f"y must hold exactly two classes, it holds {len(classes)}: {found}")
    return np.where(positive, 1.0, -1.0), classes


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels in ascending order, and which one each row has."""
    may_miss = labels.dtype.kind in "OMm"  # objects and times; of numbers and text each is a label
    missing = next((i for i, label in enumerate(labels.tolist()) if _is_missing(label)), None) if may_miss else None
    if missing is not None:
        raise ValueError(f"y[{missing}] is {labels[missing]!r}: every row needs a label")
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y mixes labels that have no common order ({error}): use one type") from error


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither true nor false
        return True


def ordered_labels(y: Any, rows: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """The rank of each row's class among the classes in ascending order, and those classes."""
    labels = _column("y", y, rows)
    if labels.dtype.kind == "f":
        _check_finite("y", labels)
    classes, ranks = _distinct(labels)
    if len(classes) < 2:
        raise ValueError(f"y must hold two classes or more, it holds one class: {classes.tolist()}")
    return ranks, classes


def real_targets(y: Any, rows: int) -> Vector:
    """y as finite float64."""
    try:
        targets = np.array(_column("y", y, rows), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold real numbers: {error}") from error
    _check_finite("y", targets)
    return targets


def row_weights(C: float, sample_weight: Any, rows: int) -> Vector:
    """C_i = C * sample_weight_i"""
    C = as_number("C", C, above=0)
    if sample_weight is None:
        return np.full(rows, float(C))
    try:
        weights = np.asarray(_column("sample_weight", sample_weight, rows), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold real numbers, one per row: {error}") from error
    _check_finite("sample_weight", weights)
    if (weights < 0).any():
        at = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(f"sample_weight[{at}] is {weights[at]:g}: weights must not be negative")
    with np.errstate(over="ignore"):
        weights = weights * float(C)
    _check_finite("C * sample_weight", weights)
    if not (weights > 0).any():
        raise ValueError("C * sample_weight is zero everywhere: at least one row must count")
    return weights


def weights_at(C: float, weights: Vector, C_before: float) -> Vector:
    """The rows' weights at another C."""
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a finite number > 0, got {C!r}")
    with np.errstate(over="ignore"):
        found: Vector = weights * (float(C) / C_before)
    if not np.isfinite(found).all():
        raise ValueError(f"C * sample_weight is not finite at C={C!r}: use a smaller C")
    return found


def weights_of(rows: Any, weights: Vector) -> Vector:
    """The weights where only those rows count."""
    found = np.zeros_like(weights)
    found[rows] = weights[rows]
    if not (found > 0).any():
        raise ValueError("none of the chosen rows has a weight above zero: at least one row must count")
    return found


def _column(name: str, values: Any, rows: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {array.dtype}")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if len(array) != rows:
        raise ValueError(f"{name} has {len(array)} entries, X has {rows} rows: they must agree")
    return array


def _check_finite(name: str, values: Vector) -> None:
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"{name}[{at}] is {values[at]}: every value must be finite")
