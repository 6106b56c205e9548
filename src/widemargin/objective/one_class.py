"""The one-class SVM: a half-space, away from the origin, that holds most of the rows.

    primal   P(w, rho) = 1/2 |w|^2 - nu S rho + sum_i s_i max(0, rho - x_i . w)          S = sum_i s_i
    dual     D(alpha)  = -1/2 |X^T alpha|^2        with  0 <= alpha_i <= s_i  and  sum_i alpha_i = nu S

This is LIBLINEAR's and LIBSVM's scale (alpha_i <= 1 without weights). The textbook's 1/2 |w|^2 - rho + 1/(nu l) sum xi
is the same problem with w, rho and alpha divided by nu S and the objective by its square, so relative gaps agree. In
the terms of the other problems the intercept is -rho.

Where the origin lies among the rows, the optimum is w = 0 with objective 0 and a gap relative to it would mean
nothing. The gap is therefore compared with |P| or, where that is smaller, with a millionth of
1/2 (nu S)^2 mean |x_i|^2: the objective's size if all rows pointed one way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.rows import Table
from ..vectors import Vector, inner
from .certificate import Certificate, Certified
from .labels import row_weights
from .losses import Loss
from .penalties import make_penalty
from .points import Point
from .weighted_rows import WeightedRows, as_rows


class Below(Loss):
    """max(0, rho - z): the loss of a row below the threshold."""

    name = "one_class"
    smooth = False


@dataclass(frozen=True, repr=False)
class OneClassCertificate(Certificate):
    """A certificate whose gap is compared with `least` where the objective itself is smaller."""

    least: float = 0.0

    @property
    def relative_gap(self) -> float:
        """gap / max(|primal|, least)"""
        size = max(abs(self.primal), self.least)
        return self.gap / size if size > 0 else 0.0


class OneClassProblem(WeightedRows):
    """The one-class SVM to be fitted.

    Parameters
    ----------
    X : matrix of shape (rows, features)
        Anything `Matrix` accepts.
    nu : float in (0, 1]
        At most this share of the rows ends up outside, and at least this share on or outside the border.
    sample_weight : array of shape (rows,), optional
        A weight of two counts as the row given twice.

    Examples
    --------
    >>> from widemargin import OneClassProblem, solve
    >>> problem = OneClassProblem([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0], [9.0, 9.0]], nu=0.5)
    >>> solution = solve(problem, "one_class", tol=1e-8)
    >>> solution.coef.round(4), round(solution.intercept, 4)
    (array([2., 1.]), -3.0)
    """

    intercept = "free"

    def __init__(self, X: Any, nu: float = 0.5, *, sample_weight: Any = None) -> None:
        if not (np.isfinite(nu) and 0 < nu <= 1):
            raise ValueError(f"nu must lie in (0, 1], got {nu!r}")
        self.X = as_rows(X)
        self.nu = float(nu)
        self.loss = Below()
        self.penalty = make_penalty("l2", 0.0)
        self.weights = row_weights(1.0, sample_weight, self.X.shape[0])
        self.C = 1.0

    @property
    def mass(self) -> float:
        """nu S: what the dual variables sum to."""
        return self.nu * float(self.weights.sum())

    @property
    def least_size(self) -> float:
        """What the gap is compared with where the objective is nearly zero."""
        mean = float(self.X.column_sqnorms(self.weights, n_jobs=self.n_jobs).sum() / self.weights.sum())
        return 0.5e-6 * self.mass**2 * mean

    def objective(self, w: Any, intercept: float) -> float:
        """P(w, -intercept)"""
        w = np.ascontiguousarray(w, dtype=np.float64)
        return self.objective_at(w, self.X.matvec(w, n_jobs=self.n_jobs), -float(intercept))

    def objective_at(self, w: Vector, z: Vector, rho: float) -> float:
        """P(w, rho), given z = X w."""
        return 0.5 * inner(w, w) - self.mass * rho + float((self.weights * np.maximum(0.0, rho - z)).sum())

    def best_rho(self, z: Vector) -> float:
        """argmin over rho of P: the lowest rows hold weight nu S below it."""
        order = np.argsort(z, kind="stable")
        below = np.cumsum(self.weights[order])
        # What rounding adds to nu S must not reach for the next row.
        at = int(np.searchsorted(below, self.mass * (1 - 1e-12)))
        return float(z[order[min(at, len(z) - 1)]])

    def feasible(self, alpha: Vector) -> Vector:
        """alpha moved into the dual feasible set."""
        alpha = np.clip(alpha, 0.0, self.weights)
        total = float(alpha.sum())
        if total > self.mass:
            return alpha * (self.mass / total)
        room = self.weights - alpha
        missing = self.mass - total
        return alpha + room * (missing / float(room.sum())) if missing > 0 else alpha

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.X.shape[1]

    def decode(self, coef: Any, intercept: float = 0.0) -> tuple[Table, Vector]:
        """One line of weights, and -rho."""
        return np.asarray(coef, dtype=np.float64)[None, :], np.array([float(intercept)])

    def _zero(self) -> Certified:
        """The point w = 0, rho = 0, with the dual point in which every row has its share."""
        return self.certify(Point(np.zeros(self.size), dual=np.zeros(self.X.shape[0])))

    def certify(self, point: Point) -> Certified:
        """The certificate of w with its best intercept; without a dual point, with the rows below as one."""
        z = self.X.matvec(point.w, n_jobs=self.n_jobs)
        rho = self.best_rho(z)
        alpha = self.feasible(np.where(z < rho, self.weights, 0.0) if point.dual is None else point.dual)
        v = self.X.rmatvec(alpha, n_jobs=self.n_jobs)
        certificate = OneClassCertificate(self.objective_at(point.w, z, rho), -0.5 * inner(v, v), least=self.least_size)
        return Certified(certificate, Point(point.w, -rho, alpha, z - rho, v))

    def certificate(self, w: Any, intercept: float = 0.0, dual: Any = None) -> Certificate:
        """Primal value, dual bound and gap at a point, its intercept first set to its best value."""
        v = None if dual is None else np.ascontiguousarray(dual, dtype=np.float64)
        return self.certify(Point(np.ascontiguousarray(w, dtype=np.float64), float(intercept), v)).certificate

    def __repr__(self) -> str:
        return f"OneClassProblem({self.X!r}, nu={self.nu:g})"
