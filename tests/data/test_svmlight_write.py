"""Writing LIBSVM text: its form, what is refused, and that nothing half-written stays behind."""

import os
import stat
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from svmlight_text import identical, read, written
from widemargin import _core
from widemargin.data.svmlight import write_svmlight


def test_written_form():
    X = sp.csr_array(np.array([[0.1, 0, 1e-7], [0, 0, 0], [3, 1e22, -2.5]]))
    assert written(X, [1, -1, 0.5]) == b"1 1:0.1 3:1e-07\n-1\n0.5 1:3 2:1e+22 3:-2.5\n"
    assert written(X.astype(np.float32)[:1], [1]) == b"1 1:0.1 3:1e-07\n"
    assert written(X[:1], [True], zero_based=True, qid=[4]) == b"1 qid:4 0:0.1 2:1e-07\n"
    labels = [(1, 2), (), np.array([3])]
    content = written(X, labels, multilabel=True, comment="one\ntwo")
    assert content == b"# one\n# two\n1,2 1:0.1 3:1e-07\n1:0\n3 1:3 2:1e+22 3:-2.5\n"
    assert read(content, multilabel=True)[1] == [(1, 2), (), (3,)]


def test_explicit_zeros_stay_and_disorder_goes():
    X = sp.csr_array((np.array([1.0, 0, 2, 3]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    before = X.copy()
    assert written(X, [1, 2]) == b"1 1:0 3:1\n2 2:5\n"
    identical(X, before)
    for other in (X.tocsc(), X.tocoo(), sp.csr_matrix(X)):
        assert written(other, [1, 2]) == b"1 1:0 3:1\n2 2:5\n"
    assert written(np.array([[1, 0], [0, 2]]), [1, 2]) == b"1 1:1\n2 2:2\n"


def test_large_matrices_are_written_in_blocks(monkeypatch):
    X, y = sp.random_array((300, 40), density=0.2, rng=1, format="csr"), np.arange(300)
    whole = written(X, y, qid=y)
    monkeypatch.setattr("widemargin.data.svmlight._ENTRIES_PER_BLOCK", 7)
    assert written(X, y, qid=y) == whole


@pytest.mark.parametrize(
    ("X", "y", "options", "said"),
    [
        ([[1.0, np.nan]], [1], {}, r"X\[0, 1\] is nan"),
        ([[0, 0], [0, np.inf]], [1, 2], {}, r"X\[1, 1\] is inf"),
        ([[1.0]], [np.nan], {}, r"y\[0\] is nan"),
        ([[1.0], [1.0]], [(1, 2), (np.inf,)], {"multilabel": True}, r"y\[1\] is inf"),
        ([[1.0]], [1, 2], {}, "y has 2 elements, X has 1 rows"),
        ([[1.0]], [[1, 2]], {}, "multilabel=True"),
        ([[1.0]], [1], {"qid": [1, 2]}, "qid has 2 elements"),
        ([[1.0]], [1], {"qid": [1.5]}, "one integer per row"),
        ([[1j]], [1], {}, "complex"),
        ([1.0], [1], {}, "two dimensions"),
        ([["a"]], [1], {}, "expected real numbers"),
    ],
)
def test_what_cannot_be_written_leaves_nothing_behind(tmp_path, X, y, options, said):
    path = tmp_path / "kept.svm"
    path.write_text("as it was")
    with pytest.raises(ValueError, match=said):
        write_svmlight(path, X, y, **options)
    assert path.read_text() == "as it was"
    assert os.listdir(tmp_path) == ["kept.svm"]


def test_a_failure_while_writing_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError("disk on fire")

    monkeypatch.setitem(sys.modules["widemargin.data.svmlight"]._FORMAT, np.dtype(np.float64), fail)
    path = tmp_path / "kept.svm.gz"
    path.write_text("as it was")
    with pytest.raises(RuntimeError, match="on fire"):
        write_svmlight(path, [[1.0]], [1])
    assert path.read_text() == "as it was"
    assert os.listdir(tmp_path) == ["kept.svm.gz"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes and links")
def test_written_files_have_ordinary_modes_and_follow_links(tmp_path):
    (tmp_path / "link.svm").symlink_to(tmp_path / "real.svm")
    write_svmlight(tmp_path / "link.svm", [[1.0]], [1])
    (tmp_path / "other").write_text("")
    assert (tmp_path / "real.svm").read_bytes() == b"1 1:1\n"
    assert (tmp_path / "link.svm").is_symlink()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("real.svm", "other")]
    assert modes[0] == modes[1]


def test_the_core_refuses_arrays_that_do_not_fit():
    one_each, long, short, reals = (
        np.array([0, 1]),
        np.array([0, 2]),
        np.array([0], np.int32),
        np.array([1.0]),
    )
    empty = np.empty(0, np.int64)

    def text(indptr=one_each, indices=short, labels_indptr=one_each, queries=empty):
        return _core.format_svmlight_float64(indptr, indices, reals, reals, labels_indptr, queries, zero_based=True)

    assert text() == b"1 0:1\n"
    for wrong in (
        {"indptr": long},
        {"indptr": np.array([1, 0])},
        {"indptr": np.array([-1, 0])},
        {"indptr": empty},
        {"indices": np.array([0, 1], np.int32)},
        {"labels_indptr": long},
        {"labels_indptr": np.array([0, 1, 1])},
        {"queries": long},
    ):
        with pytest.raises(ValueError):
            text(**wrong)


def test_a_device_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    received: list[bytes] = []
    reader.start()
    write_svmlight(pipe, [[1.0, 2.0]], [1.0])
    reader.join()
    assert received == [b"1 1:1 2:2\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
