"""Data frames of pandas, polars and pyarrow, through what they have in common: named columns and `__array__`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_frame(X: Any) -> bool:
    """Whether X is a two-dimensional table with named columns."""
    return hasattr(X, "__arrow_c_stream__") or (hasattr(X, "columns") and hasattr(X, "dtypes"))


def sparse_from_frame(X: Any) -> Any | None:
    """The SciPy matrix behind a pandas frame whose columns are all sparse; None for any other frame."""
    try:
        return X.sparse.to_coo()
    except AttributeError:
        return None


def dense_from_frame(X: Any) -> NDArray[Any]:
    """A two-dimensional array of the frame's numbers; a column that holds something else is named."""
    array = np.asarray(X)
    if array.dtype.kind in "biuf" and array.ndim == 2:
        return array
    names = list(getattr(X, "column_names", None) or X.columns)
    return np.column_stack([_numeric_column(X[name], name) for name in names])


def _numeric_column(column: Any, name: Any) -> NDArray[np.float64]:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(column, "na_value") else np.asarray(column)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {name!r} of X does not hold numbers ({error}); encode it first, for example with a OneHotEncoder"
        ) from error
