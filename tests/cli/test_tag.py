"""`widemargin tag`: from files to a model, to labels and to conlleval's table."""

from __future__ import annotations

import io
import json
import os
import random
import sys
from pathlib import Path

import pytest

from widemargin import ChainCRF, cli, load_model
from widemargin.cli import tag_model

WORDS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "big": "A", "sees": "V", "likes": "V"}
CHUNKS = {"D": "B-NP", "A": "I-NP", "N": "I-NP", "V": "B-VP"}
TEMPLATE = "# words\nU00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\n\nB\n"
CONLL_TEMPLATE = "".join(
    [f"U0{i}:%x[{i - 2},0]\nU1{i}:%x[{i - 2},1]\n" for i in range(5)]
    + ["U05:%x[-1,0]/%x[0,0]\nU06:%x[0,0]/%x[1,0]\n"]
    + [f"U2{i}:%x[{i - 2},1]/%x[{i - 1},1]\n" for i in range(4)]
    + [f"U3{i}:%x[{i - 2},1]/%x[{i - 1},1]/%x[{i},1]\n" for i in range(3)]
    + ["B\n"]
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(capsys, *words, code=0):
    capsys.readouterr()
    found = cli.main(list(words))
    shown = capsys.readouterr()
    assert found == code, shown.err
    return shown.out, shown.err


def sentences(n, seed=0):
    rng = random.Random(seed)

    def phrase():
        return [rng.choice(["the", "a"]), *["big"] * rng.randint(0, 2), rng.choice(["dog", "cat"])]

    return [[*phrase(), rng.choice(["sees", "likes"]), *phrase()] for _ in range(n)]


def columns(found, *, labelled=True):
    lines = []
    for words in found:
        for word in words:
            tag = WORDS[word]
            lines.append(" ".join([word, tag, CHUNKS[tag]][: 3 if labelled else 2]))
        lines.append("")
    return "\n".join(lines) + "\n"


def attributes(found):
    return "".join(
        "".join(f"{CHUNKS[WORDS[word]]}\tw={word}\tlength:{len(word)}\n" for word in words) + "\n" for words in found
    )


def trained(capsys, *options):
    Path("template").write_text(TEMPLATE)
    Path("train.txt").write_text(columns(sentences(40)))
    return run(capsys, "tag", "train", "--template", "template", "-c", "10", *options, "train.txt", "model.wm")


@pytest.mark.parametrize("options", [(), ("--kind", "svm"), ("--penalty", "l1"), ("--features", "observed")])
def test_train_predict_and_eval(capsys, options):
    out, err = trained(capsys, *options)
    assert "gap " in out and "proven" in out and err == ""
    Path("test.txt").write_text(columns(sentences(9, seed=1)))
    out, err = run(capsys, "tag", "predict", "model.wm", "test.txt")
    expected = [f"{line}\t{line.split()[-1]}" if line else "" for line in columns(sentences(9, seed=1)).split("\n")]
    assert out.split("\n") == expected
    assert err.startswith("accuracy: 100.00%")
    run(capsys, "tag", "predict", "model.wm", "test.txt", "tagged.txt")
    from_file = run(capsys, "tag", "eval", "tagged.txt")[0]
    assert from_file == run(capsys, "tag", "eval", "model.wm", "test.txt")[0]
    assert "NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  18" in from_file


def test_the_model_is_the_one_that_python_fits(capsys):
    trained(capsys, "--tol", "1e-6")
    model = load_model("model.wm")
    words = sentences(40)
    X = []
    for one in words:
        tags = ["_B-1", *(WORDS[word] for word in one)]
        X.append([[f"U00:{word}", f"U01:{tags[t]}/{tags[t + 1]}"] for t, word in enumerate(one)])
    y = [[CHUNKS[WORDS[word]] for word in one] for one in words]
    other = ChainCRF(10.0, tol=1e-6).fit(X, y)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-6)
    assert model._attributes.names == other._attributes.names


def test_a_stream_without_labels_in_small_batches(capsys, monkeypatch):
    trained(capsys)
    text = columns(sentences(30, seed=2), labelled=False)
    Path("plain.txt").write_text(text)
    whole, err = run(capsys, "tag", "predict", "model.wm", "plain.txt")
    assert err == "" and len(whole.split("\n")) == len(text.split("\n"))
    monkeypatch.setattr(tag_model, "BATCH_TOKENS", 7)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
    assert run(capsys, "tag", "predict", "model.wm")[0] == whole
    labels = run(capsys, "tag", "predict", "--labels", "model.wm", "plain.txt")[0]
    assert labels.split() == [line.split("\t")[1] for line in whole.split("\n") if line]
    assert "no labels to compare" in run(capsys, "tag", "eval", "model.wm", "plain.txt", code=1)[1]


def test_labels_appear_before_the_input_ends(capsys, monkeypatch):
    trained(capsys)
    monkeypatch.setattr(tag_model, "BATCH_TOKENS", 1)
    Path("test.txt").write_text(columns(sentences(1)) + "\none two three four\n")
    tagger = tag_model.load_tagger("model.wm", 1)
    found = tagger.predictions("test.txt")
    assert next(found).labels
    with pytest.raises(ValueError, match=r"test\.txt:\d+: 4 columns"):
        next(found)


