"""What is trained on: real two-class sets from the folder that WIDEMARGIN_DATA names, and generated text-like rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from widemargin import read_svmlight

TWO_CLASSES = (
    "heart_scale",
    "german.numer",
    "splice",
    "mushrooms",
    "colon-cancer",
    "leu",
    "madelon",
    "gisette_scale.t",
    "dorothea",
    "reuters_moneyfx",
    "a9a",
    "w8a",
    "ijcnn1",
    "census_income",
    "covtype",
    "imdb_bow",
    "news20",
    "20ng_bigram_binary",
)

POSITIVE_CLASS = {"covtype": 1.0, "news20": 1.0}  # against the rest, where the file has more than two classes


def data_file(name: str, ending: str = ".svm.xz") -> Path:
    """The file of a real set, in the folder that WIDEMARGIN_DATA names."""
    folder = os.environ.get("WIDEMARGIN_DATA")
    if folder is None:
        raise SystemExit("set WIDEMARGIN_DATA to the folder that holds the data sets (name.svm.xz)")
    return Path(folder) / f"{name}{ending}"


@dataclass(frozen=True)
class Dataset:
    """A name and how to get its rows and labels."""

    name: str
    load: Callable[[], tuple[sp.csr_matrix, np.ndarray]]


def real(name: str, positive: float | None = None) -> Dataset:
    """A real set by the name of its file, labels as -1 and +1: that class, or the usual one, against the rest."""
    wanted = POSITIVE_CLASS.get(name) if positive is None else positive

    def load() -> tuple[sp.csr_matrix, np.ndarray]:
        X, y = read_svmlight(data_file(name))
        return sp.csr_matrix(X), np.where(y == (y.max() if wanted is None else wanted), 1.0, -1.0)

    return Dataset(name, load)


def text_like(rows: int = 100_000, columns: int = 50_000, words: int = 80, seed: int = 0) -> Dataset:
    """Documents of about `words` draws from a Zipf-like vocabulary, tf-idf-like, unit length, two noisy classes."""

    def load() -> tuple[sp.csr_matrix, np.ndarray]:
        rng = np.random.default_rng(seed)
        lengths = rng.poisson(words, size=rows) + 1
        ranks = np.exp(rng.random(int(lengths.sum())) * np.log(columns)).astype(np.int64) % columns
        at = np.repeat(np.arange(rows), lengths)
        X = sp.csr_matrix((np.ones(len(at)), (at, ranks)), shape=(rows, columns))
        X.sum_duplicates()
        X.data = (1 + np.log(X.data)) * np.log(rows / (1 + np.bincount(X.indices, minlength=columns)))[X.indices]
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X = sp.csr_matrix(sp.diags_array(1 / np.maximum(norms, 1e-12)) @ X)
        score = X @ rng.standard_normal(columns)
        y = np.where(score + 0.3 * score.std() * rng.standard_normal(rows) > 0, 1.0, -1.0)
        return X, y

    return Dataset(f"text_like_{rows}x{columns}", load)


def available(names: list[str] | None = None) -> list[Dataset]:
    """The generated set and every real one at hand, or those named."""
    folder = os.environ.get("WIDEMARGIN_DATA")
    at_hand = [n for n in TWO_CLASSES if folder and (Path(folder) / f"{n}.svm.xz").exists()]
    generated = text_like()
    if names is None:
        return [generated, *(real(n) for n in at_hand)]
    unknown = [n for n in names if n not in at_hand and n != "text_like"]
    if unknown:
        raise SystemExit(f"no such data set: {', '.join(unknown)}; there are: text_like, {', '.join(at_hand)}")
    return [generated if n == "text_like" else real(n) for n in names]
