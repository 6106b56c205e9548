"""LIBSVM text made up by hypothesis: the native parser against a naive one, and the round trip."""

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive_svmlight as naive
from svmlight_text import identical, read, refusal, written
from widemargin import _core


def check_against_naive(content, multilabel=False):
    try:
        rows = naive.parse(content, multilabel)
    except naive.Wrong as wrong:
        line, column = wrong.args[0]
        assert refusal(content, multilabel=multilabel).startswith(f"<stream>:{line}:{column}: ")
        return
    if not rows:
        assert refusal(content, multilabel=multilabel).startswith("<stream>: no rows")
        return
    X, y = read(content, multilabel=multilabel)
    indices = [index for _, _, entries in rows for index, _ in entries]
    base = 0 if 0 in indices else 1
    values = np.array([value for _, _, entries in rows for _, value in entries])
    assert list(y) == [labels for labels, _, _ in rows]
    assert X.indices.tolist() == [index - base for index in indices]
    assert X.data.tobytes() == values.tobytes()
    assert np.diff(X.indptr).tolist() == [len(entries) for _, _, entries in rows]
    assert X.shape[1] == max(indices, default=base - 1) + 1 - base


digits = st.text("0123456789", min_size=1, max_size=24)
plain = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-10, 10).map(lambda x: f"{x:.6g}"),
    st.integers(-5, 100000).map(str),
    st.builds(lambda a, b: f"{a}.{b}", digits, digits),
    st.builds(lambda a, b, e: f"{a}.{b}e{e}", digits, digits, st.integers(-400, 400)),
)
odd = st.sampled_from(
    [
        "nan",
        "inf",
        "-inf",
        "+1",
        ".5",
        "5.",
        ".",
        "-",
        "+",
        "1e",
        "1e+",
        "1E5",
        "1e-05",
        "0x1",
        "1e999",
        "-1e-999",
        "1_0",
        "١",
        "1,2",
        ",1",
        "1,",
        "-0",
        "0.",
        "1..2",
        "--1",
    ]
)
numbers = st.one_of(plain, plain, plain, odd)
indices = st.one_of(st.integers(0, 40), st.integers(0, 40), st.integers(0, 2**33), st.just("007"), st.just("-1"))
entry = st.one_of(
    st.builds(lambda i, v: f"{i}:{v}", indices, numbers), st.builds(lambda i: f"{i}:1", st.integers(1, 99999))
)
noise = st.sampled_from(["1", ":", "1:", ":1", "1:2:3", "qid:4", "qid:", "qid:x", "#", "# 1:2", "a:b", "1 :2", "\x00"])
blank = st.sampled_from([" ", " ", " ", "  ", "\t", " \t "])
line_end = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n", " # 1:1 comment\n"])


def glue(label, query, entries, separator, end):
    return separator.join([label, *query, *entries]) + end


good_entries = st.lists(st.tuples(st.integers(0, 2000), plain), max_size=12, unique_by=lambda pair: pair[0]).map(
    lambda pairs: [f"{index}:{value}" for index, value in pairs]
)
query = st.sampled_from([[], [], [], ["qid:3"]])
good_line = st.builds(glue, plain, query, good_entries, blank, line_end)
bad_line = st.builds(glue, numbers, query, st.lists(st.one_of(entry, entry, noise), max_size=8), blank, line_end)
texts = st.builds(
    lambda lines, tail: ("".join(lines) + tail).encode(),
    st.lists(st.one_of(good_line, good_line, good_line, bad_line), max_size=12),
    st.sampled_from(["", "1", "1 3:0.25", "#", " "]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(good_line, min_size=1, max_size=20).map("".join).map(str.encode))
def test_good_text_agrees_with_the_naive_parser(content):
    check_against_naive(content)


@settings(max_examples=200, deadline=None)
@given(texts, st.booleans())
@example(b"1 1:2 1:3", False)
@example(b"qid:3 1:2\n1,,2 3:4", True)
def test_any_text_agrees_with_the_naive_parser(content, multilabel):
    check_against_naive(content, multilabel)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.booleans())
