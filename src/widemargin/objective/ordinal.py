"""Ordinal regression: p ordered classes, one weight vector, p - 1 thresholds.

    min over w, b   1/2 |w|^2 + sum_i C_i sum_s loss(sigma_is, x_i . w - b_s)      sigma_is = +1 if class_i > s, else -1

Keerthi and DeCoste (2005), section 7, formula (25): every row is compared with *all* p - 1 thresholds (the implicit
constraints of Chu and Keerthi 2005), not only with the two that border its class. That is why the thresholds come out
ordered: exchanging two that are not never costs anything. There the thresholds are penalised along with w, which is
`thresholds="regularized"`; `"free"` leaves them out of the penalty. With p = 2 it is the binary problem with b = -b_1.

Dual, one variable per row and threshold:

    D(v) = -1/2 |X^T (sum_s v_is)_i|^2 - sum_is C_i conjugate(-v_is / C_i, sigma_is)
           free thresholds: sum_i v_is = 0 for every s;   regularized: also -1/2 sum_s (sum_i v_is)^2

The coefficients travel as one vector beta = (w, b_1, ..., b_{p-1}), as in the paper.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from .. import _core
from ..data.rows import Table
from ..vectors import Vector
from .certificate import Certificate, Certified, balanced
from .labels import ordered_labels, row_weights
from .losses import make_loss
from .penalties import make_penalty
from .points import Point
from .weighted_rows import WeightedRows, as_rows

# How each choice of thresholds is called where a Solver declares its intercepts.
THRESHOLDS = {"free": "free_thresholds", "regularized": "regularized_thresholds"}


class OrdinalProblem(WeightedRows):
    """A linear ordinal regression to be fitted, with all thresholds compared with all rows.

    Parameters
    ----------
    X : matrix of shape (rows, features)
    y : array of shape (rows,)
        Two or more classes whose sorted order is their rank.
    loss : {"squared_hinge", "hinge", "modified_huber"}
        Or any other classification loss, for the objective and its certificate.
    C : float
    thresholds : {"free", "regularized"}
        Whether the penalty leaves the thresholds out, or holds them too.
    sample_weight : array of shape (rows,), optional

    Examples
    --------
    >>> from widemargin import OrdinalProblem, solve
    >>> problem = OrdinalProblem([[0.0], [1.0], [2.0], [3.0]], [1, 2, 2, 3])
    >>> solution = solve(problem, "ordinal_newton", tol=1e-8)
    >>> w, thresholds = problem.split(solution.coef)
    >>> bool(thresholds[0] < thresholds[1])
    True
    """

    per_row: ClassVar[tuple[str, ...]] = ("ranks",)

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str = "squared_hinge",
        C: float = 1.0,
        *,
        thresholds: str = "free",
        sample_weight: Any = None,
    ) -> None:
        if thresholds not in THRESHOLDS:
            raise ValueError(f"unknown thresholds {thresholds!r}: use one of {', '.join(THRESHOLDS)}")
        self.X = as_rows(X)
        self.loss = make_loss(loss)
        if not self.loss.classification:
            raise ValueError(f"loss {loss!r} is a regression loss: ordinal regression needs a classification loss")
        self.penalty = make_penalty("l2", 0.0)
        self.C = float(C)
        self.intercept = THRESHOLDS[thresholds]
        rows = self.X.shape[0]
        self.ranks, self.classes = ordered_labels(y, rows)
        self.weights = row_weights(C, sample_weight, rows)

    @property
    def free(self) -> bool:
        """Whether the penalty leaves the thresholds out."""
        return self.intercept == THRESHOLDS["free"]

    @property
    def n_thresholds(self) -> int:
        """p - 1"""
        return len(self.classes) - 1

    @property
    def per_feature(self) -> int:
        """Coefficients of one feature."""
        return 1

    @property
    def size(self) -> int:
        """How long beta is: a weight per feature, then the thresholds."""
        return self.X.shape[1] + self.n_thresholds

    def decode(self, coef: Any, intercept: float = 0.0) -> tuple[Table, Vector]:
        """The weights once per threshold, and each threshold as an intercept: above it where the value is positive."""
        w, b = self.split(coef)
        return np.repeat(w[None, :], self.n_thresholds, axis=0), -b

    @property
    def has_free_intercept(self) -> bool:
        """Whether a shift of the features moves the thresholds alone, which nothing penalises."""
        return self.free

    def after_shift(self, point: Point, shifts: Vector) -> Point:
        """The point that predicts the same where `shifts` has been taken from the features: free thresholds move."""
        w, b = self.split(point.w)
        return replace(point, w=np.append(w, b - shifts @ w))

    def split(self, beta: Any) -> tuple[Vector, Vector]:
        """w and the thresholds."""
        beta = np.ascontiguousarray(beta, dtype=np.float64)
        if beta.shape != (self.size,):
            raise ValueError(f"beta has shape {beta.shape}, expected ({self.size},): weights, then thresholds")
        return beta[: self.X.shape[1]], beta[self.X.shape[1] :]

    def sides(self, s: int) -> Vector:
        """sigma_is for threshold s: +1 for rows whose class is above it."""
        return np.where(self.ranks > s, 1.0, -1.0)

    # The objective.

    def objective(self, beta: Any, intercept: float = 0.0) -> float:
        """1/2 |w|^2 + sum over rows and thresholds of the weighted loss."""
        w, b = self.split(beta)
        scores = self.X.matvec(w, n_jobs=self.n_jobs)
        penalised = float(w @ w) if self.free else float(w @ w + b @ b)
        return 0.5 * penalised + sum(self._threshold_loss(scores, s, b[s]) for s in range(self.n_thresholds))

    def _threshold_loss(self, scores: Vector, s: int, threshold: float) -> float:
        return _core.loss_sum(self.loss.native, scores, self.sides(s), self.weights, -float(threshold))

    def gradient(self, beta: Any, intercept: float = 0.0) -> tuple[Vector, float]:
        """The gradient in beta (for hinge, a subgradient); the second part is 0, the thresholds being part of beta."""
        w, b = self.split(beta)
        u = self.loss_slopes(beta)
        in_thresholds = -u.sum(axis=0) if self.free else b - u.sum(axis=0)
        return np.append(w + self.X.rmatvec(u.sum(axis=1), n_jobs=self.n_jobs), in_thresholds), 0.0

    def loss_slopes(self, beta: Any) -> Vector:
        """C_i loss'(x_i . w - b_s), one column per threshold."""
        w, b = self.split(beta)
        scores = self.X.matvec(w, n_jobs=self.n_jobs)
        u, h = np.empty((self.n_thresholds, len(scores))), np.empty(len(scores))
        for s in range(self.n_thresholds):
            _core.loss_derivatives(self.loss.native, scores, self.sides(s), self.weights, -float(b[s]), u[s], h)
        return np.ascontiguousarray(u.T)

    # The dual and the certificate.

    def _zero(self) -> Certified:
        """The point w = 0 with its best thresholds, and the dual point 0, whose bound is 0 for every loss."""
        b = np.zeros(self.n_thresholds)
        zeros = np.zeros(self.X.shape[0])
        if self.free:
            for s in range(self.n_thresholds):
                b[s] = -_core.best_intercept(self.loss.native, zeros, self.sides(s), self.weights, 0.0)
        beta = np.append(np.zeros(self.X.shape[1]), b)
        primal = sum(self._threshold_loss(zeros, s, b[s]) for s in range(self.n_thresholds))
        return Certified(Certificate(primal, 0.0, primal), Point(beta, dual=np.zeros((len(zeros), self.n_thresholds))))

    def certify(self, point: Point) -> Certified:
        """The certificate of beta, with the point's dual if there is one."""
        v = -self.loss_slopes(point.w) if point.dual is None else np.ascontiguousarray(point.dual, dtype=np.float64)
        v, bound = self._feasible_dual(v)
        return Certified(Certificate(self.objective(point.w), bound, self.at_zero), Point(point.w, 0.0, v))

    def certificate(self, beta: Any, intercept: float = 0.0, dual: Any = None) -> Certificate:
        """Primal value, dual bound and gap at beta."""
        return self.certify(Point(np.ascontiguousarray(beta, dtype=np.float64), dual=dual)).certificate

    def dual_value(self, v: Any) -> float:
        """D(v), after v has been made feasible."""
        return self._feasible_dual(np.ascontiguousarray(v, dtype=np.float64))[1]

    def _feasible_dual(self, v: Vector) -> tuple[Vector, float]:
        expected = (self.X.shape[0], self.n_thresholds)
        if v.shape != expected:
            raise ValueError(f"the dual point has shape {v.shape}, expected {expected}: rows by thresholds")
        if self.free:
            v = np.stack([balanced(v[:, s]) for s in range(self.n_thresholds)], axis=1)
        g = self.X.rmatvec(v.sum(axis=1), n_jobs=self.n_jobs)
        penalised = float(g @ g) if self.free else float(g @ g + np.sum(v.sum(axis=0) ** 2))
        conjugates = sum(
            _core.conjugate_sum(self.loss.native, np.ascontiguousarray(-v[:, s]), self.sides(s), self.weights)
            for s in range(self.n_thresholds)
        )
        return v, -0.5 * penalised - conjugates

    def __repr__(self) -> str:
        return (
            f"OrdinalProblem({self.X!r}, {len(self.classes)} classes, loss={self.loss.name!r}, C={self.C:g}, "
            f"thresholds={self.intercept!r})"
        )
