"""What `Matrix` refuses, and that the error names the place."""

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import Matrix

DENSE = np.arange(1.0, 13).reshape(4, 3)


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["dense", "csr", "csc", "coo", "lil", "bsr"])
def test_values_that_are_not_finite(form, dtype, value, name):
    A = DENSE.astype(dtype)
    A[3, 1] = value
    X = A if form == "dense" else sp.coo_array(A).asformat(form)
    with pytest.raises(ValueError, match=f"X contains {name}: row 3, column 1 holds"):
        Matrix(X)


def test_several_in_one_row_name_the_first():
    A = DENSE.copy()
    A[2, 1:] = [np.inf, -np.inf]
    with pytest.raises(ValueError, match="row 2, column 1 holds inf"):
        Matrix(A)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, 2.0], [3.0]], "X is ragged"),
        ([], "Expected 2D array, got 1D"),
        ([1.0, 2.0], "Expected 2D array, got 1D"),
        (3.0, "Expected 2D array, got 0D"),
        (None, "Expected 2D array, got 0D"),
        (np.ones((2, 2, 2)), "Expected 2D array, got 3D"),
        (sp.coo_array(np.ones(3)), "two dimensions"),
        ([[]], r"X is empty: it has 1 row\(s\) and 0 feature"),
        (np.ones((0, 3)), r"X is empty: it has 0 row\(s\) and 3 feature"),
        (sp.csr_array((0, 3)), r"X is empty: it has 0 row\(s\) and 3 feature"),
        (sp.csc_array((3, 0)), r"X is empty: it has 3 row\(s\) and 0 feature"),
        ([[1j, 2]], "Complex data not supported"),
        (np.array([[1j, 2]], dtype=object), "Complex data not supported"),
        (sp.csr_array([[1j, 2]]), "Complex data not supported"),
        ([["a", "b"]], "X has dtype <U1"),
        ([[b"a", b"b"]], r"X has dtype \|S1"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "X has dtype datetime64"),
        (np.array([["word", 1.0]], dtype=object), "could not convert string to float: 'word'"),
        (np.ma.masked_greater(DENSE, 4), r"X is masked at \(1, 1\)"),
        (np.zeros(2, dtype=[("a", float), ("b", float)]).reshape(1, 2), "X has dtype"),
    ],
)
def test_refused(X, message):
    with pytest.raises(ValueError, match=message):
        Matrix(X)


def test_objects_that_are_no_numbers():
    with pytest.raises(TypeError, match="X has dtype object and does not convert to numbers"):
        Matrix(np.array([[{"foo": "bar"}, 1.0]], dtype=object))


def test_too_many_columns():
    with pytest.raises(ValueError, match=r"X has 2147483647 columns, at most 2147483646"):
        Matrix(sp.csr_array((1, 2**31 - 1)))


# Corrupted sparse matrices: an array was changed behind the back of the class.


def set_item(name, at, value):
    def change(X):
        getattr(X, name)[at] = value

    return change


def replace(name, change):
    return lambda X: setattr(X, name, change(getattr(X, name)))


COMPRESSED = [
    (set_item("indptr", 1, 9), r"indptr decreases at {major} 1: 9 then"),
    (set_item("indptr", 1, -1), r"indptr decreases at {major} 0: 0 then -1"),
    (set_item("indptr", 0, 1), r"indptr\[0\] is 1"),
    (set_item("indptr", -1, 99), r"indptr ends at 99 but only 12 entries"),
    (set_item("indices", 4, 99), r"{major} 1 has {minor} index 99, outside 0 \.\. {last}"),
    (set_item("indices", 4, -1), r"{major} 1 has {minor} index -1, outside 0 \.\. {last}"),
    (replace("indptr", lambda a: a[:-1]), r"indptr has {n} entries for {n} {major}s, expected {n_plus}"),
    (replace("indptr", lambda a: a[:0]), r"indptr has 0 entries for {n} {major}s"),
    (replace("indptr", lambda a: a.reshape(1, -1)), r"indptr has 2 dimensions"),
    (replace("indptr", lambda a: a + 0.5), r"indptr has dtype float64"),
    (replace("indices", lambda a: a + 0.5), r"indices has dtype float64"),
    (replace("indices", lambda a: a[:-1]), r"11 indices for 12 values"),
    (replace("data", lambda a: a[:-1]), r"12 indices for 11 values"),
    (replace("data", lambda a: a.reshape(1, -1)), r"data has 2 dimensions"),
]


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(("change", "message"), COMPRESSED)
def test_corrupted_compressed_matrix(change, message, form, index):
    X = sp.csr_array(DENSE).asformat(form)
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    change(X)
    words = {"major": "row", "minor": "column", "last": 2, "n": 4, "n_plus": 5}
    if form == "csc":
        words = {"major": "column", "minor": "row", "last": 3, "n": 3, "n_plus": 4}
    with pytest.raises(ValueError, match="X is corrupted: .*" + message.format(**words)):
        Matrix(X)


def test_index_that_int32_would_wrap():
    X = sp.csr_array(DENSE)
    X.indices = X.indices.astype(np.int64)
    X.indices[5] = 2**32 + 1
    with pytest.raises(ValueError, match="row 1 has column index 4294967297, outside 0"):
        Matrix(X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_item("row", 5, 4), r"entry 5 has row index 4, outside 0 \.\. 3"),
        (set_item("row", 5, -1), r"entry 5 has row index -1, outside 0 \.\. 3"),
        (set_item("col", 5, 3), r"entry 5 has column index 3, outside 0 \.\. 2"),
        (replace("row", lambda a: a[:-1]), r"11 row coordinates for 12 values"),
        (replace("data", lambda a: a[:-1]), r"12 row coordinates for 11 values"),
    ],
)
def test_corrupted_coordinates(change, message):
    X = sp.coo_matrix(DENSE)
    change(X)
    with pytest.raises(ValueError, match="X is corrupted: .*" + message):
        Matrix(X)


@pytest.mark.parametrize(
    "change",
    [
        set_item("indptr", 1, 7),
        set_item("indptr", -1, 99),
        set_item("indices", 0, 99),
        set_item("indices", 0, -1),
    ],
)
def test_corrupted_blocks(change):
    X = sp.bsr_array(DENSE, blocksize=(2, 1))
    change(X)
    with pytest.raises(ValueError, match="X is corrupted"):
        Matrix(X)
