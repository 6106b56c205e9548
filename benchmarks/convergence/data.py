"""Every linear problem among the data sets: two classes, one class against the rest, numbers; nothing is scaled."""

from __future__ import annotations

import lzma
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from widemargin import read_svmlight
from widemargin.data.tables import encode, fit_encoding

CLASSIFICATION, REGRESSION, ORDINAL = "classification", "regression", "ordinal"

# From small to large, so that a run which is stopped early has seen most of them.
TABLES = ("ESL", "LEV", "SWD", "ERA", "winequality-red", "winequality-white")
NUMBERS = ("housing_scale", "abalone_scale", "cpusmall", "cadata")
CLASSES = (
    "heart_scale",
    "german.numer",
    "splice",
    "colon-cancer",
    "leu",
    "mushrooms",
    "dna.scale",
    "satimage.scale",
    "madelon",
    "letter.scale",
    "reuters_moneyfx",
    "a9a",
    "w8a",
    "ijcnn1",
    "dorothea",
    "adult-train",
    "news20",
    "usps",
    "imdb_bow",
    "gisette_scale.t",
    "census_income",
    "mnist",
    "covtype",
    "20ng_bigram_binary",
)
POSITIVE_CLASS = {"covtype": 1.0}  # else the class with the largest label
DENSE_FROM = 0.5  # share of nonzeros


@dataclass(frozen=True)
class Dataset:
    """A name, the kind of its targets, and how to get it."""

    name: str
    kind: str
    load: Callable[[], tuple[Any, np.ndarray]]


def datasets(names: list[str] | None = None) -> list[Dataset]:
    """Those named, or all that are at hand."""
    known = [Dataset(name, ORDINAL, lambda name=name: _ordered(name)) for name in TABLES]
    known += [Dataset(name, REGRESSION, lambda name=name: _table(name)) for name in TABLES]
    known += [Dataset(name, REGRESSION, lambda name=name: _sparse(name)) for name in NUMBERS]
    known += [Dataset(name, CLASSIFICATION, lambda name=name: _two_classes(name)) for name in CLASSES]
    unknown = set(names or ()) - {known_set.name for known_set in known}
    if unknown:
        raise SystemExit(f"no such data set: {', '.join(sorted(unknown))}")
    return [known_set for known_set in known if (not names or known_set.name in names) and _path(known_set.name)]


def _path(name: str) -> Path | None:
    folder = os.environ.get("WIDEMARGIN_DATA")
    if folder is None:
        raise SystemExit("set WIDEMARGIN_DATA to the folder that holds the data sets")
    found = [Path(folder) / f"{name}{ending}" for ending in (".svm.xz", ".csv.xz")]
    return next((path for path in found if path.exists()), None)


def _two_classes(name: str) -> tuple[Any, np.ndarray]:
    X, y = _adult(name) if name.startswith("adult") else _sparse(name)
    return X, np.where(y == POSITIVE_CLASS.get(name, y.max()), 1.0, -1.0)


def _adult(name: str) -> tuple[Any, np.ndarray]:
    """The raw table: numbers as they are, a feature of 0 and 1 for every word."""
    rows = _fields(name)
    table = {f"column {j}": [row[j].strip() for row in rows] for j in range(len(rows[0]))}
    label = f"column {len(rows[0]) - 1}"
    X = sp.csr_matrix(encode(table, fit_encoding(table, label, (), 18, "csv")))
    return X, np.unique(table[label], return_inverse=True)[1].astype(np.float64)


def _sparse(name: str) -> tuple[Any, np.ndarray]:
    X, y = read_svmlight(_path(name))
    X, y = sp.csr_matrix(X), np.asarray(y, dtype=np.float64)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # as scikit-learn's solvers want it
    return (X.toarray() if X.nnz > DENSE_FROM * X.shape[0] * X.shape[1] else X), y


def _table(name: str) -> tuple[Any, np.ndarray]:
    """Numbers between commas, the target last; a first line of words is skipped."""
    rows = _fields(name)
    header = any(not _is_number(word) for word in rows[0])
    values = np.array(rows[1:] if header else rows, dtype=np.float64)
    return np.ascontiguousarray(values[:, :-1]), values[:, -1].copy()


def _fields(name: str) -> list[list[str]]:
    with lzma.open(str(_path(name)), "rt") as lines:
        return [line.strip().split(",") for line in lines if line.strip()]


def _ordered(name: str) -> tuple[Any, np.ndarray]:
    X, y = _table(name)
    return X, np.unique(y, return_inverse=True)[1].astype(np.float64)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
