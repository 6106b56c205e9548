"""Reading LIBSVM text: every accepted and refused syntax, every argument, and agreement with scikit-learn."""

import bz2
import gzip
import io
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from svmlight_text import identical, read, refusal, written
from widemargin.data.svmlight import read_svmlight, write_svmlight

DATA = os.environ.get("WIDEMARGIN_DATA")
needs_posix = pytest.mark.skipif(os.name == "nt", reason="a pipe with a path")
needs_data = pytest.mark.skipif(not DATA, reason="WIDEMARGIN_DATA is not set")


# Syntax, one by one


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("+1", 1.0),
        ("-1", -1.0),
        ("1e-3", 1e-3),
        ("1E+05", 1e5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-.5e1", -5.0),
        ("007", 7.0),
        ("0.1", 0.1),
        ("123456789.123456789", 123456789.123456789),
        ("9007199254740993", 9007199254740993.0),
        ("0.30000000000000004", 0.30000000000000004),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("5e-324", 5e-324),
        ("1e-400", 0.0),
        ("2.2250738585072011e-308", 2.2250738585072011e-308),
        ("0" * 400 + "1." + "0" * 400, 1.0),
        ("1" + "0" * 400 + "e-400", 1.0),
        ("0." + "0" * 400 + "1e401", 1.0),
        ("0e999999999999999999999", 0.0),
        ("99999999999999999999", 1e20),
        ("9999999.999999999999999", 9999999.999999999999999),
    ],
)
@pytest.mark.parametrize("tail", [b"", b"\n", b" 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1 13:1 14:1 15:1\n"])
def test_accepted_numbers(text, value, tail):
    X, _ = read(b"1 1:" + text.encode() + tail)
    assert X.data[0] == value
    _, y = read(text.encode() + b" 1:1" + tail.replace(b"\n", b"#\n"))
    assert y[0] == value


def test_negative_zero_keeps_its_sign():
    X, y = read(b"-0 1:-0 2:-0.0 3:0" + b" " * 50)
    assert np.signbit(X.data).tolist() == [True, True, False]
    assert np.signbit(y).tolist() == [True]


@pytest.mark.parametrize(
    "content",
    [
        b"1 1:0.5 3:2\n-1 2:4\n",
        b"1 1:0.5 3:2\n-1 2:4",
        b"1 1:0.5 3:2\r\n-1 2:4\r\n",
        b"\t1\t1:0.5   3:2 \n\n \n-1 2:4 \n\n",
        b"# header 9:9\n1 1:0.5 3:2 # 4:5\n#\n-1 2:4# end",
        b"1 3:2 1:0.5\n-1 2:4\n",
        b"+1 qid:1 1:5e-1 3:2.0\n-1 qid:2 2:4.\n",
        b"1.0 0001:.5 03:2\n-1 2:4\r",
    ],
)
def test_accepted_lines(content):
    X, y = read(content)
    assert X.toarray().tolist() == [[0.5, 0, 2], [0, 4, 0]]
    assert y.tolist() == [1, -1]
    assert isinstance(X, sp.csr_array)
    assert X.indices.dtype == np.int32
    assert X.has_canonical_format


LONG = b" 11:1 12:1 13:1 14:1 15:1 16:1 17:1 18:1 19:1 20:1 21:1 22:1\n"


@pytest.mark.parametrize("tail", [b"", b"\n1 1:1\n", LONG])
@pytest.mark.parametrize(
    ("content", "place", "said"),
    [
        (b"x 1:1", "1:1", "read 'x', expected a label"),
        (b"1 1:1\n1 2:1\n  nan 1:1", "3:3", "read 'nan', expected a label"),
        (b"1 1:1\ninf 1:1", "2:1", "read 'inf', expected a label"),
        (b"1 1:1\n1e999 1:1", "2:1", "read '1e999', expected a label"),
        (b"1x 1:1", "1:1", "read '1x', expected a label"),
        (b"1:1 2:2", "1:1", "read '1:1', expected a label before"),
        (b"1,2 2:2", "1:1", "read '1,2', expected one label (multilabel=True"),
        (b"1 1:nan", "1:5", "read 'nan', expected a finite number"),
        (b"1 1:-inf", "1:5", "read '-inf', expected a finite number"),
        (b"1 1:1e999", "1:5", "read '1e999', expected a finite number"),
        (b"\n# c\n1 1:1 2:", "3:9", "read the end of the line, expected a finite number"),
        (b"1 1:1 2: 3", "1:9", "read the end of the line, expected a finite number"),
        (b"1 1:1 2:1.2.3", "1:9", "read '1.2.3', expected a finite number"),
        (b"1 1:1 2:0x10", "1:9", "read '0x10', expected a finite number"),
        (b"1 1:1 2:1e", "1:9", "read '1e', expected a finite number"),
        (b"1 1:1 2:3:4", "1:9", "read '3:4', expected a finite number"),
        (b"1 1:1 7", "1:7", "read '7', expected index:value"),
        (b"1 1:1 a:7", "1:7", "read 'a:7', expected index:value"),
        (b"1 1:1 -1:7", "1:7", "read '-1:7', expected index:value"),
        (b"1 1:1 +1:7", "1:7", "read '+1:7', expected index:value"),
        (b"1 1:1 \xff\x00:7", "1:7", "read '\\xff\\x00:7', expected index:value"),
        (b"1 1:1 2147483647:7", "1:7", "expected an index of at most 2147483646"),
        (b"1 99999999999999999999999:7", "1:3", "expected an index of at most 2147483646"),
        (b"1 5:1 4:1 5:2 4:3", "1:11", "read '5:2', expected each index once"),
        (b"1 5:1 5:2", "1:7", "read '5:2', expected each index once"),
        (b"1 qid:x 5:1", "1:3", "read 'qid:x', expected qid:"),
        (b"1 qid: 5:1", "1:3", "read 'qid:', expected qid:"),
        (b"1 qid:99999999999999999999 5:1", "1:3", "expected qid: and an integer"),
        (b"1 5:1 qid:3", "1:7", "read 'qid:3', expected index:value"),
    ],
)
def test_refused_syntax(content, place, said, tail):
    for n_jobs in (1, 2):
        message = refusal(content + (b" " if tail == LONG else b"") + tail, n_jobs=n_jobs)
        assert message.startswith(f"<stream>:{place}: ")
        assert said in message


