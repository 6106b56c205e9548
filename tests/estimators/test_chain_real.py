"""Chunking of CoNLL-2000 with crfsuite's attributes: the accuracy of the shared task's own counting."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from widemargin import ChainCRF


@pytest.fixture(scope="module")
def folder():
    found = os.environ.get("WIDEMARGIN_DATA")
    if found is None or not (Path(found) / "conll2000-train.txt.xz").exists():
        pytest.skip("needs conll2000-train.txt.xz in the folder that WIDEMARGIN_DATA names")
    return Path(found)


@pytest.mark.parametrize(("choice", "least"), [("observed", 0.936), ("all", 0.937)])
def test_chunking(folder, choice, least):
    from benchmarks.sequences import blocks, chunking_attributes

    def read(name):
        sentences = list(blocks(folder / name))
        X = [[chunking_attributes(one, t) for t in range(len(one))] for one in sentences]
        return X, [[fields[2] for fields in one] for one in sentences]

    model = ChainCRF(C=0.5, features=choice, transitions=choice, tol=1e-5).fit(*read("conll2000-train.txt.xz"))
    assert model.certificate_.relative_gap <= 1e-5
    assert model.score_spans(*read("conll2000-test.txt.xz"))[""].f1 >= least
