"""Rows in plain NumPy that have the verbs and nothing else: what a disk, a cluster or a map of features would offer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from widemargin.data.kept import Owner
from widemargin.data.rows import VERBS


class PlainRows:
    """Dense rows by their verbs."""

    def __init__(self, X: Any) -> None:
        self._X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        self.owner = Owner()

    shape = property(lambda self: self._X.shape)
    dtype = property(lambda self: self._X.dtype)
    nnz = property(lambda self: int(np.count_nonzero(self._X)))
    offers = frozenset({VERBS})
    centred = None

    def matvec(self, w: Any, intercept: float = 0.0, *, n_jobs: int = 1) -> np.ndarray:
        return self._X @ np.asarray(w) + intercept

    def rmatvec(self, u: Any, *, accurate: bool = False, n_jobs: int = 1) -> np.ndarray:
        return self._X.T @ np.asarray(u)

    def matmat(self, W: Any, *, n_jobs: int = 1) -> np.ndarray:
        return self._X @ W

    def rmatmat(self, U: Any, *, n_jobs: int = 1) -> np.ndarray:
        return self._X.T @ U

    def hess_vec(self, h: Any, v: Any, shift: float = 0.0, *, n_jobs: int = 1) -> tuple[np.ndarray, float]:
        q = h * (self._X @ v + shift)
        return self._X.T @ q, float(q.sum())

    def class_hess_vec(self, p: Any, weights: Any, V: Any, shift: Any = 0.0, *, n_jobs: int = 1) -> Any:
        q = self._X @ V + shift
        t = weights[:, None] * p * (q - (p * q).sum(axis=1, keepdims=True))
        return self._X.T @ t, t.sum(axis=0)

    def column_sqnorms(self, h: Any = None, *, n_jobs: int = 1) -> np.ndarray:
        return (np.ones(len(self._X)) if h is None else h) @ self._X**2

    def class_column_sqnorms(self, H: Any, *, n_jobs: int = 1) -> np.ndarray:
        return (self._X**2).T @ H

    def sandwich(self, h: Any, columns: Any = None, constant: float = 0.0, *, out: Any = None, n_jobs: int = 1) -> Any:
        part = self._X if columns is None else self._X[:, columns]
        if constant:
            part = np.column_stack([part, np.full(len(part), constant)])
        square = part.T @ (np.asarray(h)[:, None] * part)
        return square if out is None else np.add(out, square, out=out)

    def select(self, columns: Any) -> PlainRows:
        return PlainRows(self._X[:, columns])

    def sample(self, n: int) -> tuple[np.ndarray, PlainRows]:
        chosen = np.arange(0, len(self._X), max(1, len(self._X) // max(1, n)))
        return chosen, self.take(chosen)

    def take(self, rows: Any) -> PlainRows:
        return PlainRows(self._X[rows])

    def blocks(self) -> Iterator[tuple[int, PlainRows]]:
        half = (len(self._X) + 1) // 2
        yield 0, PlainRows(self._X[:half])
        yield half, PlainRows(self._X[half:])

    def __repr__(self) -> str:
        return f"PlainRows{self.shape}"
