"""What the problems share: rows with a weight each, and how one problem becomes another over the same or other rows."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from ..data.kept import Owner
from ..data.matrix import Matrix
from ..data.rows import VERB_NAMES, Rows
from ..vectors import Vector
from .any_problem import Traits
from .certificate import Certified
from .labels import weights_at, weights_of
from .losses import Loss
from .penalties import Penalty
from .points import Dual, Point


def as_rows(X: Any) -> Rows:
    """Rows as they are, so that what they have built is shared; anything else as a Matrix."""
    if not hasattr(X, "offers"):
        return Matrix(X)
    missing = [verb for verb in VERB_NAMES if not hasattr(X, verb)]
    if missing:
        raise TypeError(f"{type(X).__name__} lacks the verbs {', '.join(missing)}: see widemargin.data.rows.Rows")
    rows: Rows = X
    return rows


class WeightedRows:
    """Rows, weights and C. A problem never changes: what differs is another problem that shares the rest."""

    X: Rows
    weights: Vector  # C_i = C * sample_weight_i
    C: float
    n_jobs: int = 1
    keeper: Owner | None = None  # for whom fits of this problem keep what the next one can use

    loss: Loss
    penalty: Penalty
    intercept: str
    _at_zero: float | None = None  # known once it was asked for

    # The attributes that hold one value per row, beside the weights.
    per_row: ClassVar[tuple[str, ...]] = ()

    @property
    def work(self) -> int:
        """What a pass costs: the entries of the data."""
        return self.X.nnz

    @property
    def at_zero(self) -> float:
        """The objective at w = 0 with its best intercept: by what is gained over it gaps are measured."""
        return self.zero().certificate.primal if self._at_zero is None else self._at_zero

    def zero(self) -> Certified:
        """The point w = 0 with its best intercept, and the dual point 0: no fit is worse, no bound lower."""
        found = self._zero()
        self._at_zero = found.certificate.primal
        return found

    def _zero(self) -> Certified:
        """Makes that point: its intercept, its objective, its dual point. Here one without an intercept."""
        found = self._certified(Point(np.zeros(self.size), dual=self._zero_dual()), np.inf)
        primal = found.certificate.primal
        return Certified(replace(found.certificate, at_zero=primal), found.point)

    def _zero_dual(self) -> Dual:
        """The dual point that pulls nowhere."""
        raise NotImplementedError

    def _certified(self, point: Point, at_zero: float) -> Certified:
        """The certificate of a point, given the objective at zero."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How long a coefficient vector is."""
        raise NotImplementedError

    @property
    def tells_its_dual(self) -> bool:
        """Whether the primal point alone tells a dual point that becomes as good; else warm starts bring theirs."""
        return False

    @property
    def has_free_intercept(self) -> bool:
        """Whether a shift of the features moves intercepts alone, which nothing penalises."""
        return False

    def after_shift(self, point: Point, shifts: Vector) -> Point:
        """The point that predicts the same where `shifts` has been taken from the features, if intercepts are free."""
        raise NotImplementedError

    @property
    def penalty_names(self) -> frozenset[str]:
        """The penalty's name, and what an elastic net amounts to at either end."""
        ends = {0.0: "l2", 1.0: "l1"}
        return frozenset({self.penalty.name, ends.get(self.penalty.rho, self.penalty.name)})

    def describe(self) -> Traits:
        """Loss, penalty and intercept, in the words of solvers."""
        return Traits(self.loss.name, self.penalty.name, self.intercept)

    def _changed(self, **fields: Any) -> Self:
        other = copy.copy(self)
        other._at_zero = None
        for name, value in fields.items():
            setattr(other, name, value)
        return other

    def kept_along(self) -> Self:
        """The same problem, whose fits keep what the next one can use: one after another, never two at a time."""
        return self.with_keeper(Owner())

    def with_keeper(self, keeper: Owner | None) -> Self:
        """The same problem, for whose fits somebody keeps what the next one can use, or nobody."""
        return self._changed(keeper=keeper)

    def with_jobs(self, n_jobs: int) -> Self:
        """The same problem, its passes made on up to n_jobs threads."""
        return self._changed(n_jobs=n_jobs)

    def with_C(self, C: float) -> Self:
        """The same problem at another C; the data are shared."""
        return self._changed(weights=weights_at(C, self.weights, self.C), C=float(C))

    def over(self, X: Rows) -> Self:
        """The same problem over other features of the same rows."""
        return self._changed(X=X, keeper=None)

    def weighted(self, weights: Vector) -> Self:
        """The same problem with other weights of the rows."""
        return self._changed(weights=weights)

    def with_better_dual(self, certified: Certified, dual: Dual) -> Certified:
        """The certified point with that dual point, if it proves more than its own."""
        given = self.certify(replace(certified.point, dual=dual, pull=None, own_dual=False))
        return given if given.certificate.dual > certified.certificate.dual else certified

    def certify(self, point: Point) -> Certified:
        """The certificate of a point, and the point that it holds for."""
        return self._certified(point, self.at_zero)

    def restricted(self, rows: Any) -> Self:
        """The same problem where only those rows count (a mask or row numbers); the data are shared."""
        return self.weighted(weights_of(rows, self.weights))

    def taken(self, rows: Any, stands_for: Any = 1.0) -> Self:
        """The problem of those rows alone (row numbers), which are copied; each stands for so many."""
        labels = {name: getattr(self, name)[rows] for name in self.per_row}
        weights = self.weights[rows] * stands_for
        return self._changed(X=self.X.take(rows), weights=weights, keeper=None, **labels)
