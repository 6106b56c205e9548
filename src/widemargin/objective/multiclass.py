"""What the problems with one weight vector per class share.

    min over W, b   1/2 |W|^2 + sum_i C_i loss(y_i, z_i)      z_im = x_i . w_m + b_m
    max over v      -1/2 |X^T v|^2 - sum_i C_i conjugate_i(v_i / C_i)       W = X^T v at the optimum
                    v_im <= 0 for m != y_i,  sum_m v_im = 0,  v_iy <= C_i,  free intercepts: sum_i v_im = 0

The dual feasible set is the same for the two losses here (Crammer and Singer's and the multinomial logistic), because
both are at most the largest difference of scores, plus a constant.

Coefficients travel as one vector: W[feature][class], feature by feature, then the row of a constant feature if there
is an intercept: its weights (`regularized`) or the intercepts themselves (`free`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import as_vector
from ..data.rows import Rows, Table
from ..vectors import Vector
from .balance import balancing_factors, flows
from .certificate import Certificate, Certified
from .labels import ordered_labels, row_weights
from .losses import Loss
from .penalties import make_penalty
from .points import Point
from .problem import INTERCEPTS
from .weighted_rows import WeightedRows, as_rows


class MulticlassProblem(WeightedRows):
    """Base of the problems that know all classes at once; see `CrammerSingerProblem` and `MaximumEntropyProblem`."""

    loss: Loss
    per_row: ClassVar[tuple[str, ...]] = ("codes",)

    def __init__(
        self,
        X: Any,
        y: Any,
        C: float = 1.0,
        *,
        intercept: str = "none",
        intercept_scaling: float = 1.0,
        sample_weight: Any = None,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"unknown intercept {intercept!r}: use one of {', '.join(INTERCEPTS)}")
        if not (np.isfinite(intercept_scaling) and intercept_scaling > 0):
            raise ValueError(f"intercept_scaling must be a finite number > 0, got {intercept_scaling!r}")
        self.X = as_rows(X)
        rows = self.X.shape[0]
        ranks, self.classes = ordered_labels(y, rows)
        self.codes = np.ascontiguousarray(ranks, dtype=np.int32)
        self.penalty = make_penalty("l2", 0.0)
        self.weights = row_weights(C, sample_weight, rows)
        self.C = float(C)
        self.intercept = intercept
        self.intercept_scaling = float(intercept_scaling)

    # Shapes.

    @property
    def y(self) -> NDArray[np.int32]:
        """The number of each row's class."""
        return self.codes

    @property
    def n_classes(self) -> int:
        """k"""
        return len(self.classes)

    @property
    def constant(self) -> float:
        """The constant feature's value; 0 without an intercept."""
        return {"none": 0.0, "regularized": self.intercept_scaling, "free": 1.0}[self.intercept]

    @property
    def size(self) -> int:
        """How long a coefficient vector is."""
        return (self.X.shape[1] + (self.constant != 0)) * self.n_classes

    @property
    def n_penalised(self) -> int:
        """How many of the coefficients the penalty holds: the first ones."""
        return self.X.shape[1] * self.n_classes if self.intercept == "free" else self.size

    @property
    def per_feature(self) -> int:
        """Coefficients of one feature."""
        return self.n_classes

    @property
    def work(self) -> int:
        """What a pass costs: the entries of the data, each for every class."""
        return self.X.nnz * self.n_classes

    @property
    def class_codes(self) -> NDArray[np.intp] | None:
        """The number of each row's class."""
        return self.codes.astype(np.intp)

    def decode(self, coef: Any, intercept: float = 0.0) -> tuple[Table, Vector]:
        """The weights, one line per class, and the intercepts."""
        table = self._checked(coef).reshape(-1, self.n_classes)
        W, rest = table[: self.X.shape[1]], table[self.X.shape[1] :]
        return np.ascontiguousarray(W.T), self.constant * rest[0] if self.constant else np.zeros(self.n_classes)

    @property
    def has_free_intercept(self) -> bool:
        """Whether a shift of the features moves the intercepts alone, which nothing penalises."""
        return self.intercept == "free"

    def after_shift(self, point: Point, shifts: Vector) -> Point:
        """The point that predicts the same where `shifts` has been taken from the features: free intercepts move."""
        table = point.w.reshape(-1, self.n_classes).copy()
        table[-1] += shifts @ table[:-1]
        return replace(point, w=table.reshape(-1), pull=None)

    def scale_of_C(self) -> tuple[float, float]:
        """How fast scores grow with C at W = 0, and how far they go before C matters.

        There v_i = C_i (e_y - p): p the classes' shares if intercepts are free, else all equal.
        """
        weights, k = self.weights / self.C, self.n_classes
        shares = np.full(k, 1 / k)
        if self.intercept == "free":
            shares = np.bincount(self.codes, weights=weights, minlength=k) / weights.sum()
        g = self.adjoint(weights[:, None] * (np.eye(k)[self.codes] - shares))
        g[self.n_penalised :] = 0.0
        return float(np.abs(self.scores(g)[weights > 0]).max()), 1.0

    def after_scale(self, point: Point, factors: Vector) -> Point:
        """The point whose coefficients are so many times as large, class for class."""
        table = point.w.reshape(-1, self.n_classes).copy()
        table[: len(factors)] *= factors[:, None]
        return replace(point.bare(), w=table.reshape(-1))

    def penalty_at(self, point: Point) -> float:
        """1/2 |W|^2 at the point, with the intercepts' share if they are regularized."""
        return self.penalty_value(point.w)

    def is_separated_by(self, point: Point) -> bool:
        """Whether every row that counts scores highest, and alone, in its own class."""
        counts = self.weights > 0
        z = self.scores(point.w)[counts]
        own = np.arange(len(z)), self.codes[counts]
        right = z[own].copy()
        z[own] = -np.inf
        return bool((right > z.max(axis=1)).all())

    def _checked(self, coef: Any) -> Vector:
        checked = as_vector("coef", coef)
        if len(checked) != self.size:
            raise ValueError(
                f"coef has {len(checked)} entries, expected {self.size}: features (and a constant one for "
                f"the intercept) times classes"
            )
        return checked

    # Passes.

    def scores(self, coef: Any) -> Vector:
        """z, rows x classes."""
        return self.predictions(self.X, coef)

    def predictions(self, X: Rows, coef: Any, intercept: float = 0.0) -> Vector:
        """The scores of rows that need not be the problem's, rows x classes; intercepts are among the coefficients."""
        table = self._checked(coef).reshape(-1, self.n_classes)
        z = X.matmat(table[: X.shape[1]], n_jobs=self.n_jobs)
        if self.constant:
            z += self.constant * table[-1]
        return z

    def adjoint(self, u: Vector) -> Vector:
        """[X s]^T u, as long as the coefficients."""
        u = u.reshape(-1, self.n_classes)
        g = self.X.rmatmat(u, n_jobs=self.n_jobs)
        return np.append(g, self.constant * u.sum(axis=0)) if self.constant else g.reshape(-1)

    # The objective.

    def loss_sum(self, z: Vector) -> float:
        """sum_i C_i loss(y_i, z_i)"""
        raise NotImplementedError

    def loss_slopes(self, z: Vector) -> Vector:
        """The gradient of `loss_sum` in z, or one of its subgradients."""
        raise NotImplementedError

    def conjugate_sum(self, v: Vector) -> float:
        """sum_i C_i conjugate(-v_i / C_i) at a feasible v"""
        raise NotImplementedError

    def penalty_value(self, coef: Vector) -> float:
        """1/2 |W|^2, with the intercepts' share if they are regularized."""
        return self.penalty.value(coef[: self.n_penalised])

    def objective(self, coef: Any, intercept: float = 0.0) -> float:
        """1/2 |W|^2 + sum_i C_i loss(y_i, z_i)"""
        coef = self._checked(coef)
        return self.penalty_value(coef) + self.loss_sum(self.scores(coef))

    def gradient(self, coef: Any, intercept: float = 0.0) -> tuple[Vector, float]:
        """The gradient in the coefficients; the second part is 0, the intercepts being among them."""
        coef = self._checked(coef)
        g = self.adjoint(self.loss_slopes(self.scores(coef)))
        g[: self.n_penalised] += coef[: self.n_penalised]
        return g, 0.0

    # The dual and the certificate.

    def clipped_dual(self, v: Any) -> Vector:
        """v moved between the bounds of its row, rows x classes."""
        return self._with_own_class(self._moved(v))

    def feasible(self, v: Any) -> Vector:
        """v moved into the dual feasible set, rows x classes."""
        moved = self._moved(v)
        if self.intercept == "free":
            moved *= balancing_factors(flows(moved, self.codes))[self.codes]
        return self._with_own_class(moved)

    def _moved(self, v: Any) -> Vector:
        """What a row takes from each other class, at most its weight in all."""
        given: Vector = np.ascontiguousarray(v, dtype=np.float64)
        rows, k = self.X.shape[0], self.n_classes
        if given.shape != (rows, k):
            raise ValueError(f"the dual point has shape {given.shape}, expected {(rows, k)}: rows by classes")
        own = np.arange(rows), self.codes
        moved = np.maximum(0.0, -given)
        moved[own] = 0.0
        total = moved.sum(axis=1)
        too_much = total > self.weights
        moved[too_much] *= (self.weights[too_much] / total[too_much])[:, None]
        return moved

    def _with_own_class(self, moved: Vector) -> Vector:
        found: Vector = -moved
        found[np.arange(len(moved)), self.codes] = moved.sum(axis=1)
        return found

    def dual_value(self, v: Any) -> float:
        """The dual objective, after v has been made feasible."""
        return self._dual_value(self.feasible(v))

    def _dual_value(self, v: Vector) -> float:
        return -self.penalty.conjugate(self.adjoint(v)[: self.n_penalised]) - self.conjugate_sum(v)

    def _zero(self) -> Certified:
        """The point W = 0 with its best intercepts, and the dual point 0, whose bound is 0 for both losses."""
        coef, b = np.zeros(self.size), np.zeros(self.n_classes)
        if self.intercept == "free":
            b = coef[self.n_penalised :] = self._best_intercepts()
        z = np.tile(b, (len(self.codes), 1))
        primal = self.loss_sum(z)
        return Certified(Certificate(primal, 0.0, primal), Point(coef, 0.0, np.zeros_like(z), z))

    def _best_intercepts(self) -> Vector:
        """The free intercepts that suit W = 0."""
        raise NotImplementedError

    def _class_weights(self) -> Vector:
        """What the rows of each class weigh together."""
        return np.bincount(self.codes, weights=self.weights, minlength=self.n_classes).astype(np.float64)

    def certify(self, point: Point) -> Certified:
        """The certificate of the coefficients, with the point's dual if there is one."""
        coef = self._checked(point.w)
        z = self.scores(coef) if point.z is None else point.z
        v = self.feasible(-self.loss_slopes(z) if point.dual is None else point.dual)
        primal = self.penalty_value(coef) + self.loss_sum(z)
        return Certified(Certificate(primal, self._dual_value(v), self.at_zero), Point(point.w, 0.0, v, z))

    def certificate(self, coef: Any, intercept: float = 0.0, dual: Any = None) -> Certificate:
        """Primal value, dual bound and gap at a point."""
        return self.certify(Point(self._checked(coef), dual=dual)).certificate

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.X!r}, {self.n_classes} classes, C={self.C:g}, intercept={self.intercept!r})"
        )