@example(b"\x1f\x8b", False)
@example(b"\xfd7zXZ\x00abc", False)
@example(b"BZh9abc", False)
def test_any_bytes_give_a_result_or_a_value_error(content, multilabel):
    try:
        said = ""
        read(content, multilabel=multilabel, n_jobs=2)
    except ValueError as error:
        said = str(error)
    assert not said or said.startswith("<stream>:")


@settings(max_examples=100, deadline=None)
@given(texts, st.integers(1, 200), st.integers(1, 4))
def test_chunks_and_threads_change_nothing(content, chunk_bytes, n_threads):
    """Cut into chunks of any size, on any number of threads: the same arrays, or the same first error."""

    def outcome(**how):
        buffer = np.frombuffer(content, dtype=np.uint8) if content else np.empty(0, np.uint8)
        options = {"base": 1, "lowest": 0, "highest": 2**31 - 2, "queries": False, "many_labels": False}
        try:
            got = _core.parse_svmlight_float64(buffer, **options, **how)
        except ValueError as error:
            return str(error)
        arrays = [got.values, got.indices, got.indptr, got.labels]
        return [array.tobytes() for array in arrays], got.lowest, got.highest

    assert outcome(n_threads=n_threads, chunk_bytes=chunk_bytes) == outcome(n_threads=1)


@settings(max_examples=150, deadline=None)
@given(st.lists(plain.filter(lambda text: abs(float(text)) < 1e38), min_size=1, max_size=20))
@example(["8.000000476837159"] * 9)  # its nearest double lies halfway between two floats
@example(["1.00000005960464477539062500", "1.0000000596046448", "16777217.0", "1e-46", "1.1754943e-38"])
def test_float32_is_rounded_once(values):
    """From decimal to float32 directly: NumPy's own conversion of the text is the judge."""
    line = "1 " + " ".join(f"{i}:{value}" for i, value in enumerate(values, 1))
    X, _ = read(line.encode(), dtype=np.float32)
    assert X.data.dtype == np.float32
    for got, text in zip(X.data, values, strict=True):
        assert got.tobytes() == nearest_float32(text).tobytes()


def nearest_float32(text):
    exact = Fraction(text)
    guess = np.float32(float(text))
    around = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    even = [int(candidate.view(np.uint32)) & 1 for candidate in around]
    ranked = min(zip((abs(Fraction(float(c)) - exact) for c in around), even, range(3), strict=True))
    return np.copysign(around[ranked[2]], np.float32(float(text) if float(text) else -1.0 if text[0] == "-" else 1))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 500), st.floats(allow_nan=False, allow_infinity=False)),
            max_size=8,
            unique_by=lambda pair: pair[0],
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
    st.data(),
)
def test_round_trip_is_exact(rows, dtype, zero_based, data):
    rows = [sorted(row) for row in rows]
    with np.errstate(over="ignore"):
        values = np.array([value for row in rows for _, value in row]).astype(dtype)
    values[~np.isfinite(values)] = 0
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    columns = np.array([index for row in rows for index, _ in row], dtype=np.int32)
    X = sp.csr_array((values, columns, indptr), shape=(len(rows), 501))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    y = np.array(data.draw(st.lists(finite, min_size=len(rows), max_size=len(rows))))
    queries = st.integers(-(2**63), 2**63 - 1)
    qid = np.array(data.draw(st.lists(queries, min_size=len(rows), max_size=len(rows))))
    content = written(X, y, zero_based=zero_based, qid=qid, comment="a\nb")
    A, a, back = read(content, dtype=dtype, n_features=501, zero_based=zero_based, qid=True)
    identical(A, X)
    assert a.tobytes() == y.tobytes()
    assert back.tolist() == qid.tolist()
