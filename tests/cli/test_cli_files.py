"""Files of every format in and out, and files, disks and command lines that are wrong: one line, never a traceback."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from widemargin import cli, load_model, read_svmlight, write_svmlight


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    found = cli.main(list(words))
    shown = capsys.readouterr()
    assert found == code, shown.err
    return shown.out, shown.err


def write_data(name: str = "data.svm", rows: int = 60) -> str:
    rng = np.random.default_rng(0)
    X = sp.random_array((rows, 8), density=0.6, rng=rng, format="csr")
    write_svmlight(name, X, np.where(X.sum(axis=1) > X.sum() / rows, 1, -1))
    return name


TABLE = (
    "size,colour,words,class\n1.5,red,hot and spicy,yes\n0.5,blue,cold soup,no\n2,red,very hot,yes\n,green,cold,no\n"
)


def write_table(name: str = "table.csv") -> str:
    Path(name).write_text(TABLE.replace(",", "\t") if name.endswith("tsv") else TABLE)
    return name


@pytest.mark.parametrize("name", ["table.csv", "table.tsv"])
def test_tables_are_encoded_and_predicted_alike(capsys: pytest.CaptureFixture[str], name: str) -> None:
    table = write_table(name)
    run(capsys, "train", "--label", "class", "-c", "10", table, "a.wm")
    model = load_model("a.wm")
    assert model.classes == ["no", "yes"]
    assert list(model.feature_names or [])[:4] == ["size", "colour=blue", "colour=green", "colour=red"]
    out, err = run(capsys, "predict", "a.wm", table)
    assert out.split() == ["yes", "no", "yes", "no"] and err == "Accuracy = 100% (4/4)\n"
    unlabelled = "\n".join("\t".join(line.split("\t")[:3]) if "\t" in line else line.rsplit(",", 1)[0]
                           for line in Path(table).read_text().splitlines())  # fmt: skip
    Path(f"new.{name[-3:]}").write_text(unlabelled)
    out, err = run(capsys, "predict", "a.wm", f"new.{name[-3:]}")
    assert out.split() == ["yes", "no", "yes", "no"] and err == ""
    assert "colour=red" in run(capsys, "info", "a.wm")[0]


def test_text_columns_are_hashed(capsys: pytest.CaptureFixture[str]) -> None:
    table = write_table()
    run(capsys, "train", "--label", "class", "--text", "words", "--bits", "10", table, "a.wm")
    assert load_model("a.wm").n_features == 1024 + 4
    assert run(capsys, "predict", "a.wm", table)[0].split() == ["yes", "no", "yes", "no"]
    Path("new.csv").write_text("words,colour,size\nhot hot,pink,0\ncold,,0\n")
    assert run(capsys, "predict", "a.wm", "new.csv")[0].split() == ["yes", "no"]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_parquet_and_arrow(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.table({"size": [1.5, 0.5, 2.0, None], "colour": ["red", "blue", "red", None], "class": [1, 0, 1, 0]})
    if kind == "parquet":
        pyarrow.parquet.write_table(table, "a.parquet")
    else:
        pyarrow.feather.write_feather(table, "a.arrow", compression="uncompressed")
    run(capsys, "train", "--label", "class", "-B", "1", "-c", "10", f"a.{kind}", "a.wm")
    assert run(capsys, "predict", "a.wm", f"a.{kind}")[0].split() == ["1", "0", "1", "0"]
    Path(f"bad.{kind}").write_bytes(b"not this format at all")
    run(capsys, "predict", "a.wm", f"bad.{kind}", code=1)


@pytest.mark.parametrize("between", ["b.svm.gz", "b.svm.bz2", "b.svm.xz", "b.npz", "b.csv", "b.tsv", "b.csv.gz"])
def test_convert_there_and_back(capsys: pytest.CaptureFixture[str], between: str) -> None:
    data = write_data()
    run(capsys, "convert", data, between)
    labelled = ["--label", "label"] if "sv" in between and "svm" not in between else []
    run(capsys, "convert", *labelled, between, "c.svm")
    (X, y), (Z, t) = read_svmlight(data), read_svmlight("c.svm")
    np.testing.assert_array_equal(X.toarray(), Z.toarray())
    np.testing.assert_array_equal(y, t)
    run(capsys, "train", "-q", *labelled, between, "a.wm")
    run(capsys, "predict", "a.wm", between, "out.txt")
    assert len(Path("out.txt").read_text().split()) == 60
    assert json.loads(run(capsys, "info", "--json", *labelled, between)[0])["rows"] == 60
    if between == "b.npz":
        assert (sp.csr_array(sp.load_npz(between)) != X).nnz == 0


def test_models_are_converted(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    run(capsys, "train", "-B", "1", data, "a.wm")
    run(capsys, "convert", "a.wm", "b.model")
    run(capsys, "convert", "b.model", "c.wm")
    run(capsys, "convert", "--dtype", "float32", "--sparse", "a.wm", "d.wm")
    first = run(capsys, "predict", "a.wm", data)
    assert all(run(capsys, "predict", name, data) == first for name in ("b.model", "c.wm", "d.wm"))
    out, _ = run(capsys, "info", "--plot", "w.png", "a.wm")
    assert "proof" in out and os.path.getsize("w.png") > 1000


def test_bench_ranks_solvers(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    words = ["--only", "dual_cd", "--only", "tron", "--plot", "b.png"]
    rows = json.loads(run(capsys, "bench", "--json", "-q", *words, data)[0])
    assert {row["solver"] for row in rows} == {"dual_cd", "tron"}
    assert all(row["relative_gap"] <= 1e-3 for row in rows) and os.path.getsize("b.png") > 1000
    assert "objective" in run(capsys, "bench", "-q", "--only", "one_class", "-s", "21", data)[0]
    run(capsys, "bench", "--only", "nonsense", data, code=1)


# What is wrong.

BAD = {
    "empty": b"",
    "binary": bytes(range(256)) * 50,
    "text": b"this is not data\n",
    "half": b"1 1:2\n-1 3:",
    "nan": b"1 1:nan\n",
    "huge": b"1 99999999999999:1\n",
    "one_class_only": b"1 1:1\n1 1:2\n",
    "gz": gzip.compress(b"1 1:1\n" * 1000)[:40],
    "nul": b"\0" * 100,
    "magic": b"\x93WMODEL\n garbage",
    "solver_type": b"solver_type L2R_LR\nnr_class 2\n",
    "blank": b"\n\n# only a comment\n",
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("suffix", [".svm", ".csv", ".npz", ".wm", ".parquet"])
def test_bad_files_give_one_line(capsys: pytest.CaptureFixture[str], kind: str, suffix: str) -> None:
    data = write_data()
    run(capsys, "train", "-q", data, "good.wm")
    bad = f"bad{suffix}"
    Path(bad).write_bytes(BAD[kind])
    before = sorted(os.listdir())
    commands = [["train", bad, "out.wm"], ["predict", "good.wm", bad, "out.txt"], ["predict", bad, data, "out.txt"]]
    for words in [*commands, ["info", bad], ["convert", bad, "out.svm"], ["cv", bad], ["bench", "--seconds", "1", bad]]:
        code = cli.main(words)
        err = capsys.readouterr().err
        assert code in (0, 1) and "Traceback" not in err
        if code:
            assert err.startswith("widemargin: error: ") and err.count("\n") == 1
            assert sorted(os.listdir()) == before  # nothing half-written is left
        else:
            [os.remove(name) for name in set(os.listdir()) - set(before)]


@pytest.mark.parametrize("path", ["missing.svm", "folder", "folder/none.svm", "/dev/null", ""])
def test_unreadable_paths(capsys: pytest.CaptureFixture[str], path: str) -> None:
    os.mkdir("folder")
    data = write_data()
    run(capsys, "train", "-q", data, "good.wm")
    for words in (["train", path, "out.wm"], ["predict", "good.wm", path], ["predict", path, data], ["info", path]):
        _, err = run(capsys, *words, code=1)
        assert err.count("\n") == 1
    assert not os.path.exists("out.wm")
    for target in ("folder", "none/a.wm"):
        run(capsys, "train", data, target, code=1)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    run(capsys, "train", "-q", data, "good.wm")
    for words in (
        ["train", data, "/dev/full"],
        ["predict", "good.wm", data, "/dev/full"],
        ["convert", data, "/dev/full"],
    ):
        assert "No space left" in run(capsys, *words, code=1)[1]
    command = f"{sys.executable} -m widemargin predict good.wm {data} > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on the size of files")
@pytest.mark.parametrize(
    "words",
    [
        "train wide.svm a.wm",
        "train wide.svm a.model",
        "train --report a.html wide.svm small.wm",
        "predict good.wm long.svm a.txt",
        "convert wide.svm a.npz",
        "convert good.wm a.wm",
        "path -c 1 -c 2 -v 2 wide.svm a.wm",
    ],
)
def test_a_disk_that_fills_up_midway(words: str) -> None:
    """No file may grow beyond some kilobytes: the error comes from a write, as on a full disk."""
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 3000), density=0.1, rng=rng, format="csr")
    write_svmlight("wide.svm", X, np.arange(60) % 2)
    write_svmlight("long.svm", X[np.arange(9000) % 60], np.arange(9000) % 2)
    assert cli.main(["train", "-q", "wide.svm", "good.wm"]) == 0
    target = next(word for word in words.split() if word.startswith("a."))
    Path(target).write_bytes(b"what was there before")
    before = sorted(os.listdir())
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from widemargin.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run([sys.executable, "-c", code, *words.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "File too large" in done.stderr and "Traceback" not in done.stderr
    assert Path(target).read_bytes() == b"what was there before" and sorted(os.listdir()) == before


@pytest.mark.parametrize("target", ["a.wm", "a.model", "a.onnx"])
def test_a_process_killed_while_it_saves_leaves_the_old_model(target: str) -> None:
    if target.endswith("onnx"):
        pytest.importorskip("onnx")
    data = write_data()
    Path(target).write_bytes(b"the old model")
    code = (
        "import os, sys; from widemargin.cli import main\n"
        "os.replace = lambda *names: os.kill(os.getpid(), 9)  # all is written, the name is still the old one's\n"
        "main(sys.argv[1:])"
    )
    done = subprocess.run([sys.executable, "-c", code, "train", "-q", data, target], check=False)
    assert done.returncode == -9 and Path(target).read_bytes() == b"the old model"


def test_no_result_overwrites_a_file_of_its_own_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    run(capsys, "train", "-q", data, "good.wm")
    before = Path(data).read_bytes(), Path("good.wm").read_bytes()
    for command in (
        ("train", data, data),
        ("train", "--report", data, data, "new.wm"),
        ("train", "--report", "good.wm", data, "good.wm"),
        ("predict", "good.wm", data, "good.wm"),
        ("predict", "good.wm", data, f"./{data}"),
        ("path", data, data),
    ):
        _, err = run(capsys, *command, code=1)
        assert "would overwrite another file" in err
    assert (Path(data).read_bytes(), Path("good.wm").read_bytes()) == before


def test_the_search_for_C_speaks_json(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "train", "-C", "--json", write_data())
    assert set(json.loads(out)) == {"best_C", "scoring", "best_score"}


def test_files_and_folders_that_vanish(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from widemargin.model import fit

    data, fit_model = write_data(), fit.fit_model
    run(capsys, "train", "-q", data, "good.wm")
    os.mkdir("folder")

    def fit_while_the_folder_goes(*arguments: object, **more: object) -> object:
        os.rmdir("folder")
        return fit_model(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(fit, "fit_model", fit_while_the_folder_goes)
    _, err = run(capsys, "train", data, "folder/a.wm", code=1)
    assert "no such file or directory" in err and err.count("\n") == 1 and not os.path.exists("folder")
    os.symlink("gone.svm", "dangling.svm")
    for words in (
        ["train", "dangling.svm", "a.wm"],
        ["predict", "good.wm", "dangling.svm", "out"],
        ["predict", "dangling.svm", data],
        ["info", "dangling.svm"],
        ["convert", "dangling.svm", "b.npz"],
    ):
        _, err = run(capsys, *words, code=1)
        assert "dangling.svm: no such file or directory" in err and err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser reads everything")
def test_files_without_permission(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    run(capsys, "train", "-q", data, "good.wm")
    os.chmod(data, 0)
    for words in (["train", data, "a.wm"], ["predict", "good.wm", data, "out"], ["info", data]):
        assert "Permission denied" in run(capsys, *words, code=1)[1]
    os.chmod(data, 0o600)
    os.mkdir("locked")
    os.chmod("locked", 0o500)
    assert "cannot be written to" in run(capsys, "train", data, "locked/a.wm", code=1)[1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    content = Path(write_data()).read_bytes()
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(content))
    writer.start()
    run(capsys, "cv", "-q", "--folds", "2", "pipe")
    writer.join()


def test_a_killed_training_leaves_the_old_model() -> None:
    data = write_data()
    Path("a.wm").write_bytes(b"the old model")
    code = (
        "import os, sys; from widemargin.cli import main, watch; watch.SECONDS_BETWEEN_LINES = 0\n"
        "watch.tell = lambda line: os.kill(os.getpid(), 9); main(sys.argv[1:])"
    )
    done = subprocess.run([sys.executable, "-c", code, "train", data, "a.wm"], check=False)
    assert done.returncode == -9
    assert sorted(os.listdir()) == ["a.wm", data] and Path("a.wm").read_bytes() == b"the old model"


@pytest.mark.parametrize(
    "wrong",
    [
        "train", "train -s 8 d", "train -s 4.5 d", "train -c 0 d", "train -c nan d", "train -e -1 d", "train -v 1 d",
        "train -w1 x d", "train --class-weight 5 d", "train --bits 99 d", "train -m 0 d", "train --los hinge d",
        "predict a", "predict -b 2 a b", "info", "convert a", "bench", "cv --folds x d", "train -n -1 d",
    ],
)  # fmt: skip
def test_wrong_usage_is_2(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(wrong.split())
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    "refused",
    ["--loss crammer_singer --penalty l1", "-C -s 21", "-C -w7 2", "-R",
     "-s 1 --loss hinge", "-s 1 --penalty l1", "--solver nonsense", "-w7 2", "-s 21 -n 2",
     "--loss modified_huber --penalty l1 --solver dual_cd", "-R -B 1 --intercept free"],
)  # fmt: skip
def test_what_cannot_be_done_is_said(refused: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    _, err = run(capsys, "train", *refused.split(), data, "a.wm", code=1)
    assert err.startswith("widemargin: error: ") and err.count("\n") == 1
    assert not os.path.exists("a.wm")


WORDS = st.sampled_from(
    """train predict cv path info convert bench -s 0 1 3 5 11 21 -c -e 0.1 -B -1 -w1 -w-1 -v 2 -q -b --json --loss hinge
    logistic --penalty l1 l2 --explain --scores --label class --text words --format svm csv npz --solver tron --max-iter
    --max-seconds 0.05 data.svm table.csv good.wm good.model out.wm out.csv missing -R --intercept free --help -
    -M -C --report r.html out.onnx out.npz out.model --terms 4 --top --dtype float32 --sparse --class -m --seed
    """.split()  # noqa: SIM905
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    command=st.sampled_from(["train", "predict", "cv", "path", "info", "convert"]), words=st.lists(WORDS, max_size=7)
)
def test_any_command_line_ends_well(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, words: list[str]
) -> None:
    import io

    class Empty:
        buffer = io.BufferedReader(io.BytesIO(b""))  # type: ignore[arg-type]

    monkeypatch.setattr(sys, "stdin", Empty())
    write_data()
    write_table()
    if not os.path.exists("good.wm"):
        cli.main(["train", "-q", "data.svm", "good.wm"])
        cli.main(["convert", "good.wm", "good.model"])
    words = [word for word in words if word != "-"] if words.count("-") > 1 else words
    try:
        code = cli.main([command, *words])
    except SystemExit as stop:
        code = stop.code  # type: ignore[assignment]
    assert code in (0, 1, 2)
    assert "internal error" not in capsys.readouterr().err
    assert not [name for name in os.listdir() if name.endswith(".part")]


def write_one_of_each() -> None:
    """One good file of each kind."""
    data, table = write_data(), write_table()
    sp_path = "good.npz"
    words = [
        ["train", "-q", data, "good.wm"],
        ["train", "-q", "-B", "1", data, "good.model"],
        ["convert", data, sp_path],
    ]
    words += [["train", "-q", "--label", "class", "--text", "words", "--bits", "8", table, "table.wm"]]
    words += [["convert", "--sparse", "good.wm", "sparse.wm"], ["convert", data, "good.svm.xz"]]
    assert [cli.main(line) for line in words] == [0] * len(words)
    if find_spec("pyarrow"):
        import pyarrow.csv
        import pyarrow.feather
        import pyarrow.parquet

        columns = pyarrow.csv.read_csv(table)
        pyarrow.parquet.write_table(columns, "good.parquet")
        pyarrow.feather.write_feather(columns, "good.arrow")


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choice=st.data())
def test_any_damage_to_any_file_is_one_line(capsys: pytest.CaptureFixture[str], choice: st.DataObject) -> None:
    if not os.path.exists("good.npz"):
        write_one_of_each()
    name = choice.draw(st.sampled_from(sorted(set(os.listdir()) - {"out", "bad"})))
    content = bytearray(Path(name).read_bytes())
    for _ in range(choice.draw(st.integers(1, 4))):
        at = choice.draw(st.integers(0, max(0, len(content) - 1)))
        how = choice.draw(st.sampled_from(["change", "cut", "insert", "repeat"]))
        piece = choice.draw(
            st.binary(min_size=1, max_size=12) | st.sampled_from([b"nan", b"1e999", b"\n", b":", b"-1", b"0"])
        )
        content = {
            "change": content[:at] + piece + content[at + len(piece) :],
            "cut": content[:at],
            "insert": content[:at] + piece + content[at:],
            "repeat": content + content[at:],
        }[how]
    suffix = name[name.index(".") :]
    os.makedirs("bad", exist_ok=True)
    bad = f"bad/file{suffix}"
    Path(bad).write_bytes(content)
    label = ["--label", "class"] if suffix in (".csv", ".parquet", ".arrow") else []
    capsys.readouterr()
    for words in (
        ["info", *label, bad],
        ["predict", bad, "data.svm", "out"],
        ["predict", "good.wm", bad, "out"],
        ["predict", "--scores", "table.wm", bad, "out"],
        ["train", "-q", "--max-seconds", "0.05", *label, bad, "out"],
        ["convert", *label, bad, "bad/converted.svm"],
    ):
        code = cli.main(words)
        err = capsys.readouterr().err
        assert code in (0, 1) and "internal error" not in err
        assert not code or err.count("\n") == 1
    assert not [found for found in [*os.listdir(), *os.listdir("bad")] if found.endswith(".part")]
