"""The demo: its corpus and features on a small library made here, and the whole command on the real one."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin.cli import main
from widemargin.data.ngrams import NGrams
from widemargin.demo import corpus
from widemargin.demo.corpus import LEFT_OUT, find_files, read_lines
from widemargin.demo.run import Settings, run_demo

TOPICS = {
    "http": ["request", "response", "header", "cookie", "status", "connection"],
    "socket": ["address", "peer", "bind", "listen", "datagram", "buffer"],
    "ast": ["node", "visitor", "expression", "statement", "parse", "field"],
    "dis": ["opcode", "bytecode", "instruction", "argument", "stack", "offset"],
}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A standard library in miniature: four packages of twelve files, their tests, and what must be left out."""
    rng = random.Random(0)
    for package, words in TOPICS.items():
        (tmp_path / package).mkdir()
        for i in range(12):
            lines = [f"    {rng.choice(words)}_{rng.choice(words)} = {rng.randrange(10**6)}" for _ in range(30)]
            (tmp_path / package / f"part{i}.py").write_text("\n".join([*lines, "x = 1", "common line of every file"]))
    for place in ("test", *LEFT_OUT, "turtledemo"):
        (tmp_path / place).mkdir()
    (tmp_path / "test" / "test_httplib.py").write_text("a line in a test of http\n")
    (tmp_path / "test" / "support.py").write_text("a line that is about nothing\n")
    (tmp_path / "site-packages" / "http.py").write_text("a line of somebody else\n")
    (tmp_path / "turtledemo" / "clock.py").write_text("a line about turtles and clocks\n")
    return tmp_path


def test_files_belong_to_the_package_they_are_about(library: Path) -> None:
    packages = {file.name: file.package for file in find_files(library)}
    assert packages["http/part3.py"] == "http"
    assert packages["test/test_httplib.py"] == "http"
    assert Counter(packages.values()) == {"http": 13, "socket": 12, "ast": 12, "dis": 12}


def test_no_line_and_no_file_is_on_both_sides(library: Path) -> None:
    files = find_files(library)
    train, test = read_lines(files)
    everything = train.text + test.text
    assert len(set(everything)) == len(everything)
    assert everything.count(b"common line of every file") == 1
    assert not any(len(line) < 12 for line in everything)
    assert train.n_files == sum(not file.is_test for file in files)
    assert test.n_files == sum(file.is_test for file in files)


def test_the_number_of_lines_can_be_limited(library: Path) -> None:
    train, test = read_lines(find_files(library), 200)
    assert len(train) + len(test) == 200
    with pytest.raises(ValueError, match="all of one side: allow more lines"):
        read_lines(find_files(library), 2)


def test_a_library_without_sources_is_explained(tmp_path: Path) -> None:
    (tmp_path / "http.py").write_text("import nothing at all\n")
    with pytest.raises(ValueError, match=r"holds 1 usable source files.*try the demo with another"):
        find_files(tmp_path)


def naive_features(line: bytes, length: int) -> set[tuple[str, bytes]]:
    words = list(re.finditer(rb"[A-Za-z0-9_\x80-\xff]+", line))
    found = {("word", word[0]) for word in words}
    found |= {("word", line[a.start() : b.end()]) for a, b in pairwise(words)}
    return found | {("run", line[i : i + length]) for i in range(len(line) - length + 1)}


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b" ")), min_size=1, max_size=5))
def test_features_are_those_of_a_naive_reading(lines: list[bytes]) -> None:
    X = NGrams(bits=30, lines_at_once=2).transform(lines)
    expected = [naive_features(line, 4) for line in lines]
    assert np.diff(X.indptr).tolist() == [len(found) for found in expected]
    column_of: dict[tuple[str, bytes], set[int]] = {}
    for i, found in enumerate(expected):
        columns = set(X.indices[X.indptr[i] : X.indptr[i + 1]].tolist())
        for feature in found:  # a feature has one column, which is in every row that has the feature
            column_of[feature] = column_of.get(feature, columns) & columns
    assert all(column_of.values())
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)))
    assert norms == pytest.approx([1.0 if found else 0.0 for found in expected], rel=1e-6)


def test_the_demo_learns_the_topics(library: Path) -> None:
    said: list[str] = []
    result = run_demo(library, Settings(tol=1e-6), lambda heading, fact: said.append(f"{heading} {fact}"))
    assert result.solution.certificate.relative_gap <= 1e-6
    assert result.accuracy > 0.95
    spoken = {line.split("? ")[0]: set(line.split("? ")[1].split()) for line in said if "? " in line}
    words = {side: {w for name in names for w in TOPICS[name]} for side, names in
             (("network", ("http", "socket")), ("python", ("ast", "dis")))}  # fmt: skip
    for side, other in (("network", "python"), ("python", "network")):
        assert any(word in piece for word in words[side] for piece in spoken[side])
        assert not spoken[side] & words[other]


def widemargin(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "widemargin", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_the_command_prints_the_facts_and_draws(tmp_path: Path) -> None:
    done = widemargin("demo", "--lines", "3000", "--output", "picture.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for fact in ("files", "distinct lines", "nonzeros", "passes in", "objective", "best possible", "never seen",
                 "more frequent side", "network?", "python?", "picture.png"):  # fmt: skip
        assert fact in done.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_quiet_prints_nothing(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(corpus, "standard_library", lambda: library)
    path = tmp_path / "quiet.svg"
    assert main(["demo", "--quiet", "--output", str(path)]) == 0
    assert capsys.readouterr().out == ""
    assert path.exists()


def test_without_matplotlib_it_says_how_to_get_the_picture(
    library: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(corpus, "standard_library", lambda: library)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo"]) == 0
    assert "not drawn: pictures need matplotlib: pip install 'widemargin[plots]'" in capsys.readouterr().out
