"""Random hard problems: data that nobody scaled, drawn from a seed, and what is to be minimised over them.

Each draw takes a shape, a sort of rows, some of the usual misfortunes (columns on scales of their own, means far from
zero, copies of columns, outliers, ...), labels, weights, and a loss with a penalty, an intercept and a C. The same
number always gives the same problem, so that one which fails can be looked at again:

>>> from benchmarks.convergence.hard import hard_problem
>>> hard_problem(7, entries=2_000).words == hard_problem(7, entries=2_000).words
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from widemargin import CrammerSingerProblem, MaximumEntropyProblem, OrdinalProblem, Problem
from widemargin.objective.losses import LOSSES

Random = np.random.Generator
Array = np.ndarray

MOST_ENTRIES = 3_000_000
PENALTIES = ("l2", "l1", "elasticnet")
INTERCEPTS = ("free", "regularized", "none")
SCALES = (-6, 9)  # powers of ten between which columns may lie
WEIGHTS = (-6, 6)
CS = (-6, 6)


@dataclass(frozen=True)
class Hard:
    """A problem and, in words, how it was drawn."""

    number: int
    problem: Any
    words: str


def hard_problem(number: int, entries: int = MOST_ENTRIES) -> Hard:
    """The problem of that number, of at most about so many entries."""
    rng = np.random.default_rng([20_13, number])
    rows, columns = _shape(rng, entries)
    told: list[str] = []
    X = _drawn(rng, ROWS, told)(rng, rows, columns)
    for name, misfortune, share in MISFORTUNES:
        if rng.random() < share:
            X = misfortune(rng, X)
            told.append(name)
    signal = _signal(rng, X)
    X = _stored(rng, X, told)
    weight = None
    if rng.random() < 0.15:
        weight = 10 ** rng.uniform(*WEIGHTS, len(signal))
        told.append("weights")
    problem = _problem(rng, X, signal, weight, told)
    C = problem.C
    told += [f"{X.shape[0]} x {X.shape[1]}", f"C={C:.2g}", str(problem.describe())]
    return Hard(number, problem, ", ".join(told))


def _shape(rng: Random, most: int) -> tuple[int, int]:
    """Rows and columns: from a hundred entries on, from three columns to far more columns than rows."""
    entries = 10 ** rng.uniform(2.5, np.log10(most))
    ratio = 10 ** rng.uniform(-2.5, 4)  # rows per column
    rows = max(12, int(np.sqrt(entries * ratio)))
    return rows, max(1, int(entries / rows))


def _drawn(rng: Random, choices: dict[str, Any], told: list[str]) -> Any:
    name = list(choices)[rng.integers(len(choices))]
    told.append(name)
    return choices[name]


# The sorts of rows.


def _normal(rng: Random, rows: int, columns: int) -> Array:
    return rng.normal(size=(rows, columns))


def _low_rank(rng: Random, rows: int, columns: int) -> Array:
    rank = max(1, min(rows, columns) // int(rng.integers(2, 20)))
    return rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns)) / np.sqrt(rank)


def _curves(rng: Random, rows: int, columns: int) -> Array:
    """Readings of smooth curves: neighbouring columns are nearly the same."""
    t = np.linspace(0, 1, columns)
    waves = int(rng.integers(2, 12))
    shapes = np.array([np.sin(2 * np.pi * (k + rng.random()) * t + 6.28 * rng.random()) for k in range(waves)])
    return rng.normal(size=(rows, waves)) @ (shapes / (1 + np.arange(waves))[:, np.newaxis])


def _counts(rng: Random, rows: int, columns: int) -> Array:
    """Counts with heavy tails, most of them zero."""
    rates = 10 ** rng.uniform(-2, 1, columns)
    return np.floor(rng.pareto(1.2, size=(rows, columns)) * rates)


def _one_hot(rng: Random, rows: int, columns: int) -> Array:
    """Levels of categories as zeros and ones, beside a few raw numbers."""
    raw = max(1, columns // 8)
    parts = [np.exp(rng.normal(size=(rows, raw)) * 3)]
    left = columns - raw
    while left > 0:
        levels = min(left, int(rng.integers(2, 30)))
        parts.append(np.eye(levels)[rng.zipf(1.5, rows) % levels])
        left -= levels
    return np.hstack(parts)


def _sparse_text(rng: Random, rows: int, columns: int) -> Array:
    """Few words in a row, rare ones mostly."""
    share = np.minimum(0.5, 3 / (1 + np.arange(columns)) ** 0.7)
    return np.where(rng.random((rows, columns)) < share, rng.exponential(size=(rows, columns)), 0.0)


def _few_kinds(rng: Random, rows: int, columns: int) -> Array:
    """Rows of a few kinds, each many times."""
    kinds = rng.normal(size=(max(2, rows // 50), columns)).round(1)
    return kinds[rng.integers(len(kinds), size=rows)]


ROWS: dict[str, Callable[[Random, int, int], Array]] = {
    "normal": _normal,
    "low rank": _low_rank,
    "curves": _curves,
    "counts": _counts,
    "one-hot": _one_hot,
    "text": _sparse_text,
    "few kinds": _few_kinds,
}


# What data suffer from.


def _scaled(rng: Random, X: Array) -> Array:
    return X * 10 ** rng.uniform(*SCALES, X.shape[1])


def _all_scaled(rng: Random, X: Array) -> Array:
    return X * 10 ** rng.uniform(-4, 5)


def _shifted(rng: Random, X: Array) -> Array:
    return X + (X.std(axis=0) + 1e-9) * rng.normal(size=X.shape[1]) * 10 ** rng.uniform(0, 3)


def _near_copies(rng: Random, X: Array) -> Array:
    n = X.shape[1]
    copies = rng.integers(n, size=max(1, n // 3))
    X = X.copy()
    into = rng.permutation(n)[: len(copies)]
    X[:, into] = X[:, copies] * (1 + 10 ** rng.uniform(-12, -3) * rng.normal(size=(len(X), len(copies))))
    return X


def _dependent(rng: Random, X: Array) -> Array:
    """Some columns are sums of others."""
    n = X.shape[1]
    into = rng.permutation(n)[: max(1, n // 5)]
    X = X.copy()
    X[:, into] = X[:, rng.integers(n, size=(2, len(into)))[0]] + X[:, rng.integers(n, size=len(into))]
    return X


def _constants(rng: Random, X: Array) -> Array:
    X = X.copy()
    some = rng.permutation(X.shape[1])[: max(1, X.shape[1] // 10)]
    X[:, some] = rng.normal(size=len(some)) * 10 ** rng.uniform(-2, 4, len(some))
    return X


def _outliers(rng: Random, X: Array) -> Array:
    X = X.copy()
    X[rng.integers(len(X), size=max(1, len(X) // 100))] *= 10 ** rng.uniform(2, 5)
    return X


def _repeated(rng: Random, X: Array) -> Array:
    return X[rng.integers(max(2, len(X) // 3), size=len(X))]


MISFORTUNES: tuple[tuple[str, Callable[[Random, Array], Array], float], ...] = (
    ("near copies", _near_copies, 0.15),
    ("dependent", _dependent, 0.15),
    ("outliers", _outliers, 0.15),
    ("rows repeated", _repeated, 0.1),
    ("shifted", _shifted, 0.2),
    ("constants", _constants, 0.1),
    ("scales of columns", _scaled, 0.3),
    ("one scale", _all_scaled, 0.15),
)


def _stored(rng: Random, X: Array, told: list[str]) -> Any:
    """Dense or sparse, float64 or float32."""
    if rng.random() < 0.2:
        X = X.astype(np.float32)
        told.append("float32")
    if np.count_nonzero(X) < 0.4 * X.size or rng.random() < 0.2:
        told.append("sparse")
        return sp.csr_array(X)
    return np.ascontiguousarray(X)


# What is to be learnt.


def _signal(rng: Random, X: Array) -> Array:
    """A linear function of some columns, each of which counts alike, with noise or without."""
    some = rng.permutation(X.shape[1])[: max(1, int(X.shape[1] * rng.random()))]
    part = X[:, some]
    spread = part.std(axis=0)
    z = (part - part.mean(axis=0)) @ (rng.normal(size=len(some)) / np.where(spread > 0, spread, np.inf))
    z = z / (z.std() or 1.0)
    noise = (0.0, 0.3, 1.0, 100.0)[rng.integers(4)]
    return z + noise * rng.normal(size=len(z))


def _problem(rng: Random, X: Any, signal: Array, weight: Any, told: list[str]) -> Any:
    C = 10 ** rng.uniform(*CS)
    if rng.random() < 0.1:
        return _several(rng, X, signal, weight, C, told)
    loss = sorted(LOSSES)[rng.integers(len(LOSSES))]
    penalty, intercept = PENALTIES[rng.integers(3)], INTERCEPTS[rng.choice(3, p=(0.6, 0.2, 0.2))]
    ratio = {"l1_ratio": (0.01, 0.5, 0.99)[rng.integers(3)]} if penalty == "elasticnet" else {}
    if LOSSES[loss].classification:
        y = _two_classes(rng, signal, told)
    else:
        y = signal * 10 ** rng.uniform(-3, 4) + (rng.random() < 0.3) * 10 ** rng.uniform(0, 4)
    return Problem(X, y, loss, penalty, C, intercept=intercept, sample_weight=weight, **ratio)


def _two_classes(rng: Random, signal: Array, told: list[str]) -> Array:
    share = 0.5
    if rng.random() < 0.15:
        share = max(1 / 10_000, 2 / len(signal))
        told.append("rare class")
    y = np.where(signal > np.quantile(signal, 1 - share), 1.0, -1.0)
    y[np.argmax(signal)], y[np.argmin(signal)] = 1.0, -1.0
    return y


def _several(rng: Random, X: Any, signal: Array, weight: Any, C: float, told: list[str]) -> Any:
    kinds = int(rng.integers(3, 8))
    classes = np.digitize(signal, np.quantile(signal, np.arange(1, kinds) / kinds))
    classes[:kinds] = np.arange(kinds)[: len(classes)]
    told.append(f"{kinds} classes")
    which = rng.integers(4)
    if which == 0:
        return OrdinalProblem(X, classes, loss="squared_hinge", C=C, sample_weight=weight)
    if which == 1:
        return CrammerSingerProblem(X, classes, C=C, sample_weight=weight)
    return MaximumEntropyProblem(X, classes, C=C, intercept=("free", "none")[rng.integers(2)], sample_weight=weight)
