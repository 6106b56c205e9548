"""Files of blocks where users meet them: estimators, the command line, and runs that are killed."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from block_rows import on_disk
from support import random_data
from widemargin import (
    BlockFile,
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LogisticRegression,
    Problem,
    QuantileRegressor,
    Ridge,
    find_C,
    load_model,
    path,
    write_blocks,
    write_svmlight,
)
from widemargin.cli import main
from widemargin.data.block_file.size_in_memory import size_in_memory


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, response = random_data(11, rows=400, columns=15)
    y = np.where(response > 0, 1.0, -1.0)
    write_svmlight("a.svm", X, y)
    return X, y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_classifier_fits_a_file(data, loss):
    X, y = data
    file = on_disk(X, y=y)
    there, here = LinearSVC(loss=loss, tol=1e-6).fit(file), LinearSVC(loss=loss, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=5e-3)
    assert there.certificate_.relative_gap <= 1e-6
    assert np.array_equal(there.predict(file), there.predict(X))
    assert there.score(X, y) == here.score(X, y)
    with pytest.raises(ValueError, match="X has 14 features, but LinearSVC is expecting 15"):
        there.predict(on_disk(X[:, 1:], y=y))


def test_several_classes_numbers_and_weights(data):
    X, _ = data
    response = X @ np.arange(15.0)
    classes = np.digitize(response, [-5, 5])
    there = LogisticRegression(tol=1e-6, multi_class="ovr").fit(on_disk(X, y=classes.astype(float)))
    here = LogisticRegression(tol=1e-6, multi_class="ovr").fit(X, classes)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=5e-3)
    weight = np.arange(400) % 4.0
    file = write_blocks("w.wmb", [(X[:200], response[:200], weight[:200]), (X[200:], response[200:], weight[200:])])
    there, here = LinearSVR(tol=1e-7).fit(file), LinearSVR(tol=1e-7).fit(X, response, weight)
    assert there.certificate_.primal == pytest.approx(here.certificate_.primal, rel=1e-6)


MODELS = [
    LinearSVC(loss="hinge"),
    LogisticRegression(),
    LinearSVR(),
    Ridge(),
    Lasso(alpha=0.01),
    ElasticNet(alpha=0.01),
    HuberRegressor(),
    QuantileRegressor(alpha=0.01),
    LinearSVCCV(Cs=[0.1, 1.0], cv=3),
]


# Less than the rows would take, and enough for blocks of them: where rows are thought to need far more than they do.
LITTLE = "1M"


@pytest.fixture
def large(data, monkeypatch):
    monkeypatch.setattr("widemargin.data.block_file.place.TIMES", 100.0)
    return data


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_fit_by_path_in_memory_and_on_disk(large, model):
    X, y = large
    model = model.set_params(tol=1e-6)
    here, read = clone(model).fit(X, y), clone(model).fit("a.svm")
    assert os.listdir() == ["a.svm"] and np.allclose(read.coef_, here.coef_, rtol=1e-9, atol=1e-12)
    there = clone(model).set_params(memory=LITTLE).fit(Path("a.svm"))
    assert sorted(os.listdir()) == ["a.svm", "a.svm.wmb"]
    assert there.certificate_.primal == pytest.approx(here.certificate_.primal, rel=3e-6)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=5e-3)
    again = clone(model).fit("a.svm.wmb")
    assert np.allclose(again.coef_, here.coef_, rtol=1e-9, atol=1e-12)


def test_which_paths_stay_on_disk(large, monkeypatch):
    assert LinearSVC(solver="block_dual_cd").fit("a.svm").solver_ == "block_dual_cd"
    assert LinearSVC(loss="hinge").fit("a.svm.wmb").solver_ != "block_dual_cd"
    assert LinearSVC(loss="hinge", memory=LITTLE).fit("a.svm.wmb").solver_ == "block_dual_cd"
    monkeypatch.setattr("widemargin.data.block_file.place.available_memory", lambda: 1000)
    assert LinearSVC(loss="hinge").fit("a.svm.wmb").solver_ == "block_dual_cd"


def test_where_nothing_can_be_written_the_blocks_go_with_the_rows(large, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere"))
    os.mkdir("elsewhere")
    model = LinearSVC(loss="hinge", memory=LITTLE).fit("a.svm")
    assert model.solver_ == "block_dual_cd" and not os.path.exists("a.svm.wmb")
    del model
    gc.collect()
    assert os.listdir("elsewhere") == []


def test_weights_and_memory_of_a_file(large, monkeypatch):
    X, y = large
    weight = np.arange(400) % 4.0
    write_blocks("w.wmb", [(X, y, weight)], chunk_bytes=2000)
    here, read = LinearSVR(tol=1e-7).fit(X, y, weight), LinearSVR(tol=1e-7).fit("w.wmb")
    there = LinearSVR(tol=1e-7, memory=LITTLE).fit("w.wmb")
    for one in (read, there):
        assert one.certificate_.primal == pytest.approx(here.certificate_.primal, rel=1e-6)
    plain = LinearSVR(tol=1e-7).fit("w.wmb", sample_weight=np.ones(400))
    assert plain.certificate_.primal == pytest.approx(LinearSVR(tol=1e-7).fit(X, y).certificate_.primal, rel=1e-6)
    with pytest.raises(MemoryError, match=r"memory=9\.0K is too little"):
        LinearSVC(memory="9K", solver="block_dual_cd").fit(BlockFile("w.wmb", memory="1G"))


def test_paths_that_cannot_be_fitted(data):
    X, y = data
    with pytest.raises(FileNotFoundError, match=r"b\.svm: there is no such file"):
        LinearSVC().fit("b.svm")
    with pytest.raises(ValueError, match="a file brings its labels along: leave y out"):
        LinearSVC().fit("a.svm", y)
    with pytest.raises(ValueError, match="memory='much' is no amount of memory"):
        LinearSVC(memory="much").fit(X, y)
    Path("a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match=r"a\.csv: a table \(csv\) does not say which column is the label"):
        LinearSVC().fit("a.csv")


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2"])
def test_the_beginning_of_a_file_tells_what_it_takes(tmp_path, suffix):
    X, y = random_data(3, rows=20_000, columns=30)
    write_svmlight(tmp_path / f"a.svm{suffix}", X, y)
    exact = 12 * X.nnz + 24 * X.shape[0]
    assert size_in_memory(str(tmp_path / f"a.svm{suffix}"), "svm") == pytest.approx(exact, rel=0.2)


def test_train_stays_on_disk_by_itself(large, capsys, monkeypatch):
    words = ["train", "-s", "3", "-e", "1e-6"]
    assert main([*words, "a.svm", "here.wm"]) == 0 and main([*words, "--memory", "1G", "a.svm", "same.wm"]) == 0
    assert "from disk" not in capsys.readouterr().err and not os.path.exists("a.svm.wmb")
    assert main([*words, "--memory", LITTLE, "a.svm", "there.wm"]) == 0
    told = capsys.readouterr().err
    assert "a.svm: it needs about" in told and "1.0M may be used: training from disk, by way of a.svm.wmb" in told
    os.remove("a.svm.wmb")
    monkeypatch.setattr("widemargin.data.block_file.place.available_memory", lambda: 1000)
    assert main([*words, "a.svm", "free.wm"]) == 0 and os.path.exists("a.svm.wmb")
    assert main(["train", "-v", "3", "a.svm"]) == 0
    values = [load_model(name).certificates[0]["objective"] for name in ("here.wm", "same.wm", "there.wm", "free.wm")]
    assert values[1:] == pytest.approx([values[0]] * 3, rel=3e-6) and values[2] == values[3] != values[0]


def facts(capsys):
    return json.loads(capsys.readouterr().out)


def test_convert_info_train_and_predict(data, capsys):
    _, y = data
    assert main(["convert", "--cache", "a.svm", "a.wmb"]) == 0
    assert np.array_equal(BlockFile("a.wmb").y, y)
    assert main(["info", "--json", "a.wmb"]) == 0
    told = facts(capsys)
    assert told["rows"] == 400 and told["source"] == ["a.svm"] and told["chunks"] == BlockFile("a.wmb").n_chunks
    assert main(["info", "a.wmb"]) == 0
    assert "chunks" in capsys.readouterr().out
    assert main(["train", "-s", "3", "-e", "1e-6", "-q", "a.svm", "here.wm"]) == 0
    assert main(["train", "-s", "3", "-e", "1e-6", "-q", "--memory", "100M", "a.wmb", "there.wm"]) == 0
    here, there = load_model("here.wm"), load_model("there.wm")
    assert there.certificates[0]["objective"] == pytest.approx(here.certificates[0]["objective"], rel=2e-6)
    assert main(["predict", "a.svm", "there.wm", "one.txt"]) == 0
    assert main(["predict", "a.wmb", "there.wm", "two.txt"]) == 0
    assert Path("one.txt").read_text() == Path("two.txt").read_text()


def test_train_makes_a_cache_and_uses_it_again(data, capsys):
    words = ["train", "-q", "--memory", "100K", "a.svm", "m.wm"]
    assert main(words) == 0
    made = os.stat("a.svm.wmb").st_mtime_ns
    assert main(words) == 0
    assert os.stat("a.svm.wmb").st_mtime_ns == made
    X, y = data
    write_svmlight("a.svm", X, -y)
    assert main(words) == 0
    assert np.array_equal(BlockFile("a.svm.wmb").y, -y)
    assert main(["train", "-q", "--cache", "other.wmb", "a.svm", "m.wm"]) == 0
    assert os.path.exists("other.wmb")


def test_too_little_memory_is_told_on_the_command_line(data, capsys):
    assert main(["train", "-s", "3", "--solver", "block_dual_cd", "--memory", "9K", "a.svm", "m.wm"]) != 0
    told = capsys.readouterr().err
    assert "memory=9.0K is too little" in told and "give " in told and "Traceback" not in told
    with pytest.raises(SystemExit):
        main(["train", "--memory", "lots", "a.svm", "m.wm"])
    assert "is no amount of memory" in capsys.readouterr().err
    assert main(["train", "--memory", "9K", "-v", "5", "a.svm"]) != 0
    assert "need the rows in memory" in capsys.readouterr().err


SLOW = """
import sys, time
import numpy as np
from widemargin import append_blocks, write_blocks

