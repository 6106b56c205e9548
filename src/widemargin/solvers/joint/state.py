"""An interior point of one problem, and the steps from it to the next.

Bounded dual variables: Mehrotra's predictor and corrector ("On the implementation of a primal-dual interior point
method", 1992), as in interior/interior_point.py. Others: Newton's step with an exact line search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.rows import Table
from ...objective.points import Point
from ...vectors import Vector
from ..newton.line_search import exact
from .rows import JointRows
from .system import JointSystem

if TYPE_CHECKING:
    from ...objective.certificate import Certificate

# A step ends at this share of the way to the first bound.
NEAR_BOUND = 0.99
# mu falls at most by this factor in a step.
FASTEST = 1e-3
# Steps that are cut shorter than this are made again without the corrector; one below SHORTEST ends the run.
SHORT_STEP, SHORTEST = 0.1, 1e-12
# From this share of Newton's step on, the dual point goes all of its way; else it begins anew, and so it does where the
# weights became longer by more than a little.
ALMOST_ALL, LITTLE = 0.5, 1e-3

Changes = list[Vector]


class JointState:
    """Coordinates x, dual variables v, and what is known of both."""

    certificate: Certificate

    def __init__(self, problem: Any, system: JointSystem, rows: JointRows, x: Vector) -> None:
        self._problem, self._system, self._rows = problem, system, rows
        self.x = x
        self.should_stop: Callable[[], bool] = lambda: False

    @property
    def v(self) -> Table:
        """The dual point."""
        return self._rows.v

    def measure(self) -> None:
        """Predictions, residuals and the certificate; the weights that v makes are tried, too."""
        z = self._system.matvec(self.x)
        self._rows.measure(z)
        g = self._system.rmatvec(self._rows.v)
        self._right = g - self._system.held * self.x
        found = self._problem.certify(Point(self.x, dual=self._rows.v, z=z))
        self.answer, self.primal, self.dual = self.x, found.certificate.primal, found.certificate.dual
        made = np.where(self._system.held > 0, g, self.x)
        primal = self._problem.objective(made)
        if primal < self.primal:
            self.answer, self.primal = made, primal

    def step(self) -> bool:
        """A step, none if it is time to stop; False where none is possible, or numbers leave the range of floats."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if not self._system.factorise(self._rows.curvature()):
                return False
            if self.should_stop():
                return True
            return self._bounded_step() if self._rows.pairs else self._newton_step()

    def _newton_step(self) -> bool:
        """To the minimum along Newton's direction; where rounding holds x there, v moves alone."""
        dx, _, dv = self._system.solve(self._right, self._rows.pull([]))
        if not (np.isfinite(dx).all() and np.isfinite(dv).all()):
            return False
        f = self._problem.smooth()
        ray = f.ray(f.start(Point(self.x)), dx)
        t = exact(ray)
        at = ray.moved(t)
        # Where the classes are apart already, longer weights alone are as good as many Newton steps.
        longer = exact(f.ray(at, at.x))
        self.x = (1 + longer) * at.x
        self._rows.moved(dv)
        if 0 < t < ALMOST_ALL or longer > LITTLE:
            self._rows.begin_anew()
        return True

    def _bounded_step(self) -> bool:
        pairs = self._rows.pairs
        count, total = sum(pair.x.size for pair in pairs), sum(pair.product for pair in pairs)
        if not 0 < total < np.inf:
            return False
        dx, dy = self._direction([0.0] * len(pairs))
        if self.should_stop():
            return True
        reach = self._reach(dx, dy, 1.0)
        ends = zip(pairs, dx, dy, strict=True)
        left = sum(float(np.sum((p.x + reach * x) * (p.y + reach * y))) for p, x, y in ends)
        target = max(FASTEST, min(1.0, left / total)) ** 3 * total / count
        dx, dy = self._direction([target - reach * x * y for x, y in zip(dx, dy, strict=True)])
        reach = self._reach(dx, dy, NEAR_BOUND)
        # Without the corrector, then back to the middle of the path.
        for less in (target, total / count):
            if reach >= SHORT_STEP:
                break
            dx, dy = self._direction([less] * len(pairs))
            reach = self._reach(dx, dy, NEAR_BOUND)
        finite = all(np.isfinite(change).all() for change in (self._dx, self._dv, *dx, *dy))
        if not (finite and reach > SHORTEST):
            return False
        self._move(reach, dx, dy)
        return True

    def _direction(self, targets: Sequence[Vector | float]) -> tuple[Changes, Changes]:
        """The pairs' dx and dy in Newton's step towards those products of theirs; the coordinates' and v's are kept."""
        self._dx, dz, self._dv = self._system.solve(self._right, self._rows.pull(targets))
        dy = self._rows.answer(dz, self._dv)
        ends = zip(self._rows.pairs, targets, dy, strict=True)
        return [pair.answer(target, y) for pair, target, y in ends], dy

    def _reach(self, dx: Changes, dy: Changes, share: float) -> float:
        """How far all can go, at most 1, until this share of the way to a bound."""
        ends = zip(self._rows.pairs, dx, dy, strict=True)
        return min(min(_until_zero(p.x, x, share), _until_zero(p.y, y, share)) for p, x, y in ends)

    def _move(self, reach: float, dx: Changes, dy: Changes) -> None:
        self.x = self.x + reach * self._dx
        for pair, x, y in zip(self._rows.pairs, dx, dy, strict=True):
            pair.x, pair.y = pair.x + reach * x, pair.y + reach * y
        self._rows.moved(reach * self._dv)


def _until_zero(x: Vector, dx: Vector, share: float) -> float:
    """The largest step, at most 1, that takes no x further than this share of its way to zero."""
    fastest = float(np.max(-dx / x, initial=0.0))
    return 1.0 if fastest <= share else share / fastest
