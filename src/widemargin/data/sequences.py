"""Sequences as users have them: lists of feature dicts, of strings, or of matrices; or one matrix with lengths.

A token's attributes are what python-crfsuite takes: a list of strings, or a dict whose values are numbers (the value of
the feature), strings and lists of strings ("name:value", each with value 1), or dicts again ("name:inner").
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sparse_rows import is_sparse


@dataclass(frozen=True, eq=False)
class Sequences:
    """Tokens of all sequences as one sparse or dense matrix, and how many each has."""

    X: Any = field(repr=False)
    lengths: NDArray[np.int64]
    flat: bool  # given as one matrix with lengths: results are one array too

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each sequence begins, and the end."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    def place(self, token: int) -> str:
        """A token in words: its sequence and its position there."""
        i = int(np.searchsorted(self.offsets, token, side="right")) - 1
        return f"sequence {i}, position {token - self.offsets[i]}"

    def cut(self, values: Any) -> Any:
        """One value per token as it was asked for: an array, or a list for each sequence."""
        if self.flat:
            return values
        offsets = self.offsets
        return [values[a:b] for a, b in itertools.pairwise(offsets)]


class Attributes:
    """Attribute names by number: learnt from training sequences, only looked up afterwards.

    Examples
    --------
    >>> names = Attributes()
    >>> read = names.read([[{"word": "dog", "length": 3}, ["verb"]]], learn=True)
    >>> names.names, read.X.toarray().tolist()
    (['word:dog', 'length', 'verb'], [[1.0, 3.0, 0.0], [0.0, 0.0, 1.0]])
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.number = {name: j for j, name in enumerate(names)}

    @property
    def names(self) -> list[str]:
        """The names in the order of their numbers."""
        return list(self.number)

    def read(self, sequences: Iterable[Iterable[Any]], *, learn: bool = False) -> Sequences:
        """The tokens as sparse rows; an attribute that was not learnt is passed over."""
        import scipy.sparse as sp

        columns, values, ends, lengths = array("i"), array("d"), array("q", [0]), array("q")
        for i, sequence in enumerate(sequences):
            before = len(ends)
            for t, token in enumerate(sequence):
                self._read_token(token, (i, t), columns, values, learn)
                ends.append(len(columns))
            lengths.append(_counted(i, len(ends) - before))
        shape = (len(ends) - 1, max(1, len(self.number)))
        X = sp.csr_array((np.array(values), np.array(columns, dtype=np.int32), np.array(ends)), shape=shape)
        X.sum_duplicates()
        return Sequences(X, np.array(lengths, dtype=np.int64), flat=False)

    def _read_token(self, token: Any, place: tuple[int, int], columns: Any, values: Any, learn: bool) -> None:
        for name, value in _attributes(token, place):
            j = self.number.setdefault(name, len(self.number)) if learn else self.number.get(name)
            if j is not None:
                columns.append(j)
                values.append(value)

    def pruned(self, read: Sequences, min_count: int) -> Sequences:
        """The sequences without attributes of fewer than `min_count` tokens, which are forgotten."""
        often = np.bincount(read.X.indices, minlength=read.X.shape[1]) >= min_count
        kept = np.flatnonzero(often[: len(self.number)])
        if len(kept) == 0:
            raise ValueError(f"min_count={min_count} leaves no attribute: lower it")
        names = self.names
        self.number = {names[j]: new for new, j in enumerate(kept)}
        return Sequences(read.X[:, kept], read.lengths, read.flat)


def _attributes(token: Any, place: tuple[int, int]) -> Iterator[tuple[str, float]]:
    """The names and values of a token's attributes."""
    if isinstance(token, Mapping):
        for name, value in token.items():
            yield from _named(str(name), value, place)
    elif isinstance(token, str) or not isinstance(token, Iterable):
        raise TypeError(
            f"sequence {place[0]}, position {place[1]}: a token is a dict or a list of strings, got {token!r}"
        )
    else:
        for name in token:
            if not isinstance(name, str):
                raise TypeError(f"sequence {place[0]}, position {place[1]}: attribute {name!r} is no string")
            yield name, 1.0