def batches():
    for k in range(1000):
        yield np.ones((50, 4)) * k, np.ones(50)
        print(k, flush=True)
        time.sleep(0.01)

(write_blocks if sys.argv[2] == "write" else append_blocks)(sys.argv[1], batches())
"""


@pytest.mark.parametrize("how", ["write", "append"])
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_writer_that_is_killed_leaves_what_was_there(tmp_path, how):
    path = tmp_path / "a.wmb"
    write_blocks(path, [(np.eye(4), np.arange(4.0))])
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(path), how], stdout=subprocess.PIPE)
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert np.array_equal(BlockFile(path).y, np.arange(4.0))
    assert np.array_equal(BlockFile(path).load().to_scipy(), np.eye(4))


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "a.wmb"
    write_blocks(path, [(np.eye(4), np.arange(4.0))])

    def full(self, rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("widemargin.data.block_file.writer.BlockWriter._write_chunk", full)
    with pytest.raises(OSError, match="No space left"):
        write_blocks(path, [(np.ones((500, 9)), np.ones(500))])
    assert os.listdir(tmp_path) == ["a.wmb"] and BlockFile(path).shape == (4, 4)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_the_search_for_C_and_a_path_over_a_file(data, loss):
    X, y = data
    file, Cs = on_disk(X, y=y), [0.01, 0.1, 1.0]
    words = {"loss": loss, "cv": 3, "Cs": Cs, "tol": 1e-5, "early_stopping": False}
    there, here = find_C(file, file.y, **words), find_C(X, y, **words)
    assert there.best_C == here.best_C and there.best_score == pytest.approx(here.best_score, abs=1e-2)
    assert there.solution.certificate.primal == pytest.approx(here.solution.certificate.primal, rel=2e-5)
    disk, memory = (path(Problem(rows, y, loss), Cs, tol=1e-6) for rows in (file, X))
    for one, other in zip(disk, memory, strict=True):
        assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-6)


def test_train_goes_on_from_a_state(data):
    words = ["train", "-q", "-s", "3", "-e", "1e-4", "--resume", "state"]
    assert main([*words, "--max-iter", "3", "a.svm", "part.wm"]) == 0
    assert os.path.exists("state") and load_model("part.wm").certificates[0]["status"] != "converged"
    assert main([*words, "a.svm", "rest.wm"]) == 0
    assert main(["train", "-q", "-s", "3", "-e", "1e-4", "--solver", "block_dual_cd", "a.svm.wmb", "whole.wm"]) == 0
    rest, whole = load_model("rest.wm"), load_model("whole.wm")
    assert rest.certificates[0]["status"] == "converged" and "resume" not in rest.settings
    assert rest.certificates[0]["objective"] == pytest.approx(whole.certificates[0]["objective"], rel=2e-4)
