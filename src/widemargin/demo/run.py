"""The demonstration, step by step: read, vectorise, train, test, explain, draw. Each step returns its facts."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ..data.ngrams import NGrams
from ..objective.problem import Problem
from ..solvers.run.solution import Solution
from ..solvers.solve import solve
from ..vectors import Vector
from .corpus import Lines, find_files, read_lines

LINES_TO_SPELL = 60_000
WORD = re.compile(rb"[A-Za-z_]{4,}")
FILES_TO_COUNT = 8  # a word that is called telling occurs in at least so many files


@dataclass(frozen=True)
class Settings:
    """What the demonstration does."""

    lines: int | None = None
    seconds: float | None = None
    tol: float = 1e-4
    C: float = 1.0
    progress: bool = False


@dataclass(frozen=True)
class Result:
    """What came out of the training."""

    solution: Solution
    problem: Problem
    accuracy: float
    baseline: float


Say = Callable[[str, str], None]


def run_demo(root: Path, settings: Settings, say: Say) -> Result:
    """Reads the library below `root`, trains, tests, and says each fact under a heading."""
    began = time.perf_counter()
    train, test = read_lines(find_files(root), settings.lines)
    say("corpus", f"{train.n_files + test.n_files:,} files, {len(train) + len(test):,} distinct lines")
    say("", f"read in {_since(began)}")

    began = time.perf_counter()
    ngrams = NGrams()
    X, X_test = ngrams.transform(train.text), ngrams.transform(test.text)
    say("features", f"words, pairs of words and runs of 4 characters, hashed to {X.shape[1]:,} columns")
    say("", f"{X.shape[0]:,} training rows, {X.nnz:,} nonzeros, made in {_since(began)}")

    problem = Problem(X, train.side, loss="squared_hinge", C=settings.C, intercept="free")
    solution = solve(problem, tol=settings.tol, max_seconds=settings.seconds, progress=settings.progress)
    _say_training(problem, solution, say)

    result = Result(solution, problem, *_accuracy(problem, solution, X_test, test))
    say("testing", f"{result.accuracy:.1%} of {len(test):,} lines from {test.n_files} files never seen are right")
    say("", f"(always guessing the more frequent side: {result.baseline:.1%})")
    for side, pieces in telling_words(ngrams, train, solution.coef, _classes(problem)).items():
        say(f"{side}?", "  ".join(pieces))
    return result


def _say_training(problem: Problem, solution: Solution, say: Say) -> None:
    found = solution.certificate
    say("training", f"linear SVM: squared hinge, l2, C = {problem.C:g}, free intercept; {solution.solver}")
    say("", f"{solution.trace[-1].passes:.0f} passes in {solution.seconds:.2f} s: {solution.status}")
    say("proof", f"objective {found.primal:.4f}; no model whatsoever has less than {found.dual:.4f},")
    say("", f"so this one is within {100 * found.relative_gap:.2g} % of the best possible")


def _classes(problem: Problem) -> list[str]:
    assert problem.classes is not None  # a classification loss always has them
    return [str(name) for name in problem.classes]


def _accuracy(problem: Problem, solution: Solution, X_test: sp.csr_array, test: Lines) -> tuple[float, float]:
    scores = X_test @ solution.coef + solution.intercept
    truth = np.asarray(test.side) == _classes(problem)[1]
    baseline = truth if problem.y.mean() > 0 else ~truth
    return float(np.mean((scores > 0) == truth)), float(np.mean(baseline))


def telling_words(
    ngrams: NGrams, train: Lines, w: Vector, classes: Sequence[str], most: int = 10
) -> dict[str, list[str]]:
    """For each side, the words that speak for it most strongly, among those that occur in several files.

    Hashing forgets what it hashed, so the words of the training lines are hashed again: a word's score is what the
    model says of a line that holds nothing else.
    """
    words = common_words(train, min(FILES_TO_COUNT, max(1, train.n_files // 4)))
    scores = ngrams.transform(words) @ w
    by_score = [words[i].decode() for i in np.argsort(scores)]
    ranked = zip(classes, (by_score, by_score[::-1]), strict=True)
    return {side: _without_echoes(spoken[: 10 * most])[:most] for side, spoken in ranked}


def common_words(lines: Lines, fewest_files: int) -> list[bytes]:
    """The words of at least four letters that occur in so many files, looked up in a sample of the lines."""
    step = 1 + len(lines) // LINES_TO_SPELL
    seen = {
        (word, file)
        for text, file in zip(lines.text[::step], lines.file[::step], strict=True)
        for word in WORD.findall(text)
    }
    spread = Counter(word for word, _ in seen)
    return sorted(word for word, files in spread.items() if files >= fewest_files) or [b"self"]


def _without_echoes(words: Sequence[str]) -> list[str]:
    """Leaves out a word that is part of a stronger one or contains one: `sockets` after `socket` tells nothing new."""
    kept: list[str] = []
    for word in words:
        if not any(word in other or other in word for other in kept):
            kept.append(word)
    return kept


def _since(began: float) -> str:
    return f"{time.perf_counter() - began:.1f} s"
