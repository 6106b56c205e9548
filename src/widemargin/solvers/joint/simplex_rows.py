"""The rows of Crammer and Singer's loss: q_i = C_i e_y - v_i, a point of the simplex of size C_i.

    max over q   -1/2 |X^T v|^2 + sum_im delta_im q_im       q >= 0,  sum_m q_im = C_i,   delta_im = 1[m != y_i]

At the optimum  lam_im = t_i - z_im - delta_im >= 0  and  lam q = 0: t_i is the largest of a row's raised scores, and q
gives weight to those alone which reach it. With d = q / lam a step answers

    dq = g - d (sum g - lacking) / sum d + D dz,     g = target / lam - q - d residual,   D as in class_curvature.py

v is made of the q of the other classes, so that nothing is lost where it is far smaller than C.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...data.rows import Table
from ...vectors import Vector
from ..interior.pairs import Pair
from .class_curvature import ClassCurvature

if TYPE_CHECKING:
    from ...objective.crammer_singer import CrammerSingerProblem


class SimplexRows:
    """The dual variables of a CrammerSingerProblem whose weights are all above zero."""

    def __init__(self, problem: CrammerSingerProblem) -> None:
        self._problem = problem
        self._own = np.arange(len(problem.codes)), problem.codes
        self._delta = np.ones((len(problem.codes), problem.n_classes))
        self._delta[self._own] = 0.0
        q = np.tile(problem.weights[:, np.newaxis] / problem.n_classes, problem.n_classes)
        self.v = self._dual(q)
        raised = problem.scores(self._weights_of(self.v)) + self._delta
        below = raised.max(axis=1, keepdims=True) - raised
        self.pairs = [Pair(below + max(1.0, float(below.max())), q)]

    def _weights_of(self, v: Table) -> Vector:
        """X^T v, free intercepts zero."""
        w = self._problem.adjoint(v)
        w[self._problem.n_penalised :] = 0.0
        return w

    def _dual(self, q: Table) -> Table:
        v = -q
        v[self._own] = 0.0
        v[self._own] = -v.sum(axis=1)
        return v

    @property
    def _pair(self) -> Pair:
        return self.pairs[0]

    def measure(self, z: Table) -> None:
        """The scores say what t and the residuals are: t is the mean of its conditions, each by its weight."""
        lam, q = self._pair.x, self._pair.y
        wanted = z + self._delta + lam
        self._D = ClassCurvature(q / lam)
        top = (self._D.d * wanted).sum(axis=1) / self._D.total
        self._residual = top[:, np.newaxis] - wanted

    def curvature(self) -> ClassCurvature:
        return self._D

    def pull(self, targets: Sequence[Vector | float]) -> Table:
        d, q = self._D.d, self._pair.y
        lacking = self._problem.weights - q.sum(axis=1)
        g = targets[0] / self._pair.x - q - d * self._residual
        share = (g.sum(axis=1) - lacking) / self._D.total
        found = self._D.completed(d * share[:, np.newaxis] - g)
        found[self._D.leading] -= lacking
        return found

    def answer(self, dz: Table, dv: Table) -> list[Vector]:
        return [-dv]

    def moved(self, dv: Table) -> None:
        self.v = self._dual(self._pair.y)

    def begin_anew(self) -> None:
        """Every step is bounded."""
