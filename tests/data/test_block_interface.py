"""Files of blocks where users meet them: estimators, the command line, and runs that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from block_rows import on_disk
from support import random_data
from widemargin import (
    BlockFile,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    Problem,
    find_C,
    load_model,
    path,
    write_blocks,
    write_svmlight,
)
from widemargin.cli import main


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
    words = ["train", "-q", "--memory", "1G", "a.svm", "m.wm"]
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
    assert main(["train", "--memory", "1G", "-v", "5", "a.svm"]) != 0
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
