"""The structured SVM over chains.

    min over w        1/2 |w|^2 + sum_i C_i max_y (cost_i(y) + w . f_i(y) - w . f_i(y_i))
    max over alpha    -1/2 |w(alpha)|^2 + sum_i C_i sum_y alpha_i(y) cost_i(y)
                      w(alpha) = sum_i C_i sum_y alpha_i(y) (f_i(y_i) - f_i(y)),   alpha_i a distribution of labelings

Taskar, Guestrin, Koller 2003; Tsochantaridis et al. 2005 (margin rescaling). A dual point is a mixture of labelings
that is written out, so that it is a distribution and its costs and features are computed here. Without one, every
sequence's most violating labeling is mixed with the truth, by the share that proves most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.rows import Table
from ...vectors import Vector, inner
from ..certificate import Certificate, Certified
from ..losses import Loss
from ..points import Point
from .problem import ChainProblem

# A distribution's shares may miss one by rounding.
SHARES_ROUNDING = 1e-9


class ChainHinge(Loss):
    """max over y of cost(y) + s(y) - s(truth)"""

    name = "chain_hinge"
    smooth = False


@dataclass(frozen=True, eq=False)
class LabelingMixture:
    """A dual point of the structured SVM: labelings, one after another, each of a sequence and with its share."""

    owner: NDArray[np.int64] = field(repr=False)  # the sequence of each labeling
    share: Vector = field(repr=False)
    labels: NDArray[np.int32] = field(repr=False)  # of all labelings, end to end
    n_tokens: int

    def __len__(self) -> int:
        return self.n_tokens

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The shares."""
        return self.share.astype(dtype or np.float64)


class MixtureFacts(NamedTuple):
    """What a mixture amounts to."""

    pull: Vector  # w(alpha)
    cost: float  # sum_i C_i times the expected cost


def cost_matrix(loss: Any, classes: NDArray[Any]) -> Table:
    """The cost of each label (column) where another (line) is right: 1 for "hamming", or a matrix that is given."""
    k = len(classes)
    if isinstance(loss, str):
        if loss != "hamming":
            raise ValueError(f"loss must be 'hamming' or a cost matrix, got {loss!r}")
        return 1.0 - np.eye(k)
    cost = np.ascontiguousarray(loss, dtype=np.float64)
    if cost.shape != (k, k):
        raise ValueError(f"the cost matrix has shape {cost.shape}, expected {(k, k)}: one line and column per label")
    if not (np.isfinite(cost).all() and (cost >= 0).all() and (np.diag(cost) == 0).all()):
        raise ValueError("costs must be finite and not negative, and those of the right label 0")
    return cost


