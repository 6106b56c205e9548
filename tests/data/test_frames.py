"""Data frames of pandas, polars and pyarrow as input."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from widemargin import Matrix

EXPECTED = np.array([[1.0, 0.0], [2.5, 3.0], [-1.0, 4.0]])
COLUMNS = {"a": EXPECTED[:, 0], "b": EXPECTED[:, 1]}


def numbers(matrix: Matrix) -> np.ndarray:
    return np.column_stack([matrix.matvec(unit) for unit in np.eye(matrix.shape[1])])


MAKERS = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "pyarrow": lambda columns: pa.table(columns),
    "pyarrow batch": lambda columns: pa.RecordBatch.from_pydict(columns),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("maker", MAKERS)
def test_frames_of_floats(maker, dtype):
    matrix = Matrix(MAKERS[maker]({name: values.astype(dtype) for name, values in COLUMNS.items()}))
    assert matrix.dtype == dtype
    assert matrix.feature_names == ["a", "b"]
    np.testing.assert_array_equal(numbers(matrix), EXPECTED)


@pytest.mark.parametrize("maker", MAKERS)
def test_frames_of_mixed_numbers(maker):
    flags, counts = np.array([True, False, True]), np.array([3, -4, 5])
    matrix = Matrix(MAKERS[maker]({"flag": flags, "count": counts, "share": COLUMNS["a"]}))
    np.testing.assert_array_equal(numbers(matrix), np.column_stack([flags, counts, COLUMNS["a"]]))


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    "column", [["x", "y", "z"], ["1", "2", "3"], pd.to_datetime(["2020", "2021", "2022"]).to_numpy()]
)
def test_column_that_holds_no_numbers_is_named(maker, column):
    frame = MAKERS[maker]({"a": COLUMNS["a"], "note": column})
    with pytest.raises(ValueError, match="column 'note' of X does not hold numbers"):
        Matrix(frame)


@pytest.mark.parametrize("maker", ["polars", "pyarrow", "pyarrow batch"])
@pytest.mark.parametrize("column", [[1, None, 3], [1.5, None, 3.5]])
def test_missing_entry_is_named(maker, column):
    frame = MAKERS[maker]({"a": COLUMNS["a"], "b": column})
    with pytest.raises(ValueError, match="X contains NaN: row 1, column 1"):
        Matrix(frame)


@pytest.mark.parametrize("maker", ["pandas", "polars", "pyarrow"])
def test_frame_without_columns(maker):
    with pytest.raises(ValueError, match="X is empty"):
        Matrix(MAKERS[maker]({}))


@pytest.mark.parametrize("series", [pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0]), pa.chunked_array([[1.0, 2.0]])])
def test_one_column_alone_is_no_frame(series):
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        Matrix(series)


# pandas alone.


@pytest.mark.parametrize("dtype", ["Int64", "Int8", "Float64", "boolean", "double[pyarrow]", "int32[pyarrow]"])
def test_nullable_types(dtype):
    frame = pd.DataFrame({"a": pd.array([1, 0, 1], dtype=dtype), "b": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(numbers(Matrix(frame)), [[1, 1], [0, 2], [1, 3]])
    frame.loc[2, "a"] = pd.NA
    with pytest.raises(ValueError, match="X contains NaN: row 2, column 0"):
        Matrix(frame)


def test_nullable_float32_stays():
    frame = pd.DataFrame({"a": pd.array([1.5, 2.5], dtype="Float32"), "b": pd.array([0.5, 1.5], dtype="Float32")})
    assert Matrix(frame).dtype == np.float32
    assert Matrix(frame.assign(c=[1, 2])).dtype == np.float64


def test_complex_column_is_refused():
    with pytest.raises(ValueError, match="column 'c' of X does not hold numbers"):
        Matrix(pd.DataFrame({"c": [1j, 2]}))


def test_column_names_that_repeat_or_mislead():
    repeated = pd.DataFrame([[1.0, True], [2.0, False]], columns=["a", "a"])
    np.testing.assert_array_equal(numbers(Matrix(repeated)), [[1, 1], [2, 0]])
    misleading = pd.DataFrame({"column_names": [1.0, 2.0], "get_columns": [3.0, 4.0], "dtype": [True, False]})
    matrix = Matrix(misleading)
    assert matrix.feature_names == ["column_names", "get_columns", "dtype"]
    np.testing.assert_array_equal(numbers(matrix), [[1, 3, 1], [2, 4, 0]])


def test_column_names_that_are_not_text():
    assert Matrix(pd.DataFrame([[1.0, 2.0]])).feature_names == ["0", "1"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_sparse_frame_stays_sparse(dtype):
    frame = pd.DataFrame(EXPECTED.astype(int)).astype(pd.SparseDtype(dtype, 0))
    matrix = Matrix(frame)
    assert matrix.is_sparse
    assert matrix.dtype == (np.float32 if dtype == "float32" else np.float64)
    assert matrix.nnz == 5
    np.testing.assert_array_equal(numbers(matrix), EXPECTED.astype(int))


def test_sparse_frame_around_another_value_becomes_dense():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 2.0], fill_value=1.0)})
    matrix = Matrix(frame)
    assert not matrix.is_sparse
    np.testing.assert_array_equal(numbers(matrix), [[1.0], [2.0]])


def test_categories_of_numbers_are_numbers():
    frame = pd.DataFrame({"a": pd.Categorical([3, 1]), "b": [1.0, 2.0]})
    np.testing.assert_array_equal(numbers(Matrix(frame)), [[3, 1], [1, 2]])
