"""Maximum entropy with features of the candidates: one of several rows is chosen in every group.

    min over w    R(w) + sum_g C_g (log sum_{i in g} exp(x_i . w) - sum_{i in g} q_i x_i . w)
    max over p    -R*(sum_g C_g sum_{i in g} (q_i - p_i) x_i) + sum_g C_g H(p_g)      p_g a distribution over the group

Formula (37) of the survey by Yuan, Ho and Lin (2012); conditional logit, reranking, discrete choice. q is the choice,
one row or a distribution. With penalty l2 and the model's own p the gap is 1/2 |gradient|^2; with l1, p is mixed with q
until no feature pulls more than 1.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...data.matrix import as_vector
from ...data.rows import Rows, Table
from ...vectors import Vector
from ..certificate import Certificate, Certified
from ..labels import row_weights
from ..losses import Loss
from ..penalties import make_penalty
from ..points import Point
from ..smooth_part import SmoothPart
from ..weighted_rows import WeightedRows, as_rows
from .smooth import CandidatesSmooth

# A choice may miss a sum of one by rounding.
CHOICE_ROUNDING = 1e-6


class Candidates(Loss):
    """log sum over candidates of exp(z) less the chosen one's z"""

    name = "candidates"
    smooth = True
    probabilities = True


class Groups:
    """Rows by group: `number[i]` says of which group row i is, in the order in which groups first appear in `names`."""

    def __init__(self, groups: Any, n_rows: int) -> None:
        given = np.asarray(groups)
        if given.ndim != 1 or len(given) != n_rows:
            raise ValueError(f"groups has shape {given.shape}, X has {n_rows} rows: they must agree")
        self.names, self.number = np.unique(given, return_inverse=True)
        self.count = len(self.names)

    def sums(self, values: Vector) -> Vector:
        """The sum over each group."""
        return np.asarray(np.bincount(self.number, weights=values, minlength=self.count), dtype=np.float64)

    def softmax(self, z: Vector) -> tuple[Vector, Vector]:
        """log sum exp of each group, and the probabilities of its rows."""
        top = np.full(self.count, -np.inf)
        np.maximum.at(top, self.number, z)
        e = np.exp(z - top[self.number])
        total = self.sums(e)
        return top + np.log(total), e / total[self.number]


def choices(y: Any, groups: Groups) -> Vector:
    """q: the share of each row in its group's choice. y is 1 or True for the chosen row, or such shares."""
    q = np.asarray(y, dtype=np.float64)
    if q.shape != groups.number.shape:
        raise ValueError(f"y has shape {q.shape}, X has {len(groups.number)} rows: one value per candidate is needed")
    wrong = np.flatnonzero(~(np.isfinite(q) & (q >= 0)))
    if len(wrong):
        raise ValueError(f"y[{wrong[0]}] is {q[wrong[0]]}: the share of a candidate is a number from 0 to 1")
    totals = groups.sums(q)
    wrong = np.flatnonzero(np.abs(totals - 1) > CHOICE_ROUNDING)
    if len(wrong):
        name = groups.names.tolist()[wrong[0]]
        raise ValueError(f"group {name!r} chooses {totals[wrong[0]]:g} candidates: the shares of a group sum to one")
    return q / totals[groups.number]