def _named(name: str, value: Any, place: tuple[int, int]) -> Iterator[tuple[str, float]]:
    if isinstance(value, str):
        yield f"{name}:{value}", 1.0
    elif isinstance(value, Real):
        number = float(value)
        if not np.isfinite(number):
            raise ValueError(f"sequence {place[0]}, position {place[1]}: feature {name!r} is {value}, not finite")
        yield name, number
    elif isinstance(value, Mapping):
        for inner, deeper in value.items():
            yield from _named(f"{name}:{inner}", deeper, place)
    elif isinstance(value, Iterable):
        yield from ((f"{name}:{item}", 1.0) for item in value)
    else:
        raise TypeError(f"sequence {place[0]}, position {place[1]}: feature {name!r} has the value {value!r}")


def _counted(sequence: int, n: int) -> int:
    if n == 0:
        raise ValueError(f"sequence {sequence} is empty: every sequence needs a token at least")
    return n


def is_matrix(X: Any) -> bool:
    """Whether X is one matrix of tokens, sparse or dense."""
    return is_sparse(X) or getattr(X, "ndim", 0) == 2


def read_matrix(X: Any, lengths: Any) -> Sequences:
    """One matrix of all tokens, cut by lengths."""
    from ..data.matrix import Matrix

    n = X.shape[0]
    counts = np.asarray([n] if lengths is None else lengths)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or len(counts) == 0:
        raise ValueError("lengths must be a list of whole numbers, one for each sequence")
    if (counts < 1).any():
        _counted(int(np.flatnonzero(counts < 1)[0]), 0)
    if counts.sum() != n:
        raise ValueError(f"lengths add up to {counts.sum()} tokens, X has {n} rows: they must agree")
    found = Sequences(X, counts.astype(np.int64), flat=True)
    _check_finite(found)
    Matrix(X)
    return found


def join_matrices(parts: list[Any]) -> Sequences:
    """One matrix for each sequence, one below the other."""
    widths = [part.shape[1] for part in parts]
    wrong = next((i for i, width in enumerate(widths) if width != widths[0]), None)
    if wrong is not None:
        raise ValueError(f"sequence {wrong} has {widths[wrong]} features, the first one {widths[0]}: they must agree")
    lengths = np.array([_counted(i, part.shape[0]) for i, part in enumerate(parts)], dtype=np.int64)
    if is_sparse(parts[0]):
        import scipy.sparse as sp

        X: Any = sp.csr_array(sp.vstack(parts, format="csr"))
    else:
        X = np.vstack(parts)
    found = Sequences(X, lengths, flat=False)
    _check_finite(found)
    return found


def _check_finite(found: Sequences) -> None:
    """Refuses values that are not finite, and says where they stand."""
    X = found.X
    values = X.tocsr().data if is_sparse(X) else np.asarray(X)
    if np.isfinite(values).all():
        return
    if is_sparse(X):
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        token, feature = int(np.searchsorted(X.tocsr().indptr, at, side="right")) - 1, int(X.tocsr().indices[at])
    else:
        token, feature = (int(place[0]) for place in np.nonzero(~np.isfinite(values)))
    raise ValueError(f"{found.place(token)}: feature {feature} is not finite")


def read_labels(y: Any, sequences: Sequences) -> NDArray[Any]:
    """One label per token, of one array or of a list for each sequence."""
    lengths = sequences.lengths
    if sequences.flat and not _is_nested(y):
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != lengths.sum():
            raise ValueError(f"y has {len(labels)} labels, X has {lengths.sum()} tokens: they must agree")
        return _checked_labels(labels, sequences)
    parts = [list(part) for part in y]
    if len(parts) != len(lengths):
        raise ValueError(f"y has {len(parts)} sequences, X has {len(lengths)}: they must agree")
    for i, part in enumerate(parts):
        if len(part) != lengths[i]:
            raise ValueError(f"sequence {i} has {lengths[i]} tokens and {len(part)} labels: they must agree")
    return _checked_labels([label for part in parts for label in part], sequences)


def _is_nested(y: Any) -> bool:
    first = next(iter(y), None)
    return isinstance(first, list | tuple | np.ndarray)


def _checked_labels(labels: Any, sequences: Sequences) -> NDArray[Any]:
    for token, label in enumerate(labels):
        if label is None or label != label:
            raise ValueError(f"{sequences.place(token)}: the label is missing ({label!r})")
    return np.asarray(labels)
