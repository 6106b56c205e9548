"""Arrays and sparse matrices as users bring them: checked, and brought into the form that the native rows want."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core


def storage_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has dtype {dtype}; pass its real part")
    if dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {dtype}: convert it to numbers first (for text, use a vectorizer or an encoder)")
    # newbyteorder: float32 of the other byte order is float32 too.
    return np.dtype(np.float32) if dtype.newbyteorder("=") == np.float32 else np.dtype(np.float64)


def has_contiguous_rows(array: NDArray[Any]) -> bool:
    """Whether the native code can walk along the rows as they lie in memory."""
    between_rows, between_columns = array.strides
    return bool(between_columns == array.itemsize and between_rows % array.itemsize == 0 and array.flags.aligned)


def as_array(X: Any) -> NDArray[Any]:
    if np.ma.is_masked(X):
        at = tuple(int(axis[0]) for axis in np.nonzero(np.ma.getmaskarray(X)))
        raise ValueError(f"X is masked at {at}: every value must be there; remove or impute it")
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"X is ragged: its rows differ in length ({error})") from error
    if array.dtype.kind == "O":
        return numbers_from_objects(array)
    return array


def numbers_from_objects(array: NDArray[Any]) -> NDArray[Any]:
    if any(isinstance(value, complex) for value in array.flat):
        raise ValueError("Complex data not supported: X holds complex numbers; pass their real part")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X has dtype object and does not convert to numbers: {error}") from error


def named(name: str, build: Any, *arguments: Any) -> _core.Rows:
    try:
        rows: _core.Rows = build(*arguments)
    except ValueError as error:
        message = str(error)
        kind = "NaN" if "nan" in message else "infinity"
        found = f"{name} contains {kind}: " if "every value must be finite" in message else f"{name} is corrupted: "
        found = f"{name} is out of scale: " if "scale the features" in message else found
        raise ValueError(found + message) from None
    return rows


def compressed_rows(X: Any, dtype: np.dtype[Any], by_columns: bool = False) -> _core.Rows:
    """Native rows over the arrays of a CSR matrix (of a CSC one: its columns), copied only where they must be."""
    rows = checked_rows(X, dtype, by_columns)
    if rows.canonical:
        return rows
    # A new matrix, because X may claim to be in order: what is cached in it need not be true any more.
    repaired = type(X)((X.data, X.indices, X.indptr), shape=X.shape, copy=True)
    repaired.sum_duplicates()
    return checked_rows(repaired, dtype, by_columns)


def checked_rows(X: Any, dtype: np.dtype[Any], by_columns: bool) -> _core.Rows:
    n_major, n_minor = reversed(X.shape) if by_columns else X.shape
    major, minor = ("column", "row") if by_columns else ("row", "column")
    for name, array in (("indptr", X.indptr), ("indices", X.indices), ("data", X.data)):
        if np.ndim(array) != 1:
            raise ValueError(f"X is corrupted: its {name} has {np.ndim(array)} dimensions, expected one")
        if name != "data" and array.dtype.kind not in "iu":
            raise ValueError(f"X is corrupted: its {name} has dtype {array.dtype}, expected integers")
    if len(X.indptr) != n_major + 1:
        raise ValueError(
            f"X is corrupted: indptr has {len(X.indptr)} entries for {n_major} {major}s, expected {n_major + 1}"
        )
    if len(X.indices) != len(X.data):
        raise ValueError(f"X is corrupted: it has {len(X.indices)} indices for {len(X.data)} values")
    return named(
        "X",
        _core.Rows.sparse,
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        narrow_indices(X, n_minor, major, minor),
        np.ascontiguousarray(X.data, dtype=dtype),
        n_minor,
        by_columns,
    )


def narrow_indices(X: Any, n_minor: int, major: str, minor: str) -> NDArray[np.int32]:
    """The indices as int32; those that would not fit are refused here, the others by the native check."""
    indices = X.indices
    if indices.dtype == np.int32:
        return np.ascontiguousarray(indices)
    used = indices[: max(0, int(X.indptr[-1]))]  # SciPy allows spare room behind
    outside = np.flatnonzero((used < 0) | (used >= n_minor))
    if len(outside):
        at = int(outside[0])
        place = int(np.searchsorted(X.indptr, at, side="right")) - 1
        raise ValueError(f"X is corrupted: {major} {place} has {minor} index {indices[at]}, outside 0 .. {n_minor - 1}")
    narrow = np.zeros(len(indices), dtype=np.int32)
    narrow[: len(used)] = used
    return narrow


def through_coordinates(X: Any) -> Any:
    """Any other sparse format as CSR; its coordinates are checked before SciPy's compiled code sees them."""
    try:
        X = X.tocoo()
    except ValueError as error:
        raise ValueError(f"X is corrupted: {error}") from error
    for axis, (name, coordinates) in enumerate(zip(("row", "column"), (X.row, X.col), strict=True)):
        if len(coordinates) != len(X.data):
            raise ValueError(f"X is corrupted: it has {len(coordinates)} {name} coordinates for {len(X.data)} values")
        outside = np.flatnonzero((coordinates < 0) | (coordinates >= X.shape[axis]))
        if len(outside):
            raise ValueError(
                f"X is corrupted: entry {outside[0]} has {name} index {coordinates[outside[0]]}, "
                f"outside 0 .. {X.shape[axis] - 1}"
            )
    return X.tocsr()
