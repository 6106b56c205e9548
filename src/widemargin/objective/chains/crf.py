"""The chain CRF: conditional random fields over sequences.

    min over w        R(w) + sum_i C_i (log sum_y exp(w . f_i(y)) - w . f_i(y_i))
    max over mu       -R*(sum_i C_i (f_i(y_i) - E_mu_i f_i)) + sum_i C_i H(mu_i)      mu_i: marginals of labelings

Lafferty, McCallum, Pereira 2001. A dual point is given by scores theta whose distributions have the marginals mu, so
that marginals and entropies are computed here and never believed. Without one, theta are the model's own scores: with
l2 the gap is then 1/2 |gradient|^2. Elastic net: every mu is feasible. l1: mu is mixed with the truth, s mu + (1 - s)
delta_y, so that no feature pulls more than 1; the entropy of the mixture needs only H and the probability of the
truth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ...data.rows import Table
from ...vectors import Vector
from ..certificate import Certificate, Certified
from ..losses import Loss
from ..points import Point
from ..smooth_part import SmoothPart
from .problem import ChainProblem
from .smooth import ChainSmooth

# A label whose score is larger by this than the others' is as good as certain: e^-CERTAIN is nothing beside 1.
CERTAIN = 300.0


class ChainLikelihood(Loss):
    """log sum_y exp(s(y)) - s(truth)"""

    name = "chain"
    smooth = True
    probabilities = True


@dataclass(frozen=True, eq=False)
class ChainScores:
    """A dual point of the CRF: scores whose distributions have its marginals, by token and by transition."""

    theta: Table = field(repr=False)  # tokens x labels
    edges: Table = field(repr=False)  # labels x labels, or one such table for every sequence

    def __len__(self) -> int:
        return len(self.theta)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """All scores in one flat array."""
        return np.concatenate([self.theta.reshape(-1), self.edges.reshape(-1)]).astype(dtype or np.float64)


class Posteriors(NamedTuple):
    """What scores say of every sequence."""

    log_z: Vector
    entropy: Vector
    mu: Table  # tokens x labels
    edge_sums: Table  # sequences x labels x labels


class ChainCRFProblem(SmoothPart, ChainProblem):
    """A chain CRF to be fitted.

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
    penalty : {"l2", "l1", "elasticnet"}
    l1_ratio : float
        The share of l1 in the elastic net.
    features, transitions : {"all", "observed"}
        Whether all pairs have weights, or those that occur in y.
    sample_weight : array of shape (sequences,), optional
        Multiplies C per sequence.

    Examples
    --------
    >>> from widemargin import ChainCRFProblem, solve
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> problem = ChainCRFProblem(X, ["a", "b", "a", "b"], lengths=[2, 2])
    >>> solution = solve(problem, "tron", tol=1e-8)
    >>> problem.labels(solution.coef).tolist()
    ['a', 'b', 'a', 'b']
    """

    loss: Loss = ChainLikelihood()

    @property
    def tells_its_dual(self) -> bool:
        """Whether the weights alone tell marginals that become as good: where the penalty has a gradient."""
        return self.penalty.smooth

    def smooth(self) -> ChainSmooth:
        """The losses and the l2 part of the penalty as a smooth function of one vector."""
        return ChainSmooth(self)

    def posteriors(self, z: Table, edges: Table) -> Posteriors:
        """log Z, entropies and marginals at those scores."""
        n, k = self.n_sequences, self.n_classes
        found = Posteriors(np.empty(n), np.empty(n), np.empty((len(self.codes), k)), np.empty((n, k, k)))
        log_z, entropy, mu, sums = found
        flat = np.ascontiguousarray(edges, dtype=np.float64).reshape(-1)
        scores = np.ascontiguousarray(z, dtype=np.float64).reshape(-1)
        _core.chain_posteriors(self.chains, scores, flat, log_z, entropy, mu.reshape(-1), sums.reshape(-1), self.n_jobs)
        return found

    def loss_sum(self, log_z: Vector, z: Table, edge: Table) -> float:
        """sum_i C_i (log Z_i - s_i(y_i))"""
        return float((self.weights * np.maximum(0.0, log_z - self.truth_scores(z, edge))).sum())

    def objective(self, coef: Any, intercept: float = 0.0) -> float:
        """R(w) + sum_i C_i loss_i"""
        coef = self._checked(coef)
        z, edge = self.scores(coef), self.pairs.edge_table(coef)
        return self.penalty_value(coef) + self.loss_sum(self.posteriors(z, edge).log_z, z, edge)

    def gradient(self, coef: Any, intercept: float = 0.0) -> tuple[Vector, float]:
        """The gradient of the losses and the l2 part of the penalty; the second part is 0, no intercept being there."""
        smooth = self.smooth()
        return smooth.start(Point(self._checked(coef))).gradient, 0.0

    def labels(self, coef: Any) -> Any:
        """The best label of every token."""
        coef = self._checked(coef)
        codes, none = np.empty(len(self.codes), dtype=np.int32), np.empty(0, dtype=np.int32)
        edge = np.ascontiguousarray(self.pairs.edge_table(coef)).reshape(-1)
        flat = self.scores(coef).reshape(-1)
        scores = np.empty(self.n_sequences)
        _core.chain_viterbi(self.chains, flat, edge, np.empty(0), none, none, codes, scores, self.n_jobs)
        return self.classes[codes]

    # The dual and the certificate.

    def dual_value(self, posteriors: Posteriors, truth_logs: Vector) -> float:
        """The dual objective at marginals; `truth_logs` are the log probabilities of the truth under them."""
        token_C, C = self.token_weights[:, None], self.weights
        edges = np.einsum("i,ijk->jk", C, posteriors.edge_sums)
        pull = self.pull_of(token_C * posteriors.mu, edges)
        scale = self.penalty.dual_scale(pull)
        entropy = posteriors.entropy if scale == 1 else mixed_entropy(posteriors.entropy, truth_logs, scale)
        return -self.penalty.conjugate(scale * pull) + float((C * entropy).sum())

    def _zero_dual(self) -> ChainScores:
        """Scores under which the truth is certain."""
        theta = np.zeros((len(self.codes), self.n_classes))
        theta[np.arange(len(theta)), self.codes] = CERTAIN
        return ChainScores(theta, np.zeros((self.n_classes, self.n_classes)))

    def _certified(self, point: Point, at_zero: float) -> Certified:
        """The certificate of the weights, with the marginals of the point's dual or with their own."""
        coef = self._checked(point.w)
        edge = self.pairs.edge_table(coef)
        z = self.scores(coef) if point.z is None else point.z
        found = self.posteriors(z, edge)
        primal = self.penalty_value(coef) + self.loss_sum(found.log_z, z, edge)
        theta = ChainScores(z, edge.copy()) if point.dual is None else self._checked_dual(point.dual)
        if point.dual is not None:
            found = self.posteriors(theta.theta, theta.edges)
        dual = self.dual_value(found, self._truth_logs(theta, found.log_z))
        return Certified(Certificate(primal, dual, at_zero), Point(point.w, 0.0, theta, z))

    def _truth_logs(self, theta: ChainScores, log_z: Vector) -> Vector:
        """log p(y_i) under the dual point, needed where marginals may have to be mixed with the truth."""
        if self.penalty.rho < 1:
            return np.zeros(0)
        if theta.edges.ndim == 2:
            return self.truth_scores(theta.theta, theta.edges) - log_z
        tokens = np.arange(len(self.codes))
        own = theta.theta[tokens, self.codes]
        owner, follows = np.repeat(np.arange(self.n_sequences), self.lengths), np.ones(len(tokens), dtype=bool)
        follows[self.offsets[:-1]] = False
        at = np.flatnonzero(follows)
        own[at] += theta.edges[owner[at], self.codes[at - 1], self.codes[at]]
        return np.bincount(owner, weights=own, minlength=self.n_sequences) - log_z

    def _checked_dual(self, dual: Any) -> ChainScores:
        k, tokens = self.n_classes, len(self.codes)
        if not isinstance(dual, ChainScores):
            raise TypeError(f"a dual point of a chain CRF is ChainScores, got {type(dual).__name__}")
        if dual.theta.shape != (tokens, k) or dual.edges.shape not in ((k, k), (self.n_sequences, k, k)):
            raise ValueError(
                f"the dual point has scores of shapes {dual.theta.shape} and {dual.edges.shape}, expected "
                f"{(tokens, k)} and {(k, k)} or {(self.n_sequences, k, k)}"
            )
        return dual

    def certificate(self, coef: Any, intercept: float = 0.0, dual: Any = None) -> Certificate:
        """Primal value, dual bound and gap at a point."""
        return self.certify(Point(self._checked(coef), dual=dual)).certificate


def mixed_entropy(entropy: Vector, truth_logs: Vector, s: float) -> Vector:
    """The entropy of s p + (1 - s) delta_truth, from that of p and log p(truth).

    >>> import numpy as np
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> mixed = 0.4 * p + 0.6 * np.array([1.0, 0.0, 0.0])
    >>> H = lambda q: -(q * np.log(q)).sum()
    >>> bool(np.isclose(mixed_entropy(np.array([H(p)]), np.log(p[:1]), 0.4)[0], H(mixed)))
    True
    """
    p = np.exp(truth_logs)
    rest = entropy + p * truth_logs  # of all other labelings
    own = s * p + (1 - s)
    found: Vector = s * rest - s * (1 - p) * np.log(s) - own * np.log(own)
    return np.maximum(0.0, found)
