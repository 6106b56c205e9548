"""Two-variable coordinate descent for the one-class SVM.

Problem   min over w, rho   1/2 |w|^2 - nu S rho + sum_i s_i max(0, rho - x_i . w)
Dual      min over alpha    1/2 |X^T alpha|^2      with  0 <= alpha_i <= s_i  and  sum_i alpha_i = nu S
          where w = X^T alpha; G_i = x_i . w is the slope in alpha_i

Chou, Lin, Lin, "Dual Coordinate-Descent Methods for Linear One-Class SVM and SVDD" (2020): the sum is kept by moving
mass between two variables, from a row with large G to one with small G. An outer step looks at all rows, which also
gives the exact gap; then the rows that can still move (free ones, and those on the wrong side of their bound) are
swept alone, sorted and joined pair by pair, until their largest violation has fallen to a share of what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.matrix import stored
from ...data.rows import IN_ORDER, VERBS
from ...objective.one_class import OneClassProblem
from ...vectors import Vector, inner
from ..base import Point, Run, Solver, Step, Steps


@dataclass(frozen=True)
class OneClassCD(Solver):
    """Two-variable coordinate descent (Chou, Lin, Lin 2020) for `OneClassProblem`.

    Parameters
    ----------
    inner_share : float
        The rows that can move are swept until their largest violation is this share of the whole problem's.
    max_sweeps : int
        Most sweeps between two looks at all rows.

    Examples
    --------
    >>> from widemargin import OneClassProblem, solve
    >>> from widemargin.solvers import OneClassCD
    >>> problem = OneClassProblem([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0], [9.0, 9.0]], nu=0.5)
    >>> solve(problem, OneClassCD(max_sweeps=5), tol=1e-8).converged
    True
    """

    name: ClassVar[str] = "one_class"
    summary: ClassVar[str] = "two-variable coordinate descent for the one-class SVM (Chou, Lin, Lin 2020)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    takes: ClassVar[type[Any]] = OneClassProblem
    losses: ClassVar[frozenset[str]] = frozenset({"one_class"})
    intercepts: ClassVar[frozenset[str]] = frozenset({"free"})

    inner_share: float = 0.1
    max_sweeps: int = 100

    def iterate(self, problem: OneClassProblem, run: Run) -> Steps:
        state = _OneClassState(problem, run)
        iteration, passes = 0, 1.0
        rows = problem.X.shape[0]
        sweeps = 1 if run.every_step else self.max_sweeps
        while True:
            iteration += 1
            working, violation, gap, primal = state.look()
            size = max(abs(primal), state.problem.least_size)
            verdict = yield Step(
                iteration=iteration,
                passes=passes,
                point=state.point,
                objective=primal,
                dual=primal - gap,
                gap=gap,
                looks_done=gap <= run.tol * size,
                n_active=len(working),
            )
            if verdict is not None or violation <= 0:
                state.refresh()
            # Where the clock cuts a call decides nothing: the sweeps go on with the same rows to the same target.
            left, target = sweeps, self.inner_share * violation
            passes += 1
            while left > 0:
                report = state.sweep(working, target, left)
                left -= report.sweeps
                passes += report.sweeps * len(working) / rows
                if report.violation <= target:
                    break
                if left > 0:
                    yield Step(iteration, passes, state.point, n_active=len(working), by_the_clock=True)


class _OneClassState:
    """alpha and w = X^T alpha."""

    def __init__(self, problem: OneClassProblem, run: Run) -> None:
        self.problem, self._run = problem, run
        start = None if run.start is None else run.start.dual
        self.alpha = self._first_alpha() if start is None else problem.feasible(start)
        self.w = np.empty(0)
        self.refresh()

    def _first_alpha(self) -> Vector:
        """All mass on the rows that lie lowest along the mean row."""
        problem = self.problem
        mean = problem.X.rmatvec(problem.nu * problem.weights, n_jobs=problem.n_jobs)
        order = np.argsort(problem.X.matvec(mean, n_jobs=problem.n_jobs), kind="stable")
        before = np.cumsum(problem.weights[order]) - problem.weights[order]
        alpha = np.zeros(len(order))
        alpha[order] = np.clip(problem.mass - before, 0.0, problem.weights[order])
        return problem.feasible(alpha)

    def refresh(self) -> None:
        """w anew from alpha, free of what rounding gathered."""
        self.w = self.problem.X.rmatvec(self.alpha, n_jobs=self.problem.n_jobs)

    def look(self) -> tuple[NDArray[np.uint32], float, float, float]:
        """The rows that can move, the largest violation, the gap and the objective."""
        problem = self.problem
        z = problem.X.matvec(self.w, n_jobs=problem.n_jobs)
        primal = problem.objective_at(self.w, z, problem.best_rho(z))
        gap = max(0.0, primal + 0.5 * inner(self.w, self.w))
        grows, falls = self.alpha < problem.weights, self.alpha > 0
        if not (grows.any() and falls.any()):
            return np.empty(0, dtype=np.uint32), 0.0, gap, primal
        lowest, highest = float(z[grows].min()), float(z[falls].max())
        working = np.flatnonzero((grows & (z < highest)) | (falls & (z > lowest)))
        return self._nearest(working, z, 0.5 * (lowest + highest)), highest - lowest, gap, primal

    def _nearest(self, working: NDArray[np.intp], z: Vector, middle: float) -> NDArray[np.uint32]:
        """The working rows without those at a bound on the right side of the middle, which only seem able to move."""
        at_zero, at_top = self.alpha[working] <= 0, self.alpha[working] >= self.problem.weights[working]
        idle = (at_zero & (z[working] > middle)) | (at_top & (z[working] < middle))
        return working[~idle].astype(np.uint32)

    def sweep(self, working: NDArray[np.uint32], target: float, max_sweeps: int) -> _core.OneClassReport:
        return _core.one_class_sweeps(
            stored(self.problem.X).native_rows,
            working,
            self.problem.weights,
            stored(self.problem.X).row_sqnorms,
            self.alpha,
            self.w,
            target,
            max_sweeps,
            self._run.slice(),
        )

    def point(self) -> Point:
        return Point(self.w.copy(), 0.0, self.alpha.copy())
