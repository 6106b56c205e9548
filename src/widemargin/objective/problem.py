"""The problem: data, loss, penalty and weights, frozen. Everything a solver may ask of it is a method here.

    min over w, b    R(w) + sum_i C_i loss(y_i, x_i . w + b)          C_i = C * sample_weight_i

Intercept: `none` (b = 0); `regularized` (b = s w_0, the weight w_0 of a constant feature s is penalised like the
others); `free` (not penalised). The data are reached through a handful of verbs alone, so that rows in memory, on disk
or elsewhere can stand behind the same solver.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.matrix import as_vector
from ..data.rows import Rows, Table
from ..numbers import as_number
from ..vectors import Vector
from .certificate import Certificate, Certified, certify, feasible_dual
from .labels import binary_labels, real_targets, row_weights
from .linear_smooth import LinearSmooth
from .losses import make_loss
from .penalties import Penalty, make_penalty
from .points import Dual, Point
from .weighted_rows import WeightedRows, as_rows

INTERCEPTS = ("none", "regularized", "free")


@dataclass(frozen=True)
class LossPass:
    """What one pass over the data tells at a point (w, b)."""

    value: float  # sum_i C_i loss(z_i)
    z: Vector  # predictions x_i . w + b
    u: Vector  # C_i loss'(z_i)
    gradient: Vector  # X^T u
    intercept_gradient: float  # sum_i u_i


class Problem(WeightedRows):
    """A regularised linear model to be fitted.

    Parameters
    ----------
    X : matrix of shape (rows, features)
        Anything `Matrix` accepts.
    y : array of shape (rows,)
        Two distinct labels for a classification loss (the larger one becomes +1), real numbers for a regression loss.
    loss : {"hinge", "squared_hinge", "logistic", "modified_huber", "squared", "epsilon_insensitive", \
"squared_epsilon_insensitive", "huber", "quantile"}
    penalty : {"l2", "l1", "elasticnet"}
    C : float
        Weight of the losses against the penalty.
    l1_ratio : float
        Share of l1 in the elastic net.
    intercept : {"none", "regularized", "free"}
    intercept_scaling : float
        The constant feature behind a regularized intercept.
    sample_weight : array of shape (rows,), optional
        Multiplies C per row; a weight of two counts as the row given twice.
    **loss_parameters : float
        The loss's own: epsilon (0.1), the width of the insensitive zone of the two epsilon losses; delta (1.0), up to
        where "huber" is squared; q (0.5), the quantile that "quantile" predicts.

    Examples
    --------
    >>> from widemargin import Problem
    >>> problem = Problem([[0.0], [1.0], [3.0]], ["no", "no", "yes"], loss="hinge")
    >>> problem.objective([1.0])
    3.5
    >>> problem.certificate([0.5]).gap <= problem.objective([0.5])
    True
    """

    per_row: ClassVar[tuple[str, ...]] = ("y",)

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str = "squared_hinge",
        penalty: str = "l2",
        C: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        intercept: str = "none",
        intercept_scaling: float = 1.0,
        sample_weight: Any = None,
        **loss_parameters: float,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"unknown intercept {intercept!r}: use one of {', '.join(INTERCEPTS)}")
        self.X = as_rows(X)
        self.loss = make_loss(loss, **loss_parameters)
        self.penalty = make_penalty(penalty, l1_ratio)
        self.C = as_number("C", C, above=0)
        self.intercept = intercept
        self.intercept_scaling = as_number("intercept_scaling", intercept_scaling, above=0)
        self.classes: NDArray[Any] | None = None
        rows = self.X.shape[0]
        if self.loss.classification:
            self.y, self.classes = binary_labels(y, rows)
        else:
            self.y = real_targets(y, rows)
        self.weights = row_weights(C, sample_weight, rows)
        if not np.isfinite(self.loss_sum(np.zeros(rows))):
            raise ValueError("the losses overflow at w = 0: C, sample_weight or y is too large")

    @property
    def intercept_scale(self) -> float:
        """The constant feature's value: intercept_scaling where the intercept is regularized, else 0."""
        return self.intercept_scaling if self.intercept == "regularized" else 0.0

    @property
    def constant(self) -> float:
        """The constant feature in which every intercept is a weight: 1 where it is free, 0 where there is none."""
        return 1.0 if self.intercept == "free" else self.intercept_scale

    @property
    def margin(self) -> float:
        """The unit that predictions are measured in: 1 for classes, the spread of the targets in regression."""
        if self.loss.classification:
            return 1.0
        spread = float(self.y[self.weights > 0].std())
        return spread if spread > 0 and np.isfinite(spread) else 1.0

    @property
    def size(self) -> int:
        """How long a coefficient vector is."""
        return self.X.shape[1]

    @property
    def tells_its_dual(self) -> bool:
        """Whether the primal point alone tells a dual point that becomes as good."""
        return self.loss.smooth and self.penalty.smooth

    @property
    def class_codes(self) -> NDArray[np.intp] | None:
        """The number of each row's class; None where the targets are numbers."""
        return np.asarray(self.y > 0, dtype=np.intp) if self.loss.classification else None

    def decode(self, coef: Any, intercept: float = 0.0) -> tuple[Table, Vector]:
        """One line of coefficients, and its intercept."""
        return as_vector("coef", coef)[None, :], np.array([float(intercept)])

    @property
    def has_free_intercept(self) -> bool:
        """Whether a shift of the features moves the intercept alone, which nothing penalises."""
        return self.intercept == "free"

    def after_shift(self, point: Point, shifts: Vector) -> Point:
        """The point that predicts the same where `shifts` has been taken from the features: a free intercept moves."""
        return replace(point, intercept=point.intercept + float(shifts @ point.w), pull=None)

    def scale_of_C(self) -> tuple[float, float]:
        """How fast predictions (with l1: slopes) grow with C at w = 0, and how far they go before C matters."""
        at_one = self.with_C(1.0)
        b = at_one.best_intercept(np.zeros_like(self.y)) if self.intercept == "free" else 0.0
        u, _ = at_one.loss_derivatives(np.full_like(self.y, b))
        g = -self.X.rmatvec(u, n_jobs=self.n_jobs)
        if self.penalty.rho > 0:  # twice: the power of two below must not leave w = 0
            return float(np.abs(g).max()), 2 * self.penalty.rho
        counts = self.weights > 0
        moved = np.abs(self.X.matvec(g, n_jobs=self.n_jobs)[counts]).max()
        return float(moved), 1.0 if self.loss.classification else float(np.abs(self.y[counts] - b).max())

    def after_scale(self, point: Point, factors: Vector) -> Point:
        """The point whose coefficients are so many times as large."""
        return replace(point.bare(), w=point.w * factors)

    def penalty_at(self, point: Point) -> float:
        """R at the point, with the intercept's share if it is regularized."""
        return self.penalty_value(point.w, point.intercept)

    def is_separated_by(self, point: Point) -> bool:
        """Whether no row that counts is on the wrong side, or on the border."""
        z, counts = self.X.matvec(point.w, point.intercept, n_jobs=self.n_jobs), self.weights > 0
        return bool((self.y[counts] * z[counts] > 0).all())

    def with_sides(self, positive: NDArray[np.bool_]) -> Problem:
        """The same problem with other rows on the positive side."""
        return self._changed(y=np.where(positive, 1.0, -1.0))

    def with_penalty(self, penalty: Penalty) -> Problem:
        """The same problem with another penalty."""
        return self._changed(penalty=penalty)

    def smooth(self) -> LinearSmooth:
        """The problem as a smooth function of one vector, for Newton-type methods."""
        return LinearSmooth(self)

    # Passes over the data.

    def predictions(self, X: Rows, coef: Any, intercept: float = 0.0) -> Vector:
        """x . coef + intercept for rows that need not be those of the problem."""
        return X.matvec(coef, intercept, n_jobs=self.n_jobs)

    def loss_pass(self, w: Any, intercept: float = 0.0) -> LossPass:
        """The loss at (w, intercept) with its gradient."""
        z = self.X.matvec(w, float(intercept), n_jobs=self.n_jobs)
        u, _ = self.loss_derivatives(z)
        return LossPass(self.loss_sum(z), z, u, self.X.rmatvec(u, n_jobs=self.n_jobs), float(u.sum()))

    def hess_vec(self, h: Vector, v: Any, v_intercept: float = 0.0) -> tuple[Vector, float]:
        """X^T diag(h) (X v + v_intercept) and the intercept's component; h from `loss_derivatives`."""
        return self.X.hess_vec(h, v, v_intercept, n_jobs=self.n_jobs)

    # The whole objective.

    def objective(self, w: Any, intercept: float = 0.0) -> float:
        """R(w) + sum_i C_i loss(y_i, x_i . w + intercept)"""
        w = as_vector("w", w)
        z = self.X.matvec(w, n_jobs=self.n_jobs)
        return self.penalty_value(w, intercept) + self.loss_sum(z, intercept)

    def gradient(self, w: Any, intercept: float = 0.0) -> tuple[Vector, float]:
        """The gradient in w and in the intercept; for l1 and hinge, the shortest subgradient in w_j."""
        w = as_vector("w", w)
        at = self.loss_pass(w, intercept)
        g = self.penalty.subgradient(w, at.gradient)
        return g, self._intercept_slope(intercept, at.intercept_gradient)

    def penalty_value(self, w: Vector, intercept: float) -> float:
        """R(w), with the intercept's share if it is regularized."""
        value = self.penalty.value(w)
        if self.intercept == "regularized":
            value += self.penalty.value(np.array([intercept / self.intercept_scaling]))
        return value

    def _intercept_slope(self, intercept: float, loss_slope: float) -> float:
        if self.intercept == "none":
            return 0.0
        if self.intercept == "free":
            return loss_slope
        w_0 = np.array([intercept / self.intercept_scaling])
        slope = np.array([loss_slope * self.intercept_scaling])
        return float(self.penalty.subgradient(w_0, slope)[0]) / self.intercept_scaling

    # The dual and the certificate.

    def dual_value(self, v: Any) -> float:
        """D(v), after v has been scaled into the dual feasible set; -inf where no scaling gets there."""
        return feasible_dual(self, as_vector("v", v))[2]

    def dual_domain(self) -> tuple[Vector, Vector]:
        """The bounds between which each v_i may lie; both zero where a row does not count."""
        counts = self.weights > 0
        lower, upper = self.loss.dual_bounds(self.y)
        return (
            np.multiply(lower, self.weights, out=np.zeros_like(lower), where=counts),
            np.multiply(upper, self.weights, out=np.zeros_like(upper), where=counts),
        )

    def clipped_dual(self, v: Vector) -> Vector:
        """v between its bounds."""
        return self.loss.clipped_dual(v, self.y, self.weights)

    def _zero(self) -> Certified:
        """The point w = 0 with its best intercept, and the dual point 0, whose bound is 0 for every loss."""
        rows, columns = self.X.shape
        zeros, alike = np.zeros(rows), self._rows_at_zero()
        b = alike.best_intercept(np.zeros(len(alike.y))) if self.intercept == "free" else 0.0
        primal = alike.loss_sum(np.zeros(len(alike.y)), b)
        point = Point(np.zeros(columns), b, zeros, np.full(rows, b), np.zeros(columns))
        return Certified(Certificate(primal, 0.0, primal), point)

    def _rows_at_zero(self) -> Problem:
        """The targets and weights that decide at w = 0, where all rows of a class are alike."""
        if not self.loss.classification:
            return self
        positive = self.y > 0
        weights = np.array([self.weights[positive].sum(), self.weights[~positive].sum()])
        return self._changed(y=np.array([1.0, -1.0]), weights=weights)

    def certify(self, point: Point) -> Certified:
        """The certificate of a point, and the point that it holds for: its best intercept, a feasible dual point."""
        return certify(self, point)

    def with_better_dual(self, certified: Certified, dual: Dual) -> Certified:
        """The certified point with that dual point, if it proves more than its own."""
        v, pull, bound = feasible_dual(self, as_vector("dual", dual))
        if not bound > certified.certificate.dual:
            return certified
        point = replace(certified.point, dual=v, pull=pull, own_dual=False)
        return Certified(replace(certified.certificate, dual=bound), point)

    def certificate(self, w: Any, intercept: float = 0.0, dual: Any = None) -> Certificate:
        """Primal value, dual bound and gap at a point (a free intercept is first set to its best value)."""
        v = None if dual is None else as_vector("dual", dual)
        return self.certify(Point(as_vector("w", w), float(intercept), v)).certificate

    # Predictions in, no data: O(rows).

    def loss_sum(self, z: Vector, intercept: float = 0.0) -> float:
        """sum_i C_i loss(z_i + intercept)"""
        return _core.loss_sum(self.loss.native, z, self.y, self.weights, float(intercept))

    def loss_derivatives(self, z: Vector, intercept: float = 0.0) -> tuple[Vector, Vector]:
        """u_i = C_i loss'(z_i + intercept) and h_i = C_i loss''(z_i + intercept)"""
        u, h = np.empty_like(z), np.empty_like(z)
        _core.loss_derivatives(self.loss.native, z, self.y, self.weights, float(intercept), u, h)
        return u, h

    def losses_along(self, z: Vector, dz: Vector, t: float, out: tuple[Vector, Vector, Vector]) -> float:
        """sum_i C_i loss(z_i + t dz_i); fills out with the predictions there, C_i loss' and C_i loss''."""
        return _core.ray_go(self.loss.native, z, dz, self.y, self.weights, t, *out, self.n_jobs)

    def best_intercept(self, z: Vector, start: float = 0.0) -> float:
        """argmin over b of sum_i C_i loss(z_i + b)"""
        return _core.best_intercept(self.loss.native, z, self.y, self.weights, float(start))

    def conjugate_sum(self, u: Vector) -> float:
        """sum_i C_i conjugate(u_i / C_i, y_i)"""
        return _core.conjugate_sum(self.loss.native, u, self.y, self.weights)

    def __repr__(self) -> str:
        return (
            f"Problem({self.X!r}, loss={self.loss.name!r}, penalty={self.penalty.name!r}, C={self.C:g}, "
            f"intercept={self.intercept!r})"
        )
