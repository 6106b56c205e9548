"""What the command line tells of models of sequences."""

from __future__ import annotations

import json

import pytest

from widemargin import ChainCRF
from widemargin.cli import main


@pytest.fixture
def path(tmp_path):
    X = [[["the"], ["dog"]], [["a"], ["cat"]]]
    ChainCRF(C=5.0).fit(X, [["D", "N"], ["D", "N"]]).save(tmp_path / "tags.wm")
    return str(tmp_path / "tags.wm")


def test_info_shows_transitions_and_features(path, capsys):
    assert not main(["info", path])
    text = capsys.readouterr().out
    assert "ChainCRF: 2 labels, 4 features" in text and "relative gap" in text
    assert "D |" in text and "█" in text and "dog" in text


def test_info_as_json(path, capsys):
    assert not main(["info", "--json", "--top", "1", path])
    facts = json.loads(capsys.readouterr().out)
    assert facts["labels"] == ["D", "N"] and len(facts["transitions"]) == 2
    assert len(facts["top_features"]["N"]) == 1


def test_a_linear_command_says_that_this_is_another_kind(path, capsys, tmp_path):
    assert main(["predict", path, str(tmp_path / "no.svm")])
    assert "this is a model of sequences" in capsys.readouterr().err