def test_attributes_of_crfsuite(capsys):
    Path("train.txt").write_text(attributes(sentences(40)))
    run(capsys, "tag", "train", "--format", "attributes", "-c", "10", "-q", "train.txt", "model.wm")
    assert "length" in load_model("model.wm")._attributes.names
    out, err = run(capsys, "tag", "predict", "model.wm", "train.txt")
    assert err.startswith("accuracy: 100.00%") and out.startswith("B-NP\tB-NP\n")
    Path("plain.txt").write_text("\tw=the\n\tw=dog\n")
    assert run(capsys, "tag", "predict", "model.wm", "plain.txt") == ("\tB-NP\n\tI-NP\n\n", "")


def test_info_shows_the_template(capsys):
    trained(capsys)
    assert "U01:%x[-1,1]/%x[0,1]" in run(capsys, "info", "model.wm")[0]
    assert json.loads(run(capsys, "info", "--json", "model.wm")[0])["tagging"]["columns"] == 3


def test_results_as_json(capsys):
    facts = json.loads(trained(capsys, "--json")[0])
    assert facts["labels"] == ["B-NP", "B-VP", "I-NP"] and facts["relative_gap"] <= 1e-3
    score = json.loads(run(capsys, "tag", "eval", "--json", "model.wm", "train.txt")[0])
    assert score["f1"] == 1.0 and set(score["types"]) == {"NP", "VP"}


def test_the_table_counts_as_conlleval_does(capsys):
    """The lines of conlleval's own documentation are of this form; the counts are made by hand."""
    Path("tagged.txt").write_text("a B-NP B-NP\nb I-NP I-NP\nc O B-VP\n\nd B-VP O\ne B-NP B-NP\nf I-NP O\n")
    assert run(capsys, "tag", "eval", "tagged.txt")[0] == (
        "processed 6 tokens with 3 phrases; found: 3 phrases; correct: 1.\n"
        "accuracy:  50.00%; precision:  33.33%; recall:  33.33%; FB1:  33.33\n"
        "               NP: precision:  50.00%; recall:  50.00%; FB1:  50.00  2\n"
        "               VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
    )


def test_a_run_cut_short_says_so_and_saves(capsys):
    assert trained(capsys, "--max-seconds", "1e-9", "--tol", "1e-12")[1].startswith("warning: ")
    assert load_model("model.wm")._tagging["format"] == "columns"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "train.txt", "m.wm"], "what describes a token?"),
        (["train", "--template", "template", "--format", "attributes", "train.txt", "m.wm"], "is for columns"),
        (["train", "--template", "template", "train.txt", "train.txt"], "would overwrite"),
        (["train", "--template", "none", "train.txt", "m.wm"], "none: no such file"),
        (["train", "--template", "template", "empty.txt", "m.wm"], "empty.txt: no sequences"),
        (["train", "--template", "template", "--solver", "nobody", "train.txt", "m.wm"], "unknown solver 'nobody'"),
        (["train", "--template", "template", "--kind", "svm", "--penalty", "l1", "train.txt", "m.wm"], "penalty l2"),
        (["train", "--template", "pairs", "train.txt", "m.wm"], "pairs:2: weights of (observation, label before"),
        (["predict", "model.wm", "empty.txt"], "empty.txt: no sequences"),
        (["predict", "model.wm", "train.txt", "train.txt"], "would overwrite"),
        (["predict", "train.txt", "train.txt"], "not a model"),
        (["predict", "python.wm", "train.txt"], "python.wm: the model does not say how it reads files"),
        (["eval", "a", "b", "c"], "got 3 names"),
        (["eval", "one.txt"], "one.txt:1: one column"),
        (["eval", "empty.txt"], "empty.txt: no sequences"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(capsys, words, said):
    trained(capsys)
    Path("empty.txt").write_text("\n\n")
    Path("one.txt").write_text("B\n")
    Path("pairs").write_text("U0:%x[0,0]\nB1:%x[0,0]\n")
    ChainCRF().fit([[["a"], ["b"]]], [["x", "y"]]).save("python.wm")
    err = run(capsys, "tag", *words, code=1)[1]
    assert said in err and err.count("\n") == 1


def test_a_linear_model_is_refused(capsys):
    Path("data.svm").write_text("1 1:1\n-1 1:-1\n")
    run(capsys, "train", "-q", "data.svm", "linear.wm")
    assert "no model of sequences" in run(capsys, "tag", "predict", "linear.wm", "data.svm", code=1)[1]


@pytest.mark.parametrize("part", ["train", "predict", "eval"])
def test_every_part_has_help(capsys, part):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["tag", part, "--help"])
    shown = capsys.readouterr().out
    assert f"usage: widemargin tag {part}" in shown and f"examples:\n  widemargin tag {part}" in shown


def test_chunking_of_conll_2000(capsys):
    folder = os.environ.get("WIDEMARGIN_DATA")
    if folder is None or not (Path(folder) / "conll2000-train.txt.xz").exists():
        pytest.skip("needs conll2000-train.txt.xz in the folder that WIDEMARGIN_DATA names")
    train, test = (str(Path(folder) / f"conll2000-{part}.txt.xz") for part in ("train", "test"))
    Path("template").write_text(CONLL_TEMPLATE)
    run(capsys, "tag", "train", "--template", "template", "-c", "0.5", "-q", train, "model.wm")
    score = json.loads(run(capsys, "tag", "eval", "--json", "model.wm", test)[0])
    assert score["tokens"] == 47377 and score["wanted"] == 23852
    assert score["f1"] >= 0.936
