"""What `Matrix` accepts: every kind of input means the same numbers, and nothing is copied without need."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from widemargin import Matrix, Problem

RNG = np.random.default_rng(0)
DENSE = np.round(RNG.standard_normal((7, 5)), 2) * (RNG.random((7, 5)) < 0.6)
SPARSE_FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


def as_array(matrix: Matrix) -> np.ndarray:
    """The numbers a Matrix holds, read off its products alone."""
    return np.column_stack([matrix.matvec(unit) for unit in np.eye(matrix.shape[1])])


def assert_means(matrix: Matrix, expected: np.ndarray) -> None:
    """The Matrix is `expected`, by rows and by columns."""
    assert matrix.shape == expected.shape
    np.testing.assert_array_equal(as_array(matrix), expected)
    assert (matrix.native_columns.n_rows, matrix.native_columns.n_cols) == expected.shape[::-1]
    u = np.arange(1.0, expected.shape[0] + 1)
    np.testing.assert_allclose(matrix.rmatvec(u), expected.T @ u, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("container", ["matrix", "array"])
@pytest.mark.parametrize("form", SPARSE_FORMATS)
def test_every_sparse_format(form, container):
    X = getattr(sp, f"{form}_{container}")(DENSE)
    matrix = Matrix(X)
    assert matrix.is_sparse
    assert matrix.nnz == np.count_nonzero(DENSE)
    assert_means(matrix, DENSE)


LAYOUTS = {
    "C": lambda A: A,
    "Fortran": np.asfortranarray,
    "reversed rows": lambda A: A[::-1].copy()[::-1],
    "reversed columns": lambda A: A[:, ::-1].copy()[:, ::-1],
    "every second row": lambda A: np.repeat(A, 2, axis=0)[::2],
    "every second column": lambda A: np.repeat(A, 2, axis=1)[:, ::2],
    "part of a wider array": lambda A: np.pad(A, 3)[3:-3, 3:-3],
    "read-only": lambda A: _read_only(A),
    "np.matrix": lambda A: sp.csr_matrix(A).todense(),
    "unaligned": lambda A: _unaligned(A),
    "odd stride": lambda A: _odd_stride(A),
}


def _read_only(A):
    copy = A.copy()
    copy.flags.writeable = False
    return copy


def _unaligned(A):
    """The same numbers, one byte off."""
    raw = np.zeros(A.nbytes + 1, dtype=np.uint8)
    raw[1:] = np.frombuffer(np.ascontiguousarray(A).tobytes(), dtype=np.uint8)
    return raw[1:].view(A.dtype).reshape(A.shape)


def _odd_stride(A):
    """A field of a record array: rows are not a whole number of values apart."""
    records = np.zeros(len(A), dtype=[("x", A.dtype, (A.shape[1],)), ("flag", np.int8)])
    records["x"] = A
    return records["x"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_dense_layout(layout, dtype):
    A = DENSE.astype(dtype)
    matrix = Matrix(LAYOUTS[layout](A))
    assert not matrix.is_sparse
    assert matrix.dtype == dtype
    assert_means(matrix, A.astype(np.float64))


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "i4", "i8", "u8", "f2", "f4", "f8", "g", ">f4", ">f8", ">i4"])
def test_float32_stays_and_every_other_type_becomes_float64(dtype):
    A = (10 * DENSE).astype(np.int64) % 3
    expected = np.float32 if dtype.endswith("f4") else np.float64
    dense = Matrix(A.astype(dtype))
    assert dense.dtype == expected
    assert_means(dense, A.astype(dtype).astype(np.float64))
    if dtype not in ("f2", "g", ">f4", ">f8", ">i4"):  # SciPy does not hold these, or cannot convert them
        for form in ("csr", "csc", "coo"):
            sparse = Matrix(sp.coo_array(A).astype(dtype).asformat(form))
            assert sparse.dtype == expected
            assert_means(sparse, A.astype(dtype).astype(np.float64))


def test_lists_and_objects_that_are_numbers():
    assert_means(Matrix([[1, 2.5], [True, 0]]), np.array([[1, 2.5], [1, 0]]))
    assert_means(Matrix(DENSE.astype(object)), DENSE)


def test_matrix_of_a_matrix_is_the_same():
    matrix = Matrix(DENSE)
    assert Matrix(matrix).native_rows is matrix.native_rows
    assert Problem(matrix, [0, 1, 0, 1, 0, 1, 0]).X is matrix


# No copy where none is needed, and the user's arrays stay as they were.


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_right_sparse_input_is_not_copied(form, dtype):
    X = sp.csr_array(DENSE.astype(dtype)).asformat(form)
    matrix = Matrix(X)
    X.data[:] *= 2
    through = matrix.native_rows if form == "csr" else matrix.native_columns
    w = np.ones(through.n_cols)
    z = np.empty(through.n_rows)
    from widemargin import _core

    _core.matvec(through, w, 0.0, z)
    expected = X.toarray().astype(np.float64)
    np.testing.assert_allclose(z, expected.sum(axis=1 if form == "csr" else 0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "reversed rows", "every second row", "part of a wider array"])
def test_rows_that_are_contiguous_are_not_copied(layout, dtype):
    X = LAYOUTS[layout](DENSE.astype(dtype))
    matrix = Matrix(X)
    X[2, 3] = 99
    assert matrix.matvec(np.eye(5)[3])[2] == 99


def test_matrix_keeps_its_memory_alive():
    matrix = Matrix(sp.csr_array(DENSE))
    dense = Matrix(DENSE.copy())
    for _ in range(50):
        np.full((7, 5), np.nan)
    assert_means(matrix, DENSE)
    assert_means(dense, DENSE)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_disorder_is_put_right_on_a_copy(form):
    indptr, indices, data = [0, 3, 3, 5], [2, 0, 2, 1, 0], [1.0, 2.0, 4.0, 8.0, 16.0]
    X = getattr(sp, f"{form}_array")((data, indices, indptr), shape=(3, 3))
    expected = X.toarray()
    matrix = Matrix(X)
    assert matrix.nnz == 4
    assert_means(matrix, expected)
    np.testing.assert_array_equal(X.indices, indices)
    np.testing.assert_array_equal(X.data, data)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_false_claim_of_order_is_not_believed(form):
    X = sp.csr_array(np.ones((3, 3))).asformat(form)
    X.has_canonical_format = True
    X.indices[:3] = [2, 0, 2]
    expected = np.zeros((3, 3))
    expected[1:] = 1
    expected[0] = [1, 0, 2]
    matrix = Matrix(X)
    assert matrix.nnz == 8
    assert_means(matrix, expected if form == "csr" else expected.T)


def test_duplicate_coordinates_are_summed():
    X = sp.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert_means(Matrix(X), np.array([[0.0, 3.0], [5.0, 0.0]]))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_int64_indices(form):
    X = sp.csr_array(DENSE).asformat(form)
    for name in ("indptr", "indices"):
        if form != "coo":
            setattr(X, name, getattr(X, name).astype(np.int64))
    if form == "coo":
        X.coords = tuple(c.astype(np.int64) for c in X.coords)
    assert_means(Matrix(X), DENSE)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_spare_room_behind_the_entries_is_ignored(index):
    X = sp.csr_array(DENSE)
    X.indices = np.append(X.indices, [2**30, -7]).astype(index)
    X.data = np.append(X.data, [np.nan, np.inf])
    assert_means(Matrix(X), DENSE)


def test_explicit_zeros_and_empty_rows_and_columns():
    X = sp.csr_array(([0.0, 3.0], [1, 3], [0, 0, 1, 1, 2, 2]), shape=(5, 6))
    assert_means(Matrix(X), X.toarray())
    assert_means(Matrix(X.tocsc()), X.toarray())
    assert_means(Matrix(sp.csr_array((4, 3))), np.zeros((4, 3)))


# Products.


def storages(A: np.ndarray) -> dict[str, Matrix]:
    """The same numbers in every storage."""
    csr = sp.csr_array(A)
    return {
        "sparse": Matrix(csr),
        "columns": Matrix(csr.tocsc()),
        "dense": Matrix(A),
        "sparse32": Matrix(csr.astype(np.float32)),
        "dense32": Matrix(A.astype(np.float32)),
    }


@pytest.mark.parametrize("binary", [False, True])
def test_products_do_not_depend_on_storage_or_threads(binary):
    rng = np.random.default_rng(3)
    A = (rng.random((3000, 40)) < 0.2) * (1.0 if binary else np.round(rng.standard_normal((3000, 40)), 1))
    w, u = rng.standard_normal(40), rng.standard_normal(3000)
    for name, matrix in storages(A).items():
        tolerance = 1e-6 if name.endswith("32") and not binary else 1e-12
        z, g = matrix.matvec(w, 0.25), matrix.rmatvec(u)
        np.testing.assert_allclose(z, A @ w + 0.25, rtol=tolerance, atol=10 * tolerance)
        np.testing.assert_allclose(g, A.T @ u, rtol=tolerance, atol=100 * tolerance)
        for n_jobs in (2, 3, 64):
            np.testing.assert_array_equal(matrix.matvec(w, 0.25, n_jobs=n_jobs), z)
            np.testing.assert_array_equal(matrix.rmatvec(u, n_jobs=n_jobs), g)


def test_rows_of_one_value_are_stored_without_values():
    binary = sp.csr_array((DENSE != 0) * np.arange(1.0, 8)[:, None])
    assert Matrix(binary).native_rows.uniform
    assert Matrix(binary.astype(np.float32)).native_rows.uniform
    assert not Matrix(sp.csr_array(DENSE)).native_rows.uniform
    assert_means(Matrix(binary), binary.toarray())


def test_rows_of_one_value_give_what_general_rows_give():
    rng = np.random.default_rng(5)
    A = (rng.random((200, 30)) < 0.3) * rng.integers(1, 4, 200)[:, None]
    general = np.vstack([A, np.arange(30.0)])  # its last row forbids the short cut
    w, u = rng.standard_normal(30), rng.standard_normal(200)
    uniform, plain = Matrix(sp.csr_array(A.astype(float))), Matrix(sp.csr_array(general))
    assert uniform.native_rows.uniform and not plain.native_rows.uniform
    np.testing.assert_allclose(uniform.matvec(w), plain.matvec(w)[:-1], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(uniform.rmatvec(u), plain.rmatvec([*u, 0.0]), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("X", [DENSE, sp.csr_array(DENSE)], ids=["dense", "sparse"])
def test_row_lengths_are_kept_and_belong_to_the_rows(X):
    matrix = Matrix(X)
    np.testing.assert_allclose(matrix.row_sqnorms, (DENSE**2).sum(axis=1), rtol=1e-12)
    assert matrix.row_sqnorms is matrix.row_sqnorms
    assert not matrix.row_sqnorms.flags.writeable
    np.testing.assert_array_equal(matrix.take([3, 1]).row_sqnorms, matrix.row_sqnorms[[3, 1]])


def test_wrong_lengths_are_refused_by_name():
    matrix = Matrix(DENSE)
    with pytest.raises(ValueError, match="w has length 6, expected 5"):
        matrix.matvec(np.ones(6))
    with pytest.raises(ValueError, match="u has length 5, expected 7"):
        matrix.rmatvec(np.ones(5))
    with pytest.raises(ValueError, match=r"w must be one-dimensional, got shape \(5, 1\)"):
        matrix.matvec(np.ones((5, 1)))


def test_repr():
    assert repr(Matrix(DENSE.astype(np.float32))) == "Matrix(7 x 5, dense float32)"
    assert repr(Matrix(sp.eye_array(1000).tocsr())) == "Matrix(1,000 x 1,000, sparse float64, 1,000 nonzeros)"


# Properties.

numbers = st.floats(-1e6, 1e6, width=32)
arrays = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=numbers)


@given(arrays, st.sampled_from(SPARSE_FORMATS))
def test_any_array_through_any_format(A, form):
    assert_means(Matrix(A), A)
    assert_means(Matrix(sp.coo_array(A).asformat(form)), A)
    np.testing.assert_array_equal(as_array(Matrix(A.astype(np.float32))), A)


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_any_entries_in_any_order(rows, columns, data):
    entry = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1), st.integers(-5, 5))
    entries = sorted(data.draw(st.lists(entry, max_size=25)), key=lambda e: e[0])
    indptr = np.searchsorted([e[0] for e in entries], np.arange(rows + 1))
    X = sp.csr_array(([float(e[2]) for e in entries], [e[1] for e in entries], indptr), shape=(rows, columns))
    expected = np.zeros((rows, columns))
    for i, j, value in entries:
        expected[i, j] += value
    assert_means(Matrix(X), expected)


@given(st.data())
def test_corrupted_arrays_never_reach_the_passes(data):
    """Any integers for indptr and indices: either an error, or exactly what SciPy's own full check accepts."""
    indptr = data.draw(hnp.arrays(np.int32, 4, elements=st.integers(-2, 6)))
    indices = data.draw(hnp.arrays(np.int32, 5, elements=st.integers(-1, 4)))
    X = sp.csr_array((3, 4))
    X.indptr, X.indices, X.data = indptr, indices, np.ones(5)
    sound = indptr[0] == 0 and indptr[-1] <= 5 and (np.diff(indptr) >= 0).all()
    used = indices[: indptr[-1]] if sound else indices
    sound = bool(sound and ((used >= 0) & (used < 4)).all())
    for n_index in (np.int32, np.int64):
        X.indices = indices.astype(n_index)
        if sound:
            Matrix(X).matvec(np.ones(4))
        else:
            with pytest.raises(ValueError, match="X is corrupted"):
                Matrix(X)


class SlowRows:
    """Rows whose transpose takes until every thread has asked for it, or a moment if only one ever does."""

    nnz = 4

    def __init__(self, threads):
        self.built, self._all_ask = 0, threading.Barrier(threads)

    def transpose(self):
        self.built += 1
        with contextlib.suppress(threading.BrokenBarrierError):
            self._all_ask.wait(0.2)
        return object()


def test_threads_that_share_a_matrix_build_its_columns_once():
    X = Matrix(np.eye(3))
    X._rows = SlowRows(4)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: X.native_columns, range(4)))
    assert X._rows.built == 1
    assert len({id(one) for one in found}) == 1


def test_taken_rows_wait_for_nobody():
    """Rows taken from a matrix have columns of their own, so they do not wait while the matrix builds its."""
    X = Matrix(sp.csr_array(np.eye(3)))
    with X.owner.building:
        assert X.take([0, 2]).native_columns.n_rows == 3
