"""What the problems over chains share: sequences of tokens, a label for each, weights of features and of transitions.

    score of a labeling y of sequence i     s_i(y) = sum_t x_t . w[y_t] + sum_t T[y_t-1, y_t]
    min over w, T     R(w, T) + sum_i C_i loss_i(s_i)

A sequence is the unit of losses and weights, C_i = C * sample_weight_i; a row of X is a token. Coefficients travel as
one vector (chain_pairs.py).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.matrix import as_vector
from ...data.rows import Rows, Table
from ...vectors import Vector
from ..labels import ordered_labels, row_weights
from ..losses import Loss
from ..penalties import make_penalty
from ..weighted_rows import WeightedRows, as_rows
from .pairs import ChainPairs, adjoint_over, make_pairs, scores_over


def offsets_of(lengths: Any, n_tokens: int) -> NDArray[np.int64]:
    """Where each sequence begins, and the end; None for a single sequence of all tokens."""
    if lengths is None:
        return np.array([0, n_tokens], dtype=np.int64)
    counts = np.asarray(lengths)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or len(counts) == 0:
        raise ValueError("lengths must be a list of whole numbers, one for each sequence")
    if (counts < 1).any():
        at = int(np.flatnonzero(counts < 1)[0])
        raise ValueError(f"sequence {at} has length {counts[at]}: every sequence needs a token at least")
    if counts.sum() != n_tokens:
        raise ValueError(f"lengths add up to {counts.sum()} tokens, X has {n_tokens} rows: they must agree")
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


class ChainProblem(WeightedRows):
    """Base of the problems over chains; see `ChainCRFProblem` and `ChainSVMProblem`."""

    loss: Loss
    intercept = "none"

    def __init__(
        self,
        X: Any,
        y: Any,
        lengths: Any = None,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        features: str = "all",
        transitions: str = "all",
        sample_weight: Any = None,
    ) -> None:
        self.X = as_rows(X)
        ranks, self.classes = ordered_labels(y, self.X.shape[0])
        self.codes = np.ascontiguousarray(ranks, dtype=np.int32)
        self.offsets = offsets_of(lengths, self.X.shape[0])
        self.penalty = make_penalty(penalty, l1_ratio)
        self.weights = row_weights(C, sample_weight, len(self.offsets) - 1)
        self.C = float(C)
        choices = {"features": features, "transitions": transitions}
        self._laid_out(make_pairs(self.X, self.codes, self.offsets, len(self.classes), **choices))

    def _laid_out(self, pairs: ChainPairs) -> None:
        """Takes those pairs as the ones with weights."""
        self.pairs = pairs
        self.chains = _core.Chains(self.offsets, len(self.classes))
        self.native_pairs = pairs.native()

    def __getstate__(self) -> dict[str, Any]:
        """What is copied to another process: native objects are made again there."""
        return {name: value for name, value in self.__dict__.items() if name not in ("chains", "native_pairs")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._laid_out(self.pairs)

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    # Shapes.

    @property
    def y(self) -> NDArray[np.int32]:
        """The number of each token's label."""
        return self.codes

    @property
    def n_classes(self) -> int:
        """k"""
        return len(self.classes)

    @property
    def n_sequences(self) -> int:
        """How many sequences there are."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each sequence."""
        return np.diff(self.offsets)

    @property
    def size(self) -> int:
        """How long a coefficient vector is."""
        return self.pairs.size

    @property
    def work(self) -> int:
        """What a pass costs: entries of the data and pairs of neighbouring labels, for every label."""
        return (self.X.nnz + self.X.shape[0] * self.n_classes) * self.n_classes

    @property
    def token_weights(self) -> Vector:
        """C_i of each token's sequence."""
        return np.repeat(self.weights, self.lengths)

    def decode(self, coef: Any, intercept: float = 0.0) -> tuple[Table, Vector]:
        """The weights of features, one line per label, and no intercepts."""
        return np.ascontiguousarray(self.pairs.table(self._checked(coef)).T), np.zeros(self.n_classes)

    def transitions(self, coef: Any) -> Table:
        """The weights of transitions, from the label of the line to that of the column."""
        return self.pairs.edge_table(self._checked(coef)).copy()

    def _checked(self, coef: Any) -> Vector:
        checked = as_vector("coef", coef)
        if len(checked) != self.size:
            raise ValueError(
                f"coef has {len(checked)} entries, expected {self.size}: pairs of features and labels, and transitions"
            )
        return checked

    # Other problems over the same or other tokens.

    def over(self, X: Rows) -> Self:
        """The same problem over other features of the same tokens; observed pairs are those of the same features."""
        other = self._changed(X=X, keeper=None)
        if X.shape[1] != self.X.shape[1]:
            other._laid_out(self.pairs.over(X.shape[1]))
        return other

    def taken(self, rows: Any, stands_for: Any = 1.0) -> Self:
        """The problem of those sequences alone (their numbers), which are copied; each stands for so many."""
        chosen = np.arange(self.n_sequences)[rows]
        tokens = np.concatenate([np.arange(self.offsets[i], self.offsets[i + 1]) for i in chosen])
        other = self._changed(
            X=self.X.take(tokens),
            codes=self.codes[tokens],
            weights=self.weights[chosen] * stands_for,
            offsets=np.concatenate([[0], np.cumsum(self.lengths[chosen])]).astype(np.int64),
            keeper=None,
        )
        other._laid_out(self.pairs)
        return other

    # Passes.

    def scores(self, coef: Any) -> Table:
        """The scores of every label at every token, without transitions: tokens x labels."""
        return scores_over(self.X, self.pairs, self.chains, self._checked(coef), self.native_pairs, self.n_jobs)

    def adjoint(self, u: Table, edge: Table) -> Vector:
        """sum over tokens of x_t u_t^T and the table of transitions, as a coefficient vector."""
        held = adjoint_over(self.X, self.pairs, self.chains, u, self.native_pairs, self.n_jobs)
        return np.concatenate([held, self.pairs.joined_edges(edge)])

    def truth_scores(self, z: Table, edge: Table) -> Vector:
        """The score of each sequence's own labeling."""
        found = np.empty(self.n_sequences)
        _core.chain_scores_of(self.chains, z.reshape(-1), np.ascontiguousarray(edge).reshape(-1), self.codes, found)
        return found

    @property
    def truth_edges(self) -> Table:
        """The transitions of all labelings, each C_i times: labels x labels."""
        follows = np.ones(len(self.codes), dtype=bool)
        follows[self.offsets[:-1]] = False
        at, k = np.flatnonzero(follows), self.n_classes
        pairs = self.codes[at - 1].astype(np.int64) * k + self.codes[at]
        return np.asarray(
            np.bincount(pairs, weights=self.token_weights[at], minlength=k * k), dtype=np.float64
        ).reshape(k, k)

    def pull_of(self, shares: Table, edge_shares: Table) -> Vector:
        """sum_i C_i (f(y_i) - E_i f), of marginals that were multiplied by C_i already; `shares` is overwritten."""
        np.negative(shares, out=shares)
        shares[np.arange(len(shares)), self.codes] += self.token_weights
        return self.adjoint(shares, self.truth_edges - edge_shares)

    def penalty_value(self, coef: Vector) -> float:
        """R(w, T)"""
        return self.penalty.value(coef)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.X!r}, {self.n_sequences} sequences, {self.n_classes} labels, C={self.C:g}, "
            f"penalty={self.penalty.name!r})"
        )
