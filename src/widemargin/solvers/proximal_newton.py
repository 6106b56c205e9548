"""Proximal Newton with the whole Hessian: l1 and elastic net on few features, however badly scaled.

    min over w, b    F = R(w) + sum_i C_i loss(y_i, x_i . w + b)            R(w) = rho |w|_1 + (1 - rho)/2 |w|^2

Each step replaces the losses by their quadratic at the iterate, x = (w, t) with b = s t,

    Q(x') = g . (x' - x) + 1/2 (x' - x)^T H (x' - x) + R(w')        g = [X s]^T u,  H = [X s]^T diag(h) [X s]

where u_i = C_i loss', h_i = C_i loss'', and minimises Q in n^2 operations a pass, without the data: coordinate descent
finds the support, an exact step on the support (support_step.py) does what coordinate descent needs thousands of
passes for when features differ in scale. Then backtracking along x' - x (Lee, Sun, Saunders 2014, algorithm 1;
Yuan, Ho, Lin 2012 for the model). Meant for up to a few thousand features: H is dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from .base import Point, Run, Solver, Step, Steps
from .gram import Gram
from .smooth import SMOOTH_LOSSES
from .support_step import minimise_quadratic

if TYPE_CHECKING:
    from ..objective.problem import Problem

Vector = NDArray[np.float64]

SUFFICIENT_DECREASE = 1e-4
SHORTEST = 1e-9  # steps that backtracking tries
# Added to H, as a share of its diagonal: little at first, more where a step had to be cut, less where it fitted.
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e-12, 1.0
# Steps in a row that rounding leaves without a gain, before the run ends.
IDLE_STEPS = 12


@dataclass(frozen=True)
class ProximalNewton(Solver):
    """Newton's method for l1 and elastic net, with a dense Hessian, for few features.

    Parameters
    ----------
    max_features : int
        More features than this are refused: the Hessian takes 8 features^2 bytes.

    Examples
    --------
    >>> from widemargin import Problem, ProximalNewton, solve
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="squared_hinge", penalty="l1")
    >>> solve(problem, ProximalNewton(), tol=1e-8).coef.round(6)
    array([0.15])
    """

    name: ClassVar[str] = "proximal_newton"
    summary: ClassVar[str] = "Newton's method for l1 with a dense Hessian, for few features"
    losses: ClassVar[frozenset[str]] = SMOOTH_LOSSES
    penalties: ClassVar[frozenset[str]] = frozenset({"l1", "elasticnet", "l2"})

    max_features: int = 3000

    def iterate(self, problem: Problem, run: Run) -> Steps:
        if problem.X.shape[1] > self.max_features:
            raise ValueError(
                f"proximal_newton keeps a dense matrix of {problem.X.shape[1]} features squared and is meant for up to "
                f"{self.max_features}: use solver='newglmnet', or raise ProximalNewton(max_features=...)"
            )
        state = _State(problem, run.start)
        iteration = idle = 0
        while idle < IDLE_STEPS:
            # A step costs many passes, a certificate one: every step is verified.
            verdict = yield Step(iteration, state.passes, state.point, state.value, looks_done=True)
            if verdict is not None and problem.intercept == "free":
                state.set_intercept(verdict.intercept)
            idle = 0 if state.newton_step() else idle + 1
            iteration += 1


class _State:
    """x = (w, t), its predictions and the objective there."""

    def __init__(self, problem: Problem, start: Point | None) -> None:
        self.problem = problem
        self.constant = 1.0 if problem.intercept == "free" else problem.intercept_scale
        columns = problem.X.shape[1]
        self.rho = np.full(columns + (self.constant != 0), problem.penalty.rho)
        self.bend = np.full(len(self.rho), 1 - problem.penalty.rho)
        if problem.intercept == "free":
            self.rho[-1] = self.bend[-1] = 0.0
        self.x = np.zeros(len(self.rho))
        if start is not None:
            self.x[:columns] = start.w
            self.x[columns:] = start.intercept / self.constant if self.constant else 0.0
        self.gram = Gram(problem, self.constant)
        self.z = self._product(self.x)
        self.value = self._value(self.x, self.z)
        self.damping, self.passes = FIRST_DAMPING, 1.0

    def point(self) -> Point:
        """w and b."""
        columns = self.problem.X.shape[1]
        return Point(self.x[:columns].copy(), self.constant * float(self.x[-1]) if self.constant else 0.0)

    def set_intercept(self, intercept: float) -> None:
        """The best intercept for these w, which the certificate has found."""
        self.z = self.z + (intercept - self.x[-1])
        self.x[-1] = intercept
        self.value = self._value(self.x, self.z)

    def _product(self, x: Vector) -> Vector:
        w = x[: self.problem.X.shape[1]]
        return self.problem.X.matvec(w, self.constant * float(x[-1]) if self.constant else 0.0, self.problem.n_jobs)

    def _value(self, x: Vector, z: Vector) -> float:
        penalty = float(self.rho @ np.abs(x)) + 0.5 * float(self.bend @ (x * x))
        return penalty + self.problem.loss_sum(z)

    def newton_step(self) -> bool:
        """Minimises the model and goes towards its minimum; False where nothing was gained."""
        u, h = self.problem.loss_derivatives(self.z)
        slope = self.problem.X.rmatvec(u, n_jobs=self.problem.n_jobs)
        if self.constant:
            slope = np.append(slope, self.constant * float(u.sum()))
        self.passes += 3 + self.gram.update(h)
        end = self.x.copy()
        promised = minimise_quadratic(self._hessian(), slope, end, self.rho, self.bend)
        return self._search(end, promised)

    def _hessian(self) -> Vector:
        """The whole matrix from its upper triangle, damped."""
        upper = np.triu(self.gram.matrix)
        whole = upper + np.triu(upper, 1).T
        diagonal = np.diag_indices_from(whole)
        largest = float(whole[diagonal].max())
        whole[diagonal] += self.damping * np.maximum(whole[diagonal], 1e-6 * largest)
        return whole.reshape(-1)

    def _search(self, end: Vector, promised: float) -> bool:
        dz = self._product(end) - self.z
        t = 1.0
        while t > SHORTEST:
            x = end if t == 1 else self.x + t * (end - self.x)
            z = self.z + t * dz
            value = self._value(x, z)
            if value <= self.value - SUFFICIENT_DECREASE * t * promised:
                gained = value < self.value
                self.x, self.z, self.value = x.copy(), z, value
                factor = 0.1 if t == 1 else 4.0
                self.damping = min(MOST_DAMPING, max(LEAST_DAMPING, factor * self.damping))
                return gained
            t *= 0.5
        self.damping = min(MOST_DAMPING, 100 * self.damping)
        return False
