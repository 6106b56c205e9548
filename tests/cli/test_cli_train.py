"""`train`, `predict` and `cv`: the models are optimal, LIBLINEAR's habits hold, and nothing ends in a traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import Problem, cli, fit_one_vs_one, load_model, read_svmlight, write_svmlight
from widemargin.data.svmlight_blocks import svmlight_blocks

needs_liblinear = pytest.mark.skipif(shutil.which("liblinear-train") is None, reason="needs liblinear-train")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_data(name: str = "data.svm", classes: int = 2, rows: int = 200, regression: bool = False) -> str:
    rng = np.random.default_rng(classes)
    X = sp.random_array((rows, 15), density=0.5, rng=rng, format="csr")
    scores = X @ rng.standard_normal((15, classes)) + 0.3 * rng.standard_normal((rows, classes))
    y = scores[:, 0] if regression else np.array([3, -1, 10, 4][:classes])[scores.argmax(axis=1)]
    write_svmlight(name, X, y)
    return name


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    found = cli.main(list(words))
    shown = capsys.readouterr()
    assert found == code, shown.err
    return shown.out, shown.err


LOSS = {0: "logistic", 1: "squared_hinge", 2: "squared_hinge", 3: "hinge", 5: "squared_hinge", 6: "logistic",
        7: "logistic", 11: "squared_epsilon_insensitive", 12: "squared_epsilon_insensitive",
        13: "epsilon_insensitive"}  # fmt: skip


@pytest.mark.parametrize("bias", ["-1", "2"])
@pytest.mark.parametrize("solver", list(LOSS))
def test_every_type_is_solved_to_its_gap(capsys: pytest.CaptureFixture[str], solver: int, bias: str) -> None:
    data = write_data(regression=solver > 10)
    run(capsys, "train", "-s", str(solver), "-c", "0.7", "-p", "0.05", "-B", bias, "-e", "1e-5", data, "a.wm")
    model = load_model("a.wm")
    X, y = read_svmlight(data)
    problem = Problem(
        X,
        y,
        loss=LOSS[solver],
        penalty="l1" if solver in (5, 6) else "l2",
        C=0.7,
        **({"epsilon": 0.05} if solver > 10 else {}),
        intercept="none" if bias == "-1" else "regularized",
        intercept_scaling=2.0,
    )
    objective = problem.objective(model.weights[0], model.intercepts[0])
    (facts,) = model.certificates
    assert facts["objective"] == pytest.approx(objective, rel=1e-12)
    assert facts["status"] == "converged" and facts["relative_gap"] <= 1e-5


@pytest.mark.parametrize(("loss", "parameter", "value"), [("huber", "delta", 0.2), ("quantile", "q", 0.9)])
def test_losses_with_parameters_of_their_own(
    capsys: pytest.CaptureFixture[str], loss: str, parameter: str, value: float
) -> None:
    """Trained with what is said, saved with it, searched with it; and refused where it is not theirs."""
    data = write_data(regression=True)
    words = ["--loss", loss, f"--{parameter}", str(value), "--intercept", "free"]
    run(capsys, "train", *words, "-e", "1e-5", data, "a.wm")
    model = load_model("a.wm")
    assert model.task == "regression" and model.settings[parameter] == value
    assert not {"epsilon", "delta", "q"} - {parameter} & model.settings.keys()
    X, y = read_svmlight(data)
    problem = Problem(X, y, loss, intercept="free", **{parameter: value})
    objective = problem.objective(model.weights[0], model.intercepts[0])
    assert model.certificates[0]["objective"] == pytest.approx(objective, rel=1e-12)
    run(capsys, "train", "--loss", loss, data, "b.wm")
    assert load_model("b.wm").settings[parameter] == {"delta": 1.0, "q": 0.5}[parameter]  # the default is said, too
    run(capsys, "path", *words, "-c", "0.1", "-c", "1", data, "c.wm")
    assert load_model("c.wm").settings[parameter] == value
    other = "q" if parameter == "delta" else "delta"
    _, error = run(capsys, "train", "--loss", loss, f"--{other}", "0.5", data, "d.wm", code=1)
    assert f"loss '{loss}' has no parameter '{other}': its parameters are {parameter}" in error
    _, error = run(capsys, "train", "--loss", loss, f"--{parameter}", "-1", data, "d.wm", code=1)
    assert f"{parameter} must be a finite number > 0" in error


def test_a_letter_for_other_types_is_ignored_as_by_liblinear_but_not_beside_a_loss(
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = write_data()
    run(capsys, "train", "-s", "1", "-p", "0.5", data, "a.wm")
    assert "epsilon" not in load_model("a.wm").settings
    _, error = run(capsys, "train", "--loss", "hinge", "-p", "0.5", data, "b.wm", code=1)
    assert "loss 'hinge' has no parameter 'epsilon': it has no parameters" in error


@needs_liblinear
@pytest.mark.parametrize("solver", [0, 1, 3, 5, 6, 11, 13])
def test_the_weights_are_liblinears(capsys: pytest.CaptureFixture[str], solver: int) -> None:
    data = write_data(regression=solver > 10)
    options = ["-s", str(solver), "-B", "1", "-e", "1e-9", data]
    run(capsys, "train", *options, "ours.model")
    subprocess.run(["liblinear-train", "-q", *options, "theirs.model"], check=True)
    ours, theirs = load_model("ours.model"), load_model("theirs.model")
    scale = np.abs(theirs.weights).max()
    np.testing.assert_allclose(ours.weights, theirs.weights, atol=2e-3 * scale)
    assert ours.classes == sorted(theirs.classes)


@needs_liblinear
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("options", [(), ("-b", "1")])
def test_predict_prints_what_liblinear_prints(
    capsys: pytest.CaptureFixture[str], classes: int, options: tuple[str, ...]
) -> None:
    data = write_data(classes=classes)
    run(capsys, "train", "-s", "0", data)  # data.svm.model, as LIBLINEAR names it
    ours, _ = run(capsys, "predict", *options, "data.svm.model", data, "ours.txt")
    swapped, _ = run(capsys, "predict", *options, data, "data.svm.model", "swapped.txt")
    theirs = subprocess.run(
        ["liblinear-predict", *options, data, "data.svm.model", "theirs.txt"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert ours == swapped == theirs
    assert Path("ours.txt").read_text() == Path("swapped.txt").read_text() == Path("theirs.txt").read_text()


def test_free_intercept_one_class_and_weights(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    X, y = read_svmlight(data)
    run(capsys, "train", "-R", "-B", "1", "-e", "1e-7", "-w3", "5", "-w-1", "0.5", data, "a.wm")
    model = load_model("a.wm")
    problem = Problem(X, y, intercept="free", sample_weight=np.where(y == 3, 5.0, 0.5))
    assert problem.certificate(model.weights[0], model.intercepts[0]).relative_gap <= 1e-6
    run(capsys, "train", "-s", "21", "-n", "0.2", "-e", "1e-5", data, "one.wm")
    inside = run(capsys, "predict", "one.wm", data)[0].split()
    assert set(inside) == {"1", "-1"} and 0.1 < inside.count("-1") / len(inside) < 0.3


def test_many_classes_one_against_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data(classes=4)
    out, _ = run(capsys, "train", "-s", "3", "-e", "1e-6", "--json", data, "a.wm")
    facts = json.loads(out)
    assert facts["classes"] == [-1, 3, 4, 10] and facts["converged"] and len(facts["certificates"]) == 4
    model = load_model("a.wm")
    X, y = read_svmlight(data)
    for k, label in enumerate(facts["classes"]):
        objective = Problem(X, y == label, loss="hinge").objective(model.weights[k])
        assert objective == pytest.approx(facts["certificates"][k]["objective"], rel=1e-12)


@needs_liblinear
@pytest.mark.parametrize("classes", [2, 4])
def test_crammer_and_singer(capsys: pytest.CaptureFixture[str], classes: int) -> None:
    pytest.importorskip("widemargin.objective.crammer_singer")
    data = write_data(classes=classes)
    run(capsys, "train", "-s", "4", "-e", "1e-7", data, "ours.model")
    subprocess.run(["liblinear-train", "-q", "-s", "4", "-e", "1e-6", data, "theirs.model"], check=True)
    ours, theirs = load_model("ours.model"), load_model("theirs.model")
    order = [theirs.classes.index(label) for label in ours.classes]
    np.testing.assert_allclose(ours.weights, theirs.weights[order], atol=1e-2)
    run(capsys, "predict", "ours.model", data, "ours.txt")
    subprocess.run(["liblinear-predict", data, "ours.model", "theirs.txt"], check=True, stdout=subprocess.DEVNULL)
    assert Path("ours.txt").read_text() == Path("theirs.txt").read_text()


@needs_liblinear
@pytest.mark.parametrize("solver", [0, 1, 3, 5])
def test_weights_of_many_classes_count_as_in_liblinear(capsys: pytest.CaptureFixture[str], solver: int) -> None:
    """The weight of a class multiplies C of its own rows, and only where that class is told from the rest."""
    data = write_data(classes=4)
    options = ["-s", str(solver), "-e", "1e-8", "-w10", "7", "-w-1", "0.2", data]
    run(capsys, "train", *options, "ours.model")
    subprocess.run(["liblinear-train", "-q", *options, "theirs.model"], check=True)
    ours, theirs = load_model("ours.model"), load_model("theirs.model")
    order = [theirs.classes.index(label) for label in ours.classes]
    np.testing.assert_allclose(ours.weights, theirs.weights[order], atol=2e-3 * np.abs(theirs.weights).max())


def test_one_against_one(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data(classes=4)
    options = ["-M", "1", "-s", "3", "-e", "1e-6", "-B", "1", "-w10", "3"]
    out, _ = run(capsys, "train", *options, data)  # data.svm.wm: LIBLINEAR's format has no pairs
    assert "one against one" in out
    model = load_model("data.svm.wm")
    assert model.classes == [-1, 3, 4, 10] and model.weights.shape[0] == len(model.certificates) == 6
    X, y = read_svmlight(data)
    weights = np.where(y == 10, 3.0, 1.0)
    reference = fit_one_vs_one(X, y, loss="hinge", intercept="regularized", tol=1e-6, sample_weight=weights)
    for row, (p, q) in enumerate(combinations(model.classes, 2)):
        rows = np.flatnonzero((y == p) | (y == q))
        problem = Problem(X[rows], y[rows], loss="hinge", intercept="regularized", sample_weight=weights[rows])
        objective = problem.objective(model.weights[row], model.intercepts[row])
        assert objective == pytest.approx(model.certificates[row]["objective"], rel=1e-12)
        assert objective == pytest.approx(reference.certificates[row].primal, rel=2e-6)
    expected = [str(int(label)) for label in reference.predict(X)]
    assert run(capsys, "predict", "data.svm.wm", data)[0].split() == expected
    explained = run(capsys, "predict", "--explain", "data.svm.wm", data)[0].splitlines()
    assert [line.split("\t")[0] for line in explained] == expected
    assert [str(label) for label in model.to_sklearn().predict(X)] == expected
    assert "-1 < 0 < 3" in run(capsys, "info", "data.svm.wm")[0]
    accuracy = float(run(capsys, "cv", "-q", *options, data)[0].split("=")[1].rstrip("%\n"))
    assert accuracy > 60
    assert "LIBLINEAR's format" in run(capsys, "train", *options, data, "a.model", code=1)[1]
    assert "LIBLINEAR's format" in run(capsys, "convert", "data.svm.wm", "a.model", code=1)[1]
    assert not os.path.exists("a.model")
    assert (
        "one class against the rest"
        in run(capsys, "train", "-M", "1", "-s", "0", data, "b.wm")[0]
        + run(capsys, "predict", "-b", "1", "b.wm", data, code=1)[1]
    )


def test_two_classes_have_one_pair(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    run(capsys, "train", "-M", "1", data, "a.wm")
    run(capsys, "train", data, "b.wm")
    np.testing.assert_array_equal(load_model("a.wm").weights, load_model("b.wm").weights)


@needs_liblinear
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("solver", [0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13])
def test_models_go_both_ways(capsys: pytest.CaptureFixture[str], solver: int, classes: int) -> None:
    """LIBLINEAR's predict on our model, and ours on LIBLINEAR's: the same labels from either program."""
    data = write_data(classes=classes, regression=solver > 10)
    options = ["-s", str(solver), "-B", "1", data]
    run(capsys, "train", *options, "ours.model")
    subprocess.run(["liblinear-train", "-q", *options, "theirs.model"], check=True)
    for model in ("ours.model", "theirs.model"):
        said, _ = run(capsys, "predict", model, data, "ours.txt")
        done = subprocess.run(
            ["liblinear-predict", data, model, "theirs.txt"], check=True, capture_output=True, text=True
        )
        ours, theirs = Path("ours.txt").read_text().split(), Path("theirs.txt").read_text().split()
        if solver > 10:
            np.testing.assert_allclose(np.array(ours, float), np.array(theirs, float), rtol=1e-12, atol=1e-14)
        else:
            assert ours == theirs and said == done.stdout


def test_labels_do_not_depend_on_the_way_they_are_made(capsys: pytest.CaptureFixture[str]) -> None:
    """The core labels text by itself; sparse and float32 models go through NumPy."""
    for classes in (2, 4):
        data = write_data(classes=classes, rows=3000)
        run(capsys, "train", "-B", "1", data, "a.wm")
        for name, options in (("b.wm", ["--sparse"]), ("c.model", [])):
            run(capsys, "convert", *options, "a.wm", name)
        expected = run(capsys, "predict", "a.wm", data)
        assert expected[0].split() == [str(label) for label in load_model("a.wm").predict(read_svmlight(data)[0])]
        for name in ("b.wm", "c.model"):
            assert run(capsys, "predict", "-m", "3", name, data) == expected


def test_quiet_json_and_streams(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    assert run(capsys, "train", "-q", data, "a.wm") == ("", "")
    out, err = run(capsys, "predict", "a.wm", data)
    assert len(out.split()) == 200 and err.startswith("Accuracy = ")
    out, err = run(capsys, "predict", "--json", "a.wm", data, "out.txt")
    assert json.loads(out)["rows"] == 200 and err == ""
    out, err = run(capsys, "predict", "-q", "--scores", "a.wm", data, "scores.txt")
    assert (out, err) == ("", "")
    model, (X, _) = load_model("a.wm"), read_svmlight(data)
    np.testing.assert_array_equal(np.loadtxt("scores.txt"), model.scores(X)[:, 0])


def test_threads_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    for name, jobs in (("a.wm", "1"), ("b.wm", "-1"), ("c.wm", "3")):
        run(capsys, "train", "-q", "-m", jobs, data, name)
        run(capsys, "predict", "-q", "--scores", "--n-jobs", jobs, name, data, f"{name}.txt")
    np.testing.assert_array_equal(load_model("a.wm").weights, load_model("b.wm").weights)
    assert Path("a.wm.txt").read_text() == Path("b.wm.txt").read_text() == Path("c.wm.txt").read_text()


def test_explain_names_the_terms(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    run(capsys, "train", "-B", "1", data, "a.wm")
    out, _ = run(capsys, "predict", "--explain", "--terms", "99", "a.wm", data)
    for line in out.splitlines():
        label, score, *terms = line.split("\t")
        total = sum(float(term.split("=")[1]) for term in terms)
        assert total == pytest.approx(float(score), abs=1e-2)
        assert label == ("3" if float(score) > 0 else "-1")


def test_cross_validation_prints_as_liblinear(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    out, _ = run(capsys, "train", "-v", "4", data)
    assert out.startswith("Cross Validation Accuracy = ") and not os.path.exists("data.svm.model")
    again, err = run(capsys, "cv", "--folds", "4", "-q", data)
    assert again == out and err == ""
    data = write_data(regression=True)
    out, _ = run(capsys, "train", "-s", "11", "-v", "4", data)
    assert "Squared correlation coefficient" in out


def test_the_search_for_C(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("widemargin.selection")
    data = write_data()
    values = ["-c", "0.01", "-c", "1", "-c", "100"]
    table = json.loads(run(capsys, "path", "--json", *values, "--plot", "p.png", data, "a.wm")[0])
    assert table["C"] == [0.01, 1.0, 100.0] and table["best_score"] == max(table["mean_score"])
    assert load_model("a.wm").settings["C"] == table["best_C"] and os.path.getsize("p.png") > 1000
    out, err = run(capsys, "path", "-q", *values, data)
    assert out.startswith(f"Best C = {table['best_C']:g}  ") and err == ""
    out, _ = run(capsys, "train", "-C", "-s", "0", data)
    assert out.startswith("Best C = ") and out.endswith("%\n") and not os.path.exists("data.svm.model")
    many = write_data("many.svm", classes=4)
    out, _ = run(capsys, "path", *values, "--report", "r.html", many, "all.wm")
    assert load_model("all.wm").classes == [-1, 3, 4, 10] and out.startswith("Best C = ")
    assert load_model("all.wm").settings["C"] == float(out.split()[3])
    best = json.loads(run(capsys, "path", "--json", *values, many)[0])
    at_best = json.loads(run(capsys, "cv", "--json", "-q", "-c", str(best["best_C"]), many)[0])
    assert best["best_score"] == pytest.approx(np.mean(at_best["folds"]))
    out, _ = run(capsys, "train", "-C", "-M", "1", "-v", "3", many)
    assert out.startswith("Best C = ") and out.endswith("%\n")
    run(capsys, "path", *values, "--class", "10", many, "b.wm")
    assert load_model("b.wm").classes == ["10", "rest"]
    run(capsys, "path", *values, "--class", "11", many, code=1)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "options",
    ["-w10 4 -w-1 0.3", "-w3 5 -s 0", "-w3 5 -M 1", "-s 4", "-s 4 -w-1 3", "-s 5 -w3 2", "--class-weight balanced",
     "--class-weight balanced -s 4 -R -B 1", "--loss modified_huber -w-1 2", "--loss logistic --penalty elasticnet"],
)  # fmt: skip
def test_a_search_takes_what_training_takes(capsys: pytest.CaptureFixture[str], options: str, classes: int) -> None:
    """The model that `path` saves is that of `train` at the same C; the scores are those of `cv`."""
    if classes == 2 and "-w10" in options:
        options = options.replace("-w10", "-w3")
    data, values = write_data(classes=classes), ["-c", "0.1", "-c", "1"]
    words = [*options.split(), "-e", "1e-7"]
    table = json.loads(run(capsys, "path", "--json", *words, *values, data, "a.wm")[0])
    found = load_model("a.wm")
    run(capsys, "train", "-q", *words, "-c", str(table["best_C"]), data, "b.wm")
    trained = load_model("b.wm")
    assert found.settings == trained.settings and found.classes == trained.classes
    assert found.weights.shape == trained.weights.shape and found.decision == trained.decision
    for ours, theirs in zip(found.certificates, trained.certificates, strict=True):
        assert ours["status"] == theirs["status"] == "converged"
        assert ours["objective"] == pytest.approx(theirs["objective"], rel=3e-7)
    if "balanced" not in options:  # which counts the rows of all folds in the search, and of one at a time in `cv`
        for at, C in enumerate(values[1::2]):
            alone = json.loads(run(capsys, "cv", "--json", "-q", *words, "-c", C, data)[0])
            assert [table[f"score_{k}"][at] for k in range(5)] == pytest.approx(alone["folds"])
    out, _ = run(capsys, "train", "-C", *options.split(), "-v", "3", data)
    assert out.startswith("Best C = ") and out.endswith("%\n")


def test_weights_of_classes_change_what_a_search_finds(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data(classes=4)
    plain, weighted = (
        json.loads(run(capsys, "path", "--json", "-c", "1", *weights, data)[0])["mean_score"]
        for weights in ([], ["-w10", "50"])
    )
    assert plain != weighted


@pytest.mark.parametrize("classes", [2, 4])
def test_a_limit_on_time_is_for_the_whole_search(capsys: pytest.CaptureFixture[str], classes: int) -> None:
    data = write_data(classes=classes)
    values = ["-c", "0.01", "-c", "1", "-c", "100"]
    out, err = run(capsys, "path", "--max-seconds", "1e-6", *values, data, "a.wm")
    assert out.startswith("Best C = 0.01  ")
    assert "2 larger values are left out: the time ran out" in err
    assert load_model("a.wm").settings["C"] == 0.01
    assert load_model("a.wm").settings["max_seconds"] == 1e-6
    out, _ = run(capsys, "train", "-C", "--max-seconds", "1e-6", data)
    assert out.startswith("Best C = ")
    run(capsys, "cv", "--max-seconds", "1e-6", data)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("size", [1, 100, 1 << 20])
def test_blocks_are_the_file(suffix: str, size: int) -> None:
    data = write_data(f"data.svm{suffix}")
    X, y = read_svmlight(data, n_features=15)
    blocks = list(svmlight_blocks(data, 15, block_bytes=size))
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in blocks]), y)
    assert (sp.vstack([rows.to_scipy() for rows, _ in blocks]) != X).nnz == 0


def test_an_error_in_a_later_block_names_its_line() -> None:
    Path("bad.svm").write_text("1 1:1\n" * 1000 + "1 1:x\n")
    with pytest.raises(ValueError, match=r"bad\.svm:1001:5"):
        list(svmlight_blocks("bad.svm", 3, block_bytes=64))


def test_features_beyond_the_model_are_ignored_and_zero_based_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    Path("zero.svm").write_text("1 0:1\n-1 1:1\n")
    run(capsys, "train", "zero.svm", "a.wm")
    Path("test.svm").write_text("1 0:1 7:5\n-1 1:1 9:5\n")
    assert run(capsys, "predict", "a.wm", "test.svm")[0].split() == ["1", "-1"]


def test_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_data()
    content = Path(data).read_bytes()
    command = [sys.executable, "-m", "widemargin"]
    subprocess.run([*command, "train", "-q", "-", "a.wm"], input=content, check=True)
    done = subprocess.run([*command, "predict", "a.wm", "-"], input=content, check=True, capture_output=True)
    assert done.stdout.decode() == run(capsys, "predict", "a.wm", data)[0]


@pytest.mark.parametrize("classes", [2, 4])
def test_ctrl_c_saves_what_is_there_and_says_so(classes: int) -> None:
    """The signal comes with a progress line: the first one, or with several classes the first of the last class."""
    data = write_data(classes=classes)
    code = (
        "import os, signal, sys; from widemargin.cli import main, watch; watch.SECONDS_BETWEEN_LINES = 0\n"
        "def tell(line):\n"
        "    print(line, file=sys.stderr)\n"
        "    now = ' passes ' in line and ('class' not in line or '(4 of 4)' in line)\n"
        "    if now: os.kill(os.getpid(), signal.SIGINT)\n"
        "watch.tell = tell; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "train", "-s", "3", "-e", "1e-15", "--max-iter", "2", data, "a.wm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "interrupted: what was reached by then is saved in a.wm" in done.stderr
    model = load_model("a.wm")
    assert model.certificates[-1]["status"] == "interrupted" and len(model.classes) == classes


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_does_not_grow_with_the_file() -> None:
    data = write_data(rows=2000)
    content = Path(data).read_bytes()
    command = [sys.executable, "-m", "widemargin"]
    subprocess.run([*command, "train", "-q", data, "a.wm"], check=True)
    code = (
        "import sys; from widemargin.cli import main; main(sys.argv[1:]); "
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    predict = [sys.executable, "-c", code, "predict", "-q", "a.wm", "big.svm", "out.txt"]

    def peak() -> int:
        """The least of three: what the system adds to a process varies, what the file costs does not."""
        runs = [subprocess.run(predict, check=True, capture_output=True, text=True) for _ in range(3)]
        return min(int(done.stdout) for done in runs)

    peaks = []
    for copies in (100, 300):
        Path("big.svm").write_bytes(content * copies)
        peaks.append(peak())
    assert os.path.getsize("big.svm") > 50 << 20
    assert peaks[1] - peaks[0] < 8 << 10  # kilobytes; the file grew by 46 MB