def test_the_first_error_in_the_file_is_reported():
    lines = [b"1 1:0.5 2:0.25 3:0.125\n"] * 200_000
    lines[150_000] = b"1 1:oops\n"
    lines[199_999] = b"oops\n"
    for n_jobs in (1, 2, 3):
        assert refusal(b"".join(lines), n_jobs=n_jobs).startswith("<stream>:150001:5: read 'oops'")


@pytest.mark.parametrize("content", [b"", b"\n", b"# only a comment\n\n", b"   "])
def test_no_rows(content, tmp_path):
    path = tmp_path / "empty.svm"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{re.escape(str(path))}: no rows"):
        read_svmlight(path)


def test_rows_without_features():
    X, y = read(b"1\n2 # nothing\n")
    assert X.shape == (2, 0)
    assert y.tolist() == [1, 2]


# Arguments


def test_zero_based():
    assert read(b"1 0:1 2:1")[0].toarray().tolist() == [[1, 0, 1]]
    assert read(b"1 1:1 2:1")[0].toarray().tolist() == [[1, 1]]
    assert read(b"1 1:1 2:1", zero_based=True)[0].toarray().tolist() == [[0, 1, 1]]
    assert read(b"1 1:1 2:1", zero_based=False)[0].toarray().tolist() == [[1, 1]]
    message = refusal(b"1 1:1\n1 2:1 0:3", zero_based=False)
    assert message == "<stream>:2:7: read '0:3', expected indices from 1 on, because zero_based=False"
    with pytest.raises(ValueError, match="zero_based="):
        read(b"1 1:1", zero_based="maybe")


def test_largest_index():
    assert read(b"1 2147483646:1", zero_based=True)[0].shape == (1, 2**31 - 1)
    assert read(b"1 2147483646:1 0:1")[0].indices.tolist() == [0, 2147483646]


def test_n_features():
    assert read(b"1 1:1", n_features=5)[0].shape == (1, 5)
    assert read(b"1", n_features=5)[0].shape == (1, 5)
    message = refusal(b"1 1:1\n1 5:2 6:1", n_features=5)
    assert message == "<stream>:2:7: read '6:1', expected an index within n_features=5, counting from 1"
    message = refusal(b"1 1:1\n1 5:2 0:1", n_features=5)
    assert message == "<stream>:2:3: read '5:2', expected an index within n_features=5, counting from 0"
    for wrong in (-1, 2**31):
        with pytest.raises(ValueError, match="n_features="):
            read(b"1 1:1", n_features=wrong)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, "float32"])
def test_dtype(dtype):
    X, y = read(b"1 1:0.1", dtype=dtype)
    assert X.dtype == dtype
    assert X.data[0] == np.dtype(dtype).type("0.1")
    assert y.dtype == np.float64


def test_refused_arguments():
    with pytest.raises(ValueError, match="dtype=int64"):
        read(b"1 1:1", dtype=np.int64)
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        read(b"1 1:1", n_jobs=0)
    with pytest.raises(ValueError, match="no files"):
        read_svmlight([])
    with pytest.raises(TypeError, match="binary mode"):
        read_svmlight(io.StringIO("1 1:1"))
    with pytest.raises(FileNotFoundError):
        read_svmlight("there/is/no/such/file")
    assert read(b"1 1:1", n_jobs=-1)[0].shape == (1, 1)


def test_float32_overflow_is_refused():
    assert read(b"1 1:1e39")[0].data[0] == 1e39
    assert "expected a finite number" in refusal(b"1 1:1e39", dtype=np.float32)


