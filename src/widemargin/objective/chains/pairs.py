"""Which pairs have weights in a chain, and how a coefficient vector lays them out.

Features weigh (feature, label), transitions weigh (label before, label). Either all pairs have a weight, or those alone
that the training labels show. A coefficient vector holds the pairs of features, feature by feature and label by label,
and behind them the transitions, by the label before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.matrix import Matrix
from ...data.rows import IN_ORDER, Rows, Table
from ...vectors import Vector

CHOICES = ("all", "observed")
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ChainPairs:
    """The pairs with weights: `None` stands for all of them, else the places of those in the flat table, ascending."""

    n_features: int
    n_labels: int
    places: Places | None  # in features x labels
    edges: Places | None  # in labels x labels

    @property
    def n_feature_weights(self) -> int:
        """How many of the coefficients weigh features: the first ones."""
        return self.n_features * self.n_labels if self.places is None else len(self.places)

    @property
    def size(self) -> int:
        """How long a coefficient vector is."""
        return self.n_feature_weights + (self.n_labels**2 if self.edges is None else len(self.edges))

    @property
    def used_edges(self) -> Vector:
        """1 for each transition that has a weight, else 0, flat."""
        if self.edges is None:
            return np.ones(self.n_labels**2)
        used = np.zeros(self.n_labels**2)
        used[self.edges] = 1.0
        return used

    def native(self) -> _core.Pairs:
        """The pairs of features as native passes take them."""
        if self.places is None:
            return _core.Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
        feature, label = np.divmod(self.places, self.n_labels)
        start = np.searchsorted(feature, np.arange(self.n_features + 1)).astype(np.int64)
        return _core.Pairs(start, label.astype(np.int32))

    def table(self, coef: Vector) -> Table:
        """The weights of features, features x labels."""
        held = coef[: self.n_feature_weights]
        if self.places is None:
            return held.reshape(self.n_features, self.n_labels)
        whole = np.zeros(self.n_features * self.n_labels)
        whole[self.places] = held
        return whole.reshape(self.n_features, self.n_labels)

    def edge_table(self, coef: Vector) -> Table:
        """The weights of transitions, labels x labels."""
        held, k = coef[self.n_feature_weights :], self.n_labels
        if self.edges is None:
            return held.reshape(k, k)
        whole = np.zeros(k * k)
        whole[self.edges] = held
        return whole.reshape(k, k)

    def joined(self, table: Table, edge: Table) -> Vector:
        """Both tables as a coefficient vector; what has no weight is left out."""
        flat = table.reshape(-1)
        held = flat if self.places is None else flat[self.places]
        return np.concatenate([held, self.joined_edges(edge)])

    def joined_edges(self, edge: Table) -> Vector:
        """The transitions with weights, flat."""
        flat = edge.reshape(-1)
        return flat if self.edges is None else flat[self.edges]

    def over(self, n_features: int) -> ChainPairs:
        """All pairs of so many other features, with the same transitions."""
        return ChainPairs(n_features, self.n_labels, None, self.edges)


def observed_edges(codes: NDArray[np.int32], offsets: Places, n_labels: int) -> Places:
    """The transitions that occur within sequences, ascending."""
    follows = np.ones(len(codes), dtype=bool)
    follows[offsets[:-1]] = False
    at = np.flatnonzero(follows)
    return np.unique(codes[at - 1].astype(np.int64) * n_labels + codes[at])


def observed_pairs(X: Rows, codes: NDArray[np.int32], n_labels: int) -> Places:
    """The pairs of features and labels that occur in a token, ascending."""
    if not (isinstance(X, Matrix) and X.is_sparse):
        squares = X.class_column_sqnorms(np.eye(n_labels)[codes])  # values of either sign must not cancel
        return np.flatnonzero(squares.reshape(-1))
    indptr, indices, values = _core.row_arrays(X.native_rows)
    label = np.repeat(codes, np.diff(indptr))
    found = indices.astype(np.int64) * n_labels + label
    return np.unique(found[np.asarray(values) != 0])


def make_pairs(X: Rows, codes: NDArray[np.int32], offsets: Places, n_labels: int, **choices: str) -> ChainPairs:
    """The pairs that `features` and `transitions` ask for: "all" or "observed"."""
    for name, choice in choices.items():
        if choice not in CHOICES:
            raise ValueError(f"{name} must be one of {', '.join(CHOICES)}, got {choice!r}")
    all_features, all_edges = choices["features"] == "all", choices["transitions"] == "all"
    return ChainPairs(
        X.shape[1],
        n_labels,
        None if all_features else observed_pairs(X, codes, n_labels),
        None if all_edges else observed_edges(codes, offsets, n_labels),
    )


def scores_over(X: Rows, pairs: ChainPairs, chains: _core.Chains, coef: Vector, native: Any, n_jobs: int) -> Table:
    """The scores of every label at every token, without transitions: tokens x labels."""
    if pairs.places is None or IN_ORDER not in X.offers:
        return X.matmat(pairs.table(coef), n_jobs=n_jobs)
    z = np.empty((X.shape[0], pairs.n_labels))
    held = np.ascontiguousarray(coef[: pairs.n_feature_weights])
    _core.pair_scores(_rows(X), chains, native, held, z.reshape(-1), n_jobs)
    return z


def adjoint_over(X: Rows, pairs: ChainPairs, chains: _core.Chains, u: Table, native: Any, n_jobs: int) -> Vector:
    """sum over tokens of x_t u_t^T, for the pairs with weights."""
    if pairs.places is None or IN_ORDER not in X.offers:
        flat = X.rmatmat(u, n_jobs=n_jobs).reshape(-1)
        return flat if pairs.places is None else flat[pairs.places]
    g = np.zeros(pairs.n_feature_weights)
    _core.pair_adjoint(_rows(X), chains, native, np.ascontiguousarray(u).reshape(-1), g)
    return g


def _rows(X: Any) -> _core.Rows:
    rows: _core.Rows = X.native_rows
    return rows
