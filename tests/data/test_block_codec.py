"""Chunks as bytes: the round trip is exact, and no bytes whatever crash the decoder."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin import _core

FORMS = ("sparse", "uniform", "dense")


def encoded(X):
    return _core.encode_rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data)


def decoded(content, X, form="sparse", *, rows=None, entries=None, columns=None):
    decoder = _core.ChunkDecoder(X.shape[1] if columns is None else columns, form, X.dtype == np.float32)
    n_rows, n_entries = X.shape[0] if rows is None else rows, X.nnz if entries is None else entries
    return decoder.decode(np.frombuffer(content, dtype=np.uint8), n_rows, n_entries)


def assert_same(rows, X):
    indptr, indices, values = _core.row_arrays(rows)
    assert np.array_equal(indptr, X.indptr) and np.array_equal(indices, X.indices)
    assert values.astype(X.dtype).tobytes() == X.data.tobytes()


# What values are drawn from: anything; a few; one; one per row; small numbers with few digits.
def values_of(kind, rng, lengths):
    n = int(lengths.sum())
    return {
        "any": lambda: rng.standard_normal(n) * 10.0 ** rng.integers(-30, 30, n),
        "few": lambda: rng.choice([1.0, 2.0, -0.0, 0.0, 3.5], n),
        "256": lambda: rng.integers(0, 256, n).astype(float),
        "257": lambda: np.arange(n) % 257.0,
        "one": lambda: np.full(n, 0.3),
        "per row": lambda: np.repeat(rng.standard_normal(len(lengths)), lengths),
        "short": lambda: np.round(rng.uniform(0, 1, n), 3),
    }[kind]()


def made(seed, rows, columns, kind, dtype):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, min(columns, 40) + 1, rows)
    indices = [np.sort(rng.choice(columns, k, replace=False)) for k in lengths]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    columns_of = np.concatenate([*indices, np.empty(0)]).astype(np.int32)
    return sp.csr_array((values_of(kind, rng, lengths).astype(dtype), columns_of, indptr), shape=(rows, columns))


KINDS = ["any", "few", "256", "257", "one", "per row", "short"]


@settings(max_examples=150)
@given(
    st.integers(0, 10**6),
    st.integers(0, 300),
    st.sampled_from([1, 3, 60, 2000, 2**31 - 2]),
    st.sampled_from(KINDS),
    st.sampled_from([np.float32, np.float64]),
)
def test_rows_come_back_bit_for_bit(seed, rows, columns, kind, dtype):
    X = made(seed, rows, min(columns, 10**6), kind, dtype)
    if columns > 10**6:  # spread out: distances of every length
        X = sp.csr_array((X.data, X.indices * 2000, X.indptr), shape=(rows, columns))
    content, alike = encoded(X)
    assert_same(decoded(content, X), X)
    per_row = all(len(set(X.data[a:b].tolist())) <= 1 for a, b in zip(X.indptr, X.indptr[1:], strict=False))
    if alike:
        assert per_row
        assert_same(decoded(content, X, "uniform"), X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_dense_rows_cost_no_columns(kind, dtype):
    X = values_of(kind, np.random.default_rng(0), np.full(200, 30)).reshape(200, 30).astype(dtype)
    sparse = sp.csr_array((X.ravel(), np.tile(np.arange(30), 200), np.arange(0, 6001, 30)), shape=X.shape)
    content, _ = encoded(sparse)
    assert len(content) <= X.nbytes + 200
    assert np.array_equal(_core.row_arrays(decoded(content, sparse, "dense"))[0].reshape(X.shape), X)


@given(st.lists(st.floats(width=64), max_size=600))
def test_labels_come_back_bit_for_bit(numbers):
    labels = np.array(numbers, dtype=np.float64)
    found = np.empty_like(labels)
    _core.decode_numbers(np.frombuffer(_core.encode_numbers(labels), dtype=np.uint8), found)
    assert found.tobytes() == labels.tobytes()


def test_it_is_small():
    rng = np.random.default_rng(1)
    binary = made(3, 3000, 5000, "one", np.float32)
    assert len(encoded(binary)[0]) < 0.35 * 8 * binary.nnz
    counts = binary.copy()
    counts.data[:] = rng.geometric(0.6, counts.nnz)
    assert len(encoded(counts)[0]) < 0.35 * 8 * counts.nnz
    tfidf = binary.copy()
    tfidf.data[:] = rng.uniform(0.01, 0.3, tfidf.nnz)
    assert len(encoded(tfidf)[0]) < 0.72 * 8 * tfidf.nnz


def test_the_checksum_is_that_of_others():
    known = {b"": 0xEF46DB3751D8E999, b"a": 0xD24EC4F1A98C6E5B, b"abc": 0x44BC2CF5AD770999}
    for text, expected in known.items():
        assert _core.checksum(np.frombuffer(text, dtype=np.uint8)) == expected
    long = bytes(range(256)) * 5 + b"tail of 13 .."
    sums = {_core.checksum(np.frombuffer(long[:k], dtype=np.uint8)) for k in range(len(long))}
    assert len(sums) == len(long)


def mutated(content, rng):
    """Bytes with a few of them changed, cut, doubled or moved."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, max(1, len(data))))
        kind = rng.integers(0, 4)
        if kind == 0 and data:
            data[min(at, len(data) - 1)] = int(rng.integers(0, 256))
        elif kind == 1:
            del data[at : at + int(rng.integers(1, 9))]
        elif kind == 2:
            data[at:at] = rng.bytes(int(rng.integers(1, 9)))
        elif data:
            data[min(at, len(data) - 1)] ^= 1 << int(rng.integers(0, 8))
    return bytes(data)


@pytest.mark.parametrize("kind", KINDS)
def test_no_bytes_crash_the_decoder(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    X = made(7, 40, 50, kind, np.float64)
    content = encoded(X)[0]
    refused = 0
    for _ in range(10_000):
        bad = mutated(content, rng)
        form = FORMS[rng.integers(0, 3)]
        try:
            rows = decoded(bad, X, form)
        except ValueError:
            refused += 1
        else:
            assert rows.n_rows == X.shape[0] and rows.nnz == X.nnz
            if form != "dense":
                indptr, indices, _ = _core.row_arrays(rows)
                assert indptr[-1] == X.nnz and (indices >= 0).all() and (indices < X.shape[1]).all()
    assert refused > 1700


def test_what_the_index_says_is_what_is_allocated():
    X = made(1, 20, 30, "one", np.float64)
    content = encoded(X)[0]
    for rows, entries in [(X.shape[0] + 1, X.nnz), (X.shape[0], X.nnz + 1), (0, 0), (X.shape[0], 0)]:
        with pytest.raises(ValueError):
            decoded(content, X, rows=rows, entries=entries)
    with pytest.raises(ValueError, match="more rows or entries"):
        decoded(content, X, rows=2**60, entries=2**60)
    with pytest.raises(ValueError, match="more rows or entries"):
        decoded(content, X, rows=-1)
    with pytest.raises(ValueError, match="outside"):
        decoded(content, X, columns=5)


def test_rows_that_are_not_in_order_are_not_encoded():
    with pytest.raises(ValueError, match="ascend"):
        _core.encode_rows(np.array([0, 2]), np.array([3, 3], dtype=np.int32), np.ones(2))
    with pytest.raises(ValueError):
        _core.encode_rows(np.array([0, 3]), np.array([3, 4], dtype=np.int32), np.ones(2))
    with pytest.raises(ValueError, match="before the entries"):
        _core.encode_rows(np.array([0, 1]), np.array([3, 4], dtype=np.int32), np.ones(2))