def test_qid():
    X, y, qid = read(b"1 qid:7 1:2\n0 qid:-9223372036854775808\n", qid=True)
    assert qid.tolist() == [7, -(2**63)]
    assert qid.dtype == np.int64
    assert X.shape == (2, 1)
    assert y.tolist() == [1, 0]
    message = refusal(b"1 qid:7 1:2\n0 1:3\n", qid=True)
    assert message == "<stream>:2:3: read '1:3', expected qid:N after the label, because qid=True"
    assert refusal(b"0\n", qid=True).startswith("<stream>:1:2: read the end of the line")


def test_multilabel():
    X, y = read(b"1,3,7 1:0.5\n 2:1 # no label\n2\n+1.5,-2 qid:3\nqid:4 1:1\n", multilabel=True)
    assert y == [(1, 3, 7), (), (2,), (1.5, -2), ()]
    assert X.toarray().tolist() == [[0.5, 0], [0, 1], [0, 0], [0, 0], [1, 0]]
    for content, place in [(b"1,,2 1:1", "1:3"), (b"1, 1:1", "1:3"), (b",1 1:1", "1:1"), (b"1,x 1:1", "1:3")]:
        assert refusal(content, multilabel=True).startswith(f"<stream>:{place}: ")


def test_several_files(tmp_path):
    (tmp_path / "a").write_bytes(b"1 1:1\n")
    (tmp_path / "b").write_bytes(b"2 0:1 4:1\n")
    (A, a), (B, b) = read_svmlight([tmp_path / "a", str(tmp_path / "b")])
    assert A.toarray().tolist() == [[0, 1, 0, 0, 0]]
    assert B.toarray().tolist() == [[1, 0, 0, 0, 1]]
    assert (a.tolist(), b.tolist()) == ([1], [2])
    [only] = read_svmlight([tmp_path / "a"])
    assert only[0].shape == (1, 1)
    with pytest.raises(ValueError, match=r"b:1:7: read '4:1', expected an index within n_features=3"):
        read_svmlight([tmp_path / "a", tmp_path / "b"], n_features=3)


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_compression_is_known_by_content_and_written_by_suffix(tmp_path, suffix, module):
    X, y = sp.random_array((50, 20), density=0.3, rng=0, format="csr"), np.arange(50.0)
    path = tmp_path / f"data{suffix}"
    write_svmlight(path, X, y)
    content = path.read_bytes()
    assert module.decompress(content) == written(X, y)
    identical(read_svmlight(path, n_features=20)[0], read(written(X, y), n_features=20)[0])
    misnamed = tmp_path / "data.txt"
    misnamed.write_bytes(content)
    assert read_svmlight(misnamed)[1].tolist() == y.tolist()
    misnamed.write_bytes(content[:-9])
    with pytest.raises(ValueError, match=r"data\.txt: damaged"):
        read_svmlight(misnamed)
    write_svmlight(tmp_path / f"again{suffix}", X, y)
    assert (tmp_path / f"again{suffix}").read_bytes() == content


@pytest.mark.parametrize("path", ["-", pytest.param("/dev/stdin", marks=needs_posix)])
def test_standard_input_and_output(path):
    code = (
        "from widemargin.data.svmlight import read_svmlight, write_svmlight;"
        f"X, y = read_svmlight({path!r}); write_svmlight('-', X, y)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"+1 1:0.50", capture_output=True, check=True)
    assert done.stdout == b"1 1:0.5\n"


# Against scikit-learn


def agree_with_sklearn(content, dtype):
    ours, y = read(content, dtype=dtype, n_jobs=2)
    theirs, z = load_svmlight_file(io.BytesIO(content), dtype=dtype)
    assert y.tobytes() == z.tobytes()
    assert ours.shape == theirs.shape
    assert ours.indices.tolist() == theirs.indices.tolist()
    assert ours.indptr.tolist() == theirs.indptr.tolist()
    assert ours.data.tobytes() == theirs.data.tobytes()


def test_agreement_with_sklearn_on_generated_rows():
    X = sp.random_array((500, 300), density=0.05, rng=2, format="csr")
    agree_with_sklearn(written(X, np.arange(500) % 3), np.float64)


@needs_data
@pytest.mark.parametrize("name", ["heart_scale", "a9a", "housing_scale", "splice", "reuters_moneyfx.t"])
def test_agreement_with_sklearn_on_real_data(name):
    content = lzma.decompress((Path(DATA) / f"{name}.svm.xz").read_bytes())
    agree_with_sklearn(content, np.float64)


@needs_data
def test_real_data_survive_the_round_trip(tmp_path):
    X, y = read_svmlight(Path(DATA) / "heart_scale.svm.xz")
    write_svmlight(tmp_path / "heart.svm", X, y)
    A, a = read_svmlight(tmp_path / "heart.svm")
    identical(A, X)
    assert a.tobytes() == y.tobytes()