class CandidatesProblem(SmoothPart, WeightedRows):
    """A maximum entropy model over candidates, to be fitted.

    Parameters
    ----------
    X : matrix of shape (candidates, features)
        One row for each candidate of each group.
    y : array of shape (candidates,)
        1 for the chosen candidate of each group and 0 for the others, or shares that sum to one.
    groups : array of shape (candidates,)
        Which rows belong together.
    C : float
        Weight of the losses against the penalty.
    penalty : {"l2", "l1", "elasticnet"}
    l1_ratio : float
        The share of l1 in the elastic net.
    sample_weight : array of shape (groups,), optional
        Multiplies C per group, in ascending order of the groups.

    Examples
    --------
    >>> from widemargin import CandidatesProblem, solve
    >>> problem = CandidatesProblem([[1.0], [0.0], [0.5], [2.0]], [1, 0, 0, 1], [0, 0, 1, 1])
    >>> solve(problem, "tron", tol=1e-8).coef.round(2)
    array([0.71])
    """

    loss: Loss = Candidates()
    intercept = "none"

    def __init__(
        self,
        X: Any,
        y: Any,
        groups: Any,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        sample_weight: Any = None,
    ) -> None:
        self.X = as_rows(X)
        self.groups = Groups(groups, self.X.shape[0])
        self.chosen = choices(y, self.groups)
        self.penalty = make_penalty(penalty, l1_ratio)
        self.weights = row_weights(C, sample_weight, self.groups.count)
        self.C = float(C)

    @property
    def size(self) -> int:
        """How long a coefficient vector is."""
        return self.X.shape[1]

    @property
    def tells_its_dual(self) -> bool:
        """Whether the weights alone tell probabilities that become as good: where the penalty has a gradient."""
        return self.penalty.smooth

    @property
    def row_weights(self) -> Vector:
        """C_g of each candidate's group."""
        return self.weights[self.groups.number]

    def decode(self, coef: Any, intercept: float = 0.0) -> tuple[Table, Vector]:
        """The weights as one line, and no intercept."""
        return self._checked(coef)[None, :].copy(), np.zeros(1)

    def _checked(self, coef: Any) -> Vector:
        checked = as_vector("coef", coef)
        if len(checked) != self.size:
            raise ValueError(f"coef has {len(checked)} entries, the problem has {self.size} features")
        return checked

    def taken(self, rows: Any, stands_for: Any = 1.0) -> Self:
        """Candidates belong to their groups: none are taken out."""
        raise NotImplementedError("the rows of a group belong together")

    def scores(self, coef: Any) -> Vector:
        """z = X w"""
        return self.X.matvec(self._checked(coef), n_jobs=self.n_jobs)

    def smooth(self) -> CandidatesSmooth:
        """The losses and the l2 part of the penalty as a smooth function of w."""
        return CandidatesSmooth(self)

    def losses(self, z: Vector) -> tuple[float, Vector]:
        """sum_g C_g loss_g, and the probabilities."""
        log_z, p = self.groups.softmax(z)
        return float((self.weights * (log_z - self.groups.sums(self.chosen * z))).sum()), p

    def objective(self, coef: Any, intercept: float = 0.0) -> float:
        """R(w) + sum_g C_g loss_g"""
        coef = self._checked(coef)
        return self.penalty.value(coef) + self.losses(self.scores(coef))[0]

    def pull(self, p: Vector) -> Vector:
        """sum_g C_g sum_i (q_i - p_i) x_i"""
        return self.X.rmatvec(self.row_weights * (self.chosen - p), n_jobs=self.n_jobs)

    def _zero_dual(self) -> Vector:
        return self.chosen

    def _certified(self, point: Point, at_zero: float) -> Certified:
        """The certificate of the weights, with the point's probabilities or with their own."""
        coef = self._checked(point.w)
        z = self.scores(coef) if point.z is None else point.z
        losses, p = self.losses(z)
        p = p if point.dual is None else self._feasible(point.dual)
        pull = self.pull(p)
        scale = self.penalty.dual_scale(pull)
        if scale < 1:
            p, pull = scale * p + (1 - scale) * self.chosen, scale * pull
        entropy = -self.groups.sums(p * np.log(np.where(p > 0, p, 1.0)))
        dual = -self.penalty.conjugate(pull) + float((self.weights * entropy).sum())
        return Certified(Certificate(self.penalty.value(coef) + losses, dual, at_zero), Point(point.w, 0.0, p, z))

    def _feasible(self, p: Any) -> NDArray[np.float64]:
        """p made a distribution over every group."""
        given = np.maximum(0.0, as_vector("the dual point", p))
        if len(given) != self.X.shape[0]:
            raise ValueError(f"the dual point has {len(given)} entries, expected {self.X.shape[0]}: one per candidate")
        totals = self.groups.sums(given)
        uniform = 1 / self.groups.sums(np.ones(len(given)))
        found = np.where(totals > 0, 1 / np.where(totals > 0, totals, 1.0), 0.0)[self.groups.number] * given
        return found + np.where(totals > 0, 0.0, uniform)[self.groups.number]

    def certificate(self, coef: Any, intercept: float = 0.0, dual: Any = None) -> Certificate:
        """Primal value, dual bound and gap at a point."""
        return self.certify(Point(self._checked(coef), dual=dual)).certificate

    def predictions(self, X: Rows, coef: Any, intercept: float = 0.0) -> Vector:
        """The scores of candidates that need not be the problem's."""
        return X.matvec(self._checked(coef), n_jobs=self.n_jobs)

    def __repr__(self) -> str:
        name = self.penalty.name
        return f"{type(self).__name__}({self.X!r}, {self.groups.count} groups, C={self.C:g}, penalty={name!r})"
