"""Files of blocks: what goes in comes out, by every verb, from every source; damage is named."""

from __future__ import annotations

import gzip
import lzma
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from support import random_data
from widemargin import BlockFile, Matrix, append_blocks, write_blocks, write_svmlight
from widemargin.data.block_file import file_bytes
from widemargin.data.block_file.layout import DamagedFile
from widemargin.data.block_file.making import cached_blocks
from widemargin.data.block_file.read_ahead import read_ahead
from widemargin.data.rows import BLOCKS, VERBS

FORMS = {
    "sparse": lambda X: X,
    "dense": lambda X: X.toarray(),
    "uniform": lambda X: sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape),
}


def in_batches(X, y, size=7, weight=None):
    for k in range(0, len(y), size):
        rows = slice(k, k + size)
        yield (X[rows], y[rows]) if weight is None else (X[rows], y[rows], weight[rows])


def plain(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
def test_rows_labels_and_weights_come_back(tmp_path, form, dtype, codec):
    if codec == "zstd":
        pytest.importorskip("zstandard")
    X, y = random_data(3, rows=500, columns=40)
    X, weight = FORMS[form](X.astype(dtype)), np.arange(500) % 3.0
    X = X.astype(dtype)
    file = write_blocks(tmp_path / "a.wmb", in_batches(X, y, 61, weight), codec=codec, chunk_bytes=2000)
    assert file.reader.about.form == form and file.dtype == dtype and file.offers == {VERBS, BLOCKS}
    assert file.n_chunks > 5
    assert plain(file.load().to_scipy()).tobytes() == plain(X).tobytes()
    assert file.y.tobytes() == y.tobytes() and np.array_equal(file.sample_weight, weight)
    assert file.nnz == (X.size if form == "dense" else X.nnz)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_verb_is_that_of_the_matrix(data, tmp_path_factory):
    seed = data.draw(st.integers(0, 1000))
    X, y = random_data(seed, rows=data.draw(st.sampled_from([2, 40, 200])), columns=12)
    X = FORMS[data.draw(st.sampled_from(sorted(FORMS)))](X)
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.mktemp("verbs") / "a.wmb"
    file = write_blocks(path, in_batches(X, y, data.draw(st.sampled_from([1, 13, 1000]))), chunk_bytes=200)
    whole, n = Matrix(X), len(y)
    w, u, h = rng.standard_normal(12), rng.standard_normal(n), rng.standard_normal(n)
    h[: n // 2] = 0  # chunks that need not be read
    W, U, H = rng.standard_normal((12, 3)), rng.standard_normal((n, 3)), rng.uniform(0, 1, (n, 3))
    p = H / H.sum(axis=1, keepdims=True)
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)  # noqa: E731
    for n_jobs in (1, 2):
        close(file.matvec(w, 0.5, n_jobs=n_jobs), whole.matvec(w, 0.5))
        close(file.rmatvec(u, n_jobs=n_jobs), whole.rmatvec(u))
        close(file.rmatvec(u, accurate=True), whole.rmatvec(u, accurate=True))
        close(file.matmat(W, n_jobs=n_jobs), whole.matmat(W))
        close(file.rmatmat(U, n_jobs=n_jobs), whole.rmatmat(U))
        close(file.hess_vec(h, w, 0.3, n_jobs=n_jobs)[0], whole.hess_vec(h, w, 0.3)[0])
        assert file.hess_vec(h, w, 0.3)[1] == pytest.approx(whole.hess_vec(h, w, 0.3)[1])
        for one, other in zip(file.class_hess_vec(p, u, W, 0.1), whole.class_hess_vec(p, u, W, 0.1), strict=True):
            close(one, other)
    close(file.column_sqnorms(), whole.column_sqnorms())
    close(file.column_sqnorms(h), whole.column_sqnorms(h))
    close(file.class_column_sqnorms(H), whole.class_column_sqnorms(H))
    close(np.triu(file.sandwich(h, constant=2.0)), np.triu(whole.sandwich(h, constant=2.0)))
    columns = np.array([1, 4, 5])
    close(file.sandwich(h, columns), whole.sandwich(h, columns))
    close(file.select(columns).matvec(w[:3]), whole.select(columns).matvec(w[:3]))
    rows = rng.integers(0, n, 9)
    assert np.array_equal(plain(file.take(rows).to_scipy()), plain(whole.take(rows).to_scipy()))
    chosen, some = file.sample(10)
    assert np.array_equal(plain(some.to_scipy()), plain(whole.take(chosen).to_scipy()))
    assert sum(part.shape[0] for _, part in file.blocks()) == n


def test_accuracy_is_kept_across_chunks(tmp_path):
    # The first and the last chunk cancel, but for what is small: the sum of doubles would lose it.
    X = np.full((3000, 1), 1.0)
    u = np.concatenate([np.full(1000, 1e17), np.full(1000, 0.125), np.full(1000, -1e17)])
    file = write_blocks(tmp_path / "a.wmb", in_batches(X, np.ones(3000), 100), chunk_bytes=100)
    assert file.n_chunks > 3
    assert file.rmatvec(u, accurate=True)[0] == 125.0


def test_chunks_that_are_not_needed_are_not_read(tmp_path):
    X, y = random_data(0, rows=4000, columns=60)
    file = write_blocks(tmp_path / "a.wmb", [(X, y)])
    assert file.n_chunks > 10
    h = np.zeros(4000)
    h[5] = 1.0
    before = file.reader.bytes_read
    file.hess_vec(h, np.ones(60))
    assert file.reader.bytes_read - before < file.n_bytes / 3


def test_a_sample_reads_a_part_of_the_file(tmp_path):
    X, y = random_data(0, rows=20_000, columns=60)
    file = write_blocks(tmp_path / "a.wmb", [(X, y)])
    assert file.n_chunks >= 100
    before = file.reader.bytes_read
    chosen, some = file.sample(500)
    assert file.reader.bytes_read - before < 0.7 * file.n_bytes and 400 <= len(chosen) <= 1100
    assert chosen[-1] > 15_000 and np.array_equal(some.to_scipy().toarray(), X[chosen].toarray())
    assert len(file.sample(10**6)[0]) == 20_000


def test_a_file_has_a_hundred_chunks_whatever_its_length(tmp_path):
    X, y = random_data(1, rows=30_000, columns=30)
    file = write_blocks(tmp_path / "a.wmb", in_batches(X, y, 999))
    assert file.n_chunks >= 100
    sizes = file.chunk_sizes
    assert sizes.max() <= 0.03 * sizes.sum()


@pytest.mark.parametrize("pack", [None, gzip, lzma])
def test_text_of_any_compression(tmp_path, pack):
    X, y = random_data(2, rows=300, columns=25)
    path = tmp_path / "a.svm"
    write_svmlight(path, X, y)
    if pack is not None:
        path.write_bytes(pack.compress(path.read_bytes()))
    file = write_blocks(tmp_path / "a.wmb", path)
    assert np.array_equal(plain(file.load().to_scipy()), X.toarray()) and np.array_equal(file.y, y)
    assert file.source["files"][0]["name"] == "a.svm"


def test_indices_that_count_from_zero_are_found_late(tmp_path, monkeypatch):
    from widemargin.data.block_file import sources

    whole = sources.text_blocks
    monkeypatch.setattr(sources, "text_blocks", lambda path: whole(path, 8))
    (tmp_path / "a.svm").write_text("1 1:2\n-1 2:3\n1 0:5\n")
    file = write_blocks(tmp_path / "a.wmb", tmp_path / "a.svm")
    assert file.load().to_scipy().toarray().tolist() == [[0, 2, 0], [0, 0, 3], [5, 0, 0]]
    with pytest.raises(ValueError, match=r"a\.svm:3:3: "):
        write_blocks(tmp_path / "b.wmb", tmp_path / "a.svm", zero_based=False)
    assert os.listdir(tmp_path) and not (tmp_path / "b.wmb").exists()


def test_a_wrong_line_is_named_and_nothing_is_left(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n" * 5 + "1 x\n")
    with pytest.raises(ValueError, match=r"a\.svm:6:3"):
        write_blocks(tmp_path / "a.wmb", tmp_path / "a.svm")
    assert os.listdir(tmp_path) == ["a.svm"]


def test_tables_and_arrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    table = pa.table({"a": [1.0, 2.0, None, 4.0], "b": [1, 0, 3, 1], "who": ["x", "y", "x", "z"], "w": [1.0, 2, 1, 1]})
    expected = [[1, 1], [2, 0], [0, 3], [4, 1]]
    (tmp_path / "parts").mkdir()
    parquet.write_table(table[:2], tmp_path / "parts" / "1.parquet")
    parquet.write_table(table[2:], tmp_path / "parts" / "2.parquet")
    (tmp_path / "t.csv").write_text("a,b,who,w\n1,1,x,1\n2,0,y,2\n,3,x,1\n4,1,z,1\n")
    (tmp_path / "t.tsv").write_text((tmp_path / "t.csv").read_text().replace(",", "\t"))
    paths = [sorted((tmp_path / "parts").iterdir()), tmp_path / "t.csv", tmp_path / "t.tsv"]
    for source in [*paths, table, table.to_reader()]:
        file = write_blocks(tmp_path / "a.wmb", source, label="who", weight="w")
        assert plain(file.load().to_scipy()).tolist() == expected
        assert file.y.tolist() == ["x", "y", "x", "z"] and file.sample_weight.tolist() == [1, 2, 1, 1]
    with pytest.raises(ValueError, match="no column 'which'"):
        write_blocks(tmp_path / "b.wmb", table, label="which")
    with pytest.raises(ValueError, match="'who' does not hold numbers"):
        write_blocks(tmp_path / "b.wmb", table, label="b")
    with pytest.raises(ValueError, match="label"):
        write_blocks(tmp_path / "b.wmb", table)


def test_appending(tmp_path):
    X, y = random_data(4, rows=200, columns=9)
    path = tmp_path / "a.wmb"
    write_blocks(path, [(X[:50], y[:50])])
    before = path.read_bytes()

    def broken():
        yield X[50:60], y[50:60]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        append_blocks(path, broken())
    assert np.array_equal(BlockFile(path).y, y[:50])
    wide = sp.csr_array((X.data, X.indices + 3, X.indptr), shape=(200, 12))[60:]
    file = append_blocks(path, [(X[50:60], y[50:60]), (wide, y[60:])])
    assert file.shape == (200, 12) and np.array_equal(file.y, y)
    found = file.load().to_scipy().toarray()
    assert np.array_equal(found[:60, :9], X[:60].toarray()) and np.array_equal(found[60:], wide.toarray())
    assert path.read_bytes()[48:2000] == before[48:2000]


def test_words_as_labels_go_on_when_rows_are_added(tmp_path):
    write_blocks(tmp_path / "a.wmb", [(np.eye(2), ["cat", "dog"])])
    file = append_blocks(tmp_path / "a.wmb", [(np.eye(2), ["emu", "cat"])])
    assert file.y.tolist() == ["cat", "dog", "emu", "cat"]
    with pytest.raises(ValueError, match="words"):
        append_blocks(tmp_path / "a.wmb", [(np.eye(2), [1.0, 2.0])])


REFUSED = [
    (lambda X, y: [(X, y[:-1])], "y has shape"),
    (lambda X, y: [(X, np.where(y == y[3], np.nan, y))], "not finite"),
    (lambda X, y: [(X, y), (X, y, y)], "some batches have weights"),
    (lambda X, y: [(X.toarray(), y), (X.toarray()[:, 1:], y)], "features, those before had"),
    (lambda X, y: [(X.astype(np.float32), y), (X, y)], "float32 and a batch is float64"),
    (lambda X, y: [], "nothing to write"),
    (lambda X, y: [(X * np.inf, y)], "finite"),
]


@pytest.mark.parametrize(("batches", "why"), REFUSED)
def test_batches_that_do_not_fit_are_refused(tmp_path, batches, why):
    X, y = random_data(5)
    with pytest.raises(ValueError, match=why), np.errstate(invalid="ignore"):
        write_blocks(tmp_path / "a.wmb", batches(X, y))
    assert not os.listdir(tmp_path)


def test_a_cache_is_used_again_and_only_for_its_own_source(tmp_path):
    X, y = random_data(6)
    source, cache = tmp_path / "a.svm", tmp_path / "a.wmb"
    write_svmlight(source, X, y)
    cached_blocks(cache, source)
    made = os.stat(cache).st_mtime_ns
    assert np.array_equal(cached_blocks(cache, source, make_anew=False).y, y)
    assert os.stat(cache).st_mtime_ns == made
    with pytest.raises(ValueError, match=r"a\.wmb: it was made with zero_based=None, asked for is zero_based=False"):
        cached_blocks(cache, source, make_anew=False, zero_based=False)
    write_svmlight(source, X, -y)
    with pytest.raises(ValueError, match=r"a\.svm has changed since; make it anew"):
        cached_blocks(cache, source, make_anew=False)
    assert np.array_equal(cached_blocks(cache, source).y, -y)
    os.rename(source, tmp_path / "b.svm")
    with pytest.raises(ValueError, match=r"it was made from a\.svm, asked for is b\.svm"):
        cached_blocks(cache, tmp_path / "b.svm", make_anew=False)
    cache.write_bytes(b"something else")
    with pytest.raises(ValueError, match="not a file of blocks"):
        cached_blocks(cache, tmp_path / "b.svm", make_anew=False)
    assert np.array_equal(cached_blocks(cache, tmp_path / "b.svm").y, -y)


def test_damage_names_the_chunk(tmp_path):
    X, y = random_data(7, rows=3000, columns=40)
    path = tmp_path / "a.wmb"
    file = write_blocks(path, [(X, y)])
    content, line = bytearray(path.read_bytes()), file.reader.index[4]
    content[int(line["offset"] + line["target_bytes"]) + 3] ^= 1
    path.write_bytes(content)
    broken = BlockFile(path)
    assert np.array_equal(broken.y, y)
    with pytest.raises(DamagedFile, match=rf"a\.wmb: chunk 5 of {file.n_chunks} is damaged: the bytes of its rows"):
        broken.matvec(np.ones(40))
    content[int(line["offset"]) + 3] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match=r"chunk 5 .* labels"):
        _ = BlockFile(path).y


def test_truncated_while_read(tmp_path):
    X, y = random_data(8, rows=3000, columns=40)
    path = tmp_path / "a.wmb"
    file = write_blocks(path, [(X, y)])
    os.truncate(path, int(file.reader.index["offset"][10]) + 5)
    with pytest.raises(DamagedFile, match=r"chunk 11 .* cut short"):
        file.matvec(np.ones(40))
    with pytest.raises(DamagedFile, match="cut short"):
        BlockFile(path)


def test_another_version_is_refused(tmp_path):
    path = tmp_path / "a.wmb"
    write_blocks(path, [(np.eye(2), [1, -1])])
    content = bytearray(path.read_bytes())
    content[8] = 77
    path.write_bytes(content)
    with pytest.raises(ValueError, match="written in version 77 of the format, this program reads version 1"):
        BlockFile(path)
    for start in (b"", b"1 1:2\n", content[:8], content[:30]):
        path.write_bytes(start)
        with pytest.raises(ValueError, match=r"a\.wmb: "):
            BlockFile(path)


def test_mutated_files_are_refused_or_read(tmp_path):
    X, y = random_data(9, rows=30, columns=10)
    path = tmp_path / "a.wmb"
    content = None
    write_blocks(path, in_batches(X, y, 5), chunk_bytes=100)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(6000):
        bad = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            bad[rng.integers(0, len(bad))] = rng.integers(0, 256)
        path.write_bytes(bad[: rng.integers(1, len(bad) + 1)] if rng.random() < 0.2 else bad)
        try:
            file = BlockFile(path)
            assert np.array_equal(file.y, y)
            assert np.array_equal(file.load().to_scipy().toarray(), X.toarray())
        except ValueError as error:
            refused += "a.wmb" in str(error)
    assert refused > 5600


def test_direct_reads_and_their_fall_back(tmp_path, monkeypatch):
    X, y = random_data(10, rows=2000, columns=40)
    path = tmp_path / "a.wmb"
    write_blocks(path, [(X, y)])
    w = np.ones(40)
    expected = Matrix(X).matvec(w)
    assert np.allclose(BlockFile(path, direct=False).matvec(w), expected)
    assert np.allclose(BlockFile(path, direct=True).matvec(w), expected)
    real = file_bytes._read_into
    file = BlockFile(path, direct=True)
    if not file.reader.direct:
        pytest.skip("this file system has no direct reads")

    def refusing(handle, room, at):
        if file.reader.direct:
            raise OSError(22, "Invalid argument")
        return real(handle, room, at)

    monkeypatch.setattr(file_bytes, "_read_into", refusing)
    assert np.allclose(file.matvec(w), expected) and not file.reader.direct


def test_reading_ahead_holds_two_things_and_tells_what_went_wrong():
    alive, most = set(), 0

    class Thing:
        def __init__(self, k):
            nonlocal most
            alive.add(k)
            most = max(most, len(alive))
            self.k = k

        def __del__(self):
            alive.discard(self.k)

    seen = []
    for thing in read_ahead((lambda k=k: Thing(k)) for k in range(50)):
        seen.append(thing.k)
        del thing
    assert seen == list(range(50)) and most <= 2

    def fails():
        raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        list(read_ahead([lambda: 1, fails]))
    early = read_ahead([lambda: 1, lambda: 2, lambda: 3])
    assert next(early) == 1
    early.close()  # the thread ends


def test_a_file_is_pickled_by_its_name(tmp_path):
    file = write_blocks(tmp_path / "a.wmb", [(np.eye(3), [1, -1, 1])], memory="100M")
    other = pickle.loads(pickle.dumps(file))
    assert other.memory == file.memory == 100 << 20 and np.array_equal(other.y, file.y)
