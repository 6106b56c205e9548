"""Data frames of pandas, polars and pyarrow, through what they have in common: named columns and `__array__`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMERIC = "biuf"  # NumPy's kinds of real numbers


def is_frame(X: Any) -> bool:
    """Whether X is a two-dimensional table with named columns."""
    # Asked of the class: an instance of pandas answers with a column of that name, if it has one.
    kind = type(X)
    return hasattr(kind, "columns") and (hasattr(kind, "dtypes") or hasattr(kind, "column_names"))


def column_names(X: Any) -> list[str]:
    """The names of a frame's columns."""
    return [str(name) for name in (X.column_names if hasattr(type(X), "column_names") else X.columns)]


def sparse_from_frame(X: Any) -> Any | None:
    """The SciPy matrix behind a pandas frame whose columns are all sparse around zero; None for any other frame."""
    try:
        return X.sparse.to_coo()
    except (AttributeError, ValueError):
        return None


def dense_from_frame(X: Any) -> NDArray[Any]:
    """A two-dimensional array of the frame's numbers; a column that holds something else is named."""
    if hasattr(type(X), "items"):  # pandas: a block of numbers comes as it lies in memory
        block = np.asarray(X)
        if block.dtype.kind in NUMERIC:
            return block
    columns = [_numeric_column(column, name) for name, column in _columns(X)]
    return np.column_stack(columns) if columns else np.empty((len(X), 0))


def _columns(X: Any) -> Iterable[tuple[Any, Any]]:
    """Pairs of name and column; by position, because names may repeat."""
    if hasattr(type(X), "column_names"):  # pyarrow
        return zip(X.column_names, X.columns, strict=True)
    if hasattr(type(X), "get_columns"):  # polars
        return zip(X.columns, X.get_columns(), strict=True)
    pairs: Iterable[tuple[Any, Any]] = X.items()
    return pairs


def _numeric_column(column: Any, name: Any) -> NDArray[Any]:
    values = _plain(column)
    if values.dtype.kind in NUMERIC:
        return values
    try:
        if values.dtype.kind != "O":
            raise TypeError(f"its type is {values.dtype}")
        if text := next((value for value in values if isinstance(value, str)), None):
            raise TypeError(f"it holds the text {text!r}")
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {name!r} of X does not hold numbers ({error}); encode it first, for example with a OneHotEncoder"
        ) from error


def _plain(column: Any) -> NDArray[Any]:
    """The column as a NumPy array; what pandas' nullable types miss becomes NaN."""
    behind = getattr(getattr(column, "dtype", None), "numpy_dtype", None)
    if behind is None or behind.kind not in NUMERIC:
        return np.asarray(column)
    dtype = np.float32 if behind == np.float32 else np.float64
    plain: NDArray[Any] = column.to_numpy(dtype=dtype, na_value=np.nan)
    return plain
