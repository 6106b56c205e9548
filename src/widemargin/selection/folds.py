"""Folds: which rows are fitted and which are held out.

A fold is two lists of row numbers; fold_run.py decides whether its rows are copied (small data) or shared with all
other folds, the rows held out having weight zero (large data).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .several import Subject

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Fold:
    """Row numbers of one split."""

    fitted: Rows
    held_out: Rows

    def by_length(self, lengths: NDArray[np.int64]) -> Fold:
        """The same fold, the rows to be fitted in the order of their lengths.

        A processor foresees where a row ends if the last ones were as long: passes over w8a take half the time.
        """
        return Fold(self.fitted[np.argsort(lengths[self.fitted], kind="stable")], self.held_out)


def make_folds(subject: Subject, cv: Any, seed: int = 0) -> list[Fold]:
    """The splits: so many folds, a splitter of scikit-learn's, or pairs of row numbers.

    A number means shuffled folds, stratified for labels: files are often sorted by class or by source, and folds cut
    from them in order would each miss what the others hold.
    """
    folds = _dealt(subject, int(cv), seed) if isinstance(cv, (int, np.integer)) else _split(subject, cv)
    if not folds:
        raise ValueError("cv makes no folds: give a number of at least 2, or at least one pair of row numbers")
    for number, fold in enumerate(folds):
        _require_usable(subject, fold, number)
    return folds


def _dealt(subject: Subject, count: int, seed: int) -> list[Fold]:
    rows = len(subject.y)
    if not 2 <= count <= rows:
        raise ValueError(f"cv must lie between 2 and the number of rows, got cv={count} with n_samples={rows}")
    return dealt_folds(subject.y, count, seed, stratified=subject.loss.classification)


def dealt_folds(y: NDArray[Any], count: int, seed: int, *, stratified: bool) -> list[Fold]:
    """So many folds, to which rows are dealt out by `fold_numbers`."""
    number = fold_numbers(y, count, seed, stratified=stratified)
    return [Fold(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(count)]


def fold_numbers(y: NDArray[Any], count: int, seed: int, *, stratified: bool) -> Rows:
    """Which fold each row belongs to: rows are shuffled and dealt out like cards, if stratified class after class.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> sorted(fold_numbers(y, 3, seed=0, stratified=True)[y == 1].tolist())
    [0, 1, 2]
    """
    rows = len(y)
    if count > rows:
        raise ValueError(f"{count} folds of {rows} rows: every fold needs a row")
    shuffled = np.random.default_rng(seed).permutation(rows)
    if stratified:
        shuffled = shuffled[np.argsort(y[shuffled], kind="stable")]
    number = np.empty(rows, dtype=np.intp)
    number[shuffled] = np.arange(rows) % count
    return number


def _split(subject: Subject, cv: Any) -> list[Fold]:
    from sklearn.model_selection import check_cv

    splitter = check_cv(cv, subject.y, classifier=subject.loss.classification)
    pairs = splitter.split(np.zeros((len(subject.y), 1)), subject.y)
    return [Fold(_row_numbers(fitted), _row_numbers(held_out)) for fitted, held_out in pairs]


def _row_numbers(chosen: Any) -> Rows:
    array = np.asarray(chosen)
    return np.flatnonzero(array) if array.dtype.kind == "b" else array.astype(np.intp)


def _require_usable(subject: Subject, fold: Fold, number: int) -> None:
    if len(fold.held_out) == 0:
        raise ValueError(f"fold {number} holds no row out: there is nothing to score")
    counting = fold.fitted[subject.weights[fold.fitted] > 0]
    if len(counting) == 0:
        raise ValueError(f"fold {number} fits no row whose weight is above zero")
    if subject.loss.classification and len(np.unique(subject.y[counting])) < 2:
        raise ValueError(f"fold {number} fits rows of one class only: use fewer folds, or cv with stratified splits")