class ChainSVMProblem(ChainProblem):
    """A structured SVM over chains, to be fitted.

    Parameters
    ----------
    X : matrix of shape (tokens, features)
        The tokens of all sequences, one sequence after another; anything `Matrix` accepts.
    y : array of shape (tokens,)
        The label of each token.
    lengths : list of int, optional
        Tokens of each sequence; by default all tokens are one sequence.
    C : float
        Weight of the losses against the penalty.
    loss : "hamming" or matrix of shape (labels, labels)
        What the label of the column costs where that of the line is right, summed over the tokens of a sequence.
    features, transitions : {"all", "observed"}
        Whether all pairs have weights, or those that occur in y.
    sample_weight : array of shape (sequences,), optional
        Multiplies C per sequence.

    Examples
    --------
    >>> from widemargin import ChainSVMProblem, solve
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> problem = ChainSVMProblem(X, ["a", "b", "a", "b"], lengths=[2, 2])
    >>> solve(problem, tol=1e-6).converged
    True
    """

    loss: Loss = ChainHinge()

    def __init__(self, X: Any, y: Any, lengths: Any = None, C: float = 1.0, *, loss: Any = "hamming", **choices: Any):
        super().__init__(X, y, lengths, C, **choices)
        self.cost = cost_matrix(loss, self.classes)

    def most_violating(self, z: Table, edge: Table) -> tuple[NDArray[np.int32], Vector]:
        """The labelings of the highest score and cost, and that sum for every sequence."""
        labels, none = np.empty(len(self.codes), dtype=np.int32), np.empty(0, dtype=np.int32)
        scores, flat = np.empty(self.n_sequences), np.ascontiguousarray(edge).reshape(-1)
        z_flat, cost = np.ascontiguousarray(z).reshape(-1), self.cost.reshape(-1)
        _core.chain_viterbi(self.chains, z_flat, flat, cost, self.codes, none, labels, scores, self.n_jobs)
        return labels, scores

    def objective(self, coef: Any, intercept: float = 0.0) -> float:
        """1/2 |w|^2 + sum_i C_i loss_i"""
        coef = self._checked(coef)
        z, edge = self.scores(coef), self.pairs.edge_table(coef)
        return self._primal(coef, z, edge, self.most_violating(z, edge)[1])

    def _primal(self, coef: Vector, z: Table, edge: Table, scores: Vector) -> float:
        losses = np.maximum(0.0, scores - self.truth_scores(z, edge))
        return self.penalty_value(coef) + float((self.weights * losses).sum())

    def labeling_costs(self, labels: NDArray[np.int32], owner: NDArray[np.int64] | None = None) -> Vector:
        """What labelings cost: those of all sequences, or those of the sequences `owner`, end to end."""
        if owner is None:
            owner = np.arange(self.n_sequences)
        tokens, which = self._places(owner)
        costs = self.cost[self.codes[tokens], labels]
        return np.asarray(np.bincount(which, weights=costs, minlength=len(owner)), dtype=np.float64)

    def _places(self, owner: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The token, and the number of the labeling, of every label in labelings of those sequences."""
        lengths = self.lengths[owner]
        which = np.repeat(np.arange(len(owner)), lengths)
        begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        return np.arange(len(which)) - begins[which] + self.offsets[owner][which], which

    def mixture_facts(self, mixture: LabelingMixture) -> MixtureFacts:
        """w(alpha) and the expected costs of a mixture."""
        tokens, which = self._places(mixture.owner)
        k, share = self.n_classes, (mixture.share * self.weights[mixture.owner])[which]
        labels = mixture.labels.astype(np.int64)
        cells = tokens * k + labels
        mu = np.bincount(cells, weights=share, minlength=len(self.codes) * k).reshape(-1, k)
        at = np.flatnonzero(np.diff(which, prepend=-1) == 0)
        edges = np.bincount(labels[at - 1] * k + labels[at], weights=share[at], minlength=k * k).reshape(k, k)
        cost = float((share * self.cost[self.codes[tokens], labels]).sum())
        pull = self.pull_of(np.asarray(mu, dtype=np.float64), np.asarray(edges, dtype=np.float64))
        return MixtureFacts(pull, cost)

    def whole(self, labels: NDArray[np.int32], share: float = 1.0) -> LabelingMixture:
        """One labeling for every sequence, with that share, and the truth with the rest."""
        n, parts = np.arange(self.n_sequences), [(labels, share)]
        if share < 1:
            parts.append((self.codes, 1 - share))
        owner = np.concatenate([n for _ in parts])
        shares = np.concatenate([np.full(len(n), part) for _, part in parts])
        return LabelingMixture(owner, shares, np.concatenate([part for part, _ in parts]), len(self.codes))

    def _zero_dual(self) -> LabelingMixture:
        return self.whole(self.codes)

    def _certified(self, point: Point, at_zero: float) -> Certified:
        """The certificate of the weights, with the point's mixture or with its most violating labelings."""
        coef = self._checked(point.w)
        edge = self.pairs.edge_table(coef)
        z = self.scores(coef) if point.z is None else point.z
        labels, scores = self.most_violating(z, edge)
        if point.dual is None:
            mixture, facts = self._own_mixture(labels)
        else:
            mixture = self._checked_dual(point.dual)
            facts = self.mixture_facts(mixture)
        dual = -0.5 * inner(facts.pull, facts.pull) + facts.cost
        primal = self._primal(coef, z, edge, scores)
        return Certified(Certificate(primal, dual, at_zero), Point(point.w, 0.0, mixture, z))

    def _own_mixture(self, labels: NDArray[np.int32]) -> tuple[LabelingMixture, MixtureFacts]:
        """The labelings mixed with the truth, by the share s with the largest s cost - s^2/2 |pull|^2."""
        facts = self.mixture_facts(self.whole(labels))
        square = inner(facts.pull, facts.pull)
        share = min(1.0, facts.cost / square) if square > 0 else 1.0
        return self.whole(labels, share), MixtureFacts(share * facts.pull, share * facts.cost)

    def _checked_dual(self, dual: Any) -> LabelingMixture:
        """The mixture, if it is one of distributions over labelings of these sequences."""
        if not isinstance(dual, LabelingMixture):
            raise TypeError(f"a dual point of a structured SVM is a LabelingMixture, got {type(dual).__name__}")
        n, k = self.n_sequences, self.n_classes
        owner, share, labels = dual.owner, dual.share, dual.labels
        known = len(owner) == len(share) and ((owner >= 0) & (owner < n)).all()
        if not known or len(labels) != self.lengths[owner].sum() or ((labels < 0) | (labels >= k)).any():
            raise ValueError("the dual point holds no labelings of these sequences")
        totals = np.bincount(owner, weights=share, minlength=n)
        if (share < 0).any() or np.abs(totals - 1).max() > SHARES_ROUNDING:
            raise ValueError("the dual point is no distribution: shares must not be negative and add up to one")
        return dual

    def certificate(self, coef: Any, intercept: float = 0.0, dual: Any = None) -> Certificate:
        """Primal value, dual bound and gap at a point."""
        return self.certify(Point(self._checked(coef), dual=dual)).certificate
