"""Coordinate descent for the squared loss: the lasso, the elastic net and ridge regression.

Problem   min over w, b   rho |w|_1 + (1 - rho)/2 |w|^2 + sum_i C_i (x_i . w + b - y_i)^2
Dual      max over v      sum_i (v_i y_i - v_i^2 / (4 C_i)) - R*(X^T v)      and  sum v = 0  for a free intercept
          where v_i = 2 C_i (y_i - x_i . w - b) at the optimum; for l1, R* asks for |x_j . v| <= 1

scikit-learn's Lasso(alpha) is C = 1 / (2 n alpha).

Friedman, Hastie, Hofling, Tibshirani, "Pathwise Coordinate Optimization" (2007): one weight is minimised at a time, the
residual is kept, so a step costs the entries of one column. On top of it:

 - Working sets (Massias, Gramfort, Salmon, "Celer", 2018): the columns nearest to their bound |x_j . v| = rho, measured
   in units of their own length, are solved alone, then the rest is looked at again.
 - Gap-safe screening (Ndiaye, Fercoq, Gramfort, Salmon 2017): the dual is strongly concave, so its optimum lies within
   sum_i (v_i - v*_i)^2 / (4 C_i) <= gap. A column with |x_j . v| + sqrt(2 h_j gap) < rho, h_j its curvature, has weight
   zero at the optimum and leaves for good.
 - Extrapolation (Bertrand and Massias, "Anderson acceleration of coordinate descent", 2021): after a few passes their
   points are combined linearly; residuals combine alike, so the trial costs O(rows) and is kept only if it is better.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.matrix import stored
from ...data.rows import COLUMNS, VERBS
from ...objective.losses import LossesThat
from ...vectors import Vector, inner
from ..base import Point, Run, Solver, Step, Steps
from .support_step import lasso_support_step

if TYPE_CHECKING:
    from ...objective.penalties import Penalty
    from ...objective.problem import Problem

Columns = NDArray[np.uint32]

# The first working set holds this many columns; later ones twice the support.
FIRST_WORKING_SET = 100
# A working set is solved until its own gap is this share of the whole gap.
INNER_SHARE = 0.3


@dataclass(frozen=True)
class LassoCD(Solver):
    """Coordinate descent for the squared loss (lasso, elastic net, ridge) with working sets and gap-safe screening.

    Parameters
    ----------
    order : {"adaptive", "cyclic", "permuted", "permuted_once", "random"}
        Which column next; "adaptive" learns the columns' frequencies (Glasmachers and Dogan 2013) and needs up to half
        the passes of "cyclic" where the penalty is weak.
    working_set : bool
        Solve on a growing set of columns instead of all that screening left.
    screening : bool
        Leave out columns that are proven to have weight zero.
    extrapolation : int
        Passes that are combined into one extrapolated point; 0 for none.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import LassoCD
    >>> problem = Problem([[1.0, 0.0], [0.0, 1.0]], [2.0, 0.1], loss="squared", penalty="l1")
    >>> solve(problem, LassoCD(), tol=1e-9).coef.round(6)
    array([1.5, 0. ])
    """

    name: ClassVar[str] = "lasso_cd"
    summary: ClassVar[str] = "coordinate descent for the squared loss, with working sets and gap-safe screening"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, COLUMNS})
    losses = LossesThat(lambda loss: loss.quadratic)
    penalties: ClassVar[frozenset[str]] = frozenset({"l1", "elasticnet", "l2"})

    order: str = "adaptive"
    working_set: bool = True
    screening: bool = True
    extrapolation: int = 5

    def iterate(self, problem: Problem, run: Run) -> Steps:
        state = _LassoState(self, problem, run)
        strictness = 1.0
        while True:
            found = state.assess(state.alive)
            target = strictness * run.goal.wanted(found.primal, found.primal - state.best_dual)
            verdict = yield state.step(found, looks_done=found.primal - state.best_dual <= target)
            if verdict is not None:
                # The screened columns or rounding spoke against it: aim lower, from a fresh residual.
                strictness *= 0.5
                state.refresh()
            if self.screening:
                found = state.screen(found)
            state.choose_working(found)
            yield from state.descend(max(INNER_SHARE * found.gap, 0.5 * target))


@dataclass(frozen=True)
class _Assessment:
    """A point seen through some of the columns: its objective, its dual point scaled to feasibility, the gap."""

    primal: float
    dual: float
    v: Vector
    correlations: Vector  # x_j . v of those columns

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)


class _LassoState:
    """The native state with the columns still in play."""

    def __init__(self, solver: LassoCD, problem: Problem, run: Run) -> None:
        self.solver, self.problem, self._run = solver, problem, run
        self.rho = problem.penalty.rho
        rows, columns = problem.X.shape
        C = problem.weights * (0.25 / problem.loss.bend)  # of (z - y)^2, whichever parabola it is
        self.native = _core.LassoCD(
            stored(problem.X).native_columns,
            problem.y,
            C,
            self.rho,
            problem.intercept,
            problem.intercept_scaling,
            solver.order,
            run.seed,
        )
        if run.start is not None:
            self.native.set_weights(run.start.w, run.start.intercept)
        self._reach = np.empty(columns)  # sqrt(2 h_j): how far x_j . v can move per square root of the gap
        self.native.curvatures(self._reach)
        np.sqrt(2 * self._reach, out=self._reach)
        self._counts = problem.weights > 0
        self._quarter = np.zeros(rows)  # 1 / (4 C_i)
        self._quarter[self._counts] = 0.25 / C[self._counts]
        self.alive: Columns = np.arange(columns, dtype=np.uint32)
        self.working = self.alive
        self.native.set_working(self.working)
        self._set_size = 0
        self.best_dual, self._best_v = -np.inf, np.zeros(rows)
        self.iteration, self.passes = 0, 0.0

    # Where the descent stands.

    def weights(self) -> Vector:
        w = np.empty(self.problem.X.shape[1])
        self.native.weights(w)
        return w

    def point(self) -> Point:
        return Point(self.weights(), self.native.intercept, self._best_v)

    def refresh(self) -> None:
        self.native.set_weights(self.weights(), self.native.intercept)

    def step(self, found: _Assessment, looks_done: bool) -> Step:
        return Step(
            iteration=self.iteration,
            passes=self.passes,
            point=self.point,
            objective=found.primal,
            dual=self.best_dual,
            gap=max(0.0, found.primal - self.best_dual),
            looks_done=looks_done,
            n_active=len(self.alive),
        )

    def assess(self, columns: Columns) -> _Assessment:
        """The gap of the problem that has only these columns."""
        v, correlations = self._dual(), np.empty(len(columns))
        self.native.correlations(columns, correlations)
        constant = np.array([self.problem.intercept_scale * float(v.sum())])
        slope, bend = inner(v, self.problem.y), inner(v, self._quarter * v)
        t = _best_scale(slope, bend, np.append(correlations, constant), self.problem.penalty)
        dual = t * slope - t * t * bend - self.problem.penalty.conjugate(t * np.append(correlations, constant))
        if columns is self.alive and dual > self.best_dual:
            self.best_dual, self._best_v = dual, t * v
        return _Assessment(self._objective(v), dual, t * v, t * correlations)

    def _dual(self) -> Vector:
        v = np.empty(self.problem.X.shape[0])
        self.native.dual(v)
        return v

    def _objective(self, v: Vector) -> float:
        return self.problem.penalty_value(self._working_weights(), self.native.intercept) + inner(v, self._quarter * v)

    def _working_weights(self) -> Vector:
        """The weights of the working columns; all others are zero."""
        w = np.empty(len(self.working))
        self.native.working_weights(w)
        return w

    # Which columns.

    def screen(self, found: _Assessment) -> _Assessment:
        """Columns leave that the gap proves to be zero; what is known of those that stay."""
        if self.rho == 0 or not np.isfinite(found.gap):
            return found
        possible = np.abs(found.correlations) + self._reach[self.alive] * np.sqrt(found.gap) >= self.rho
        keep = possible | (self.weights()[self.alive] != 0)
        self.alive = self.alive[keep]
        return replace(found, correlations=found.correlations[keep])

    def choose_working(self, found: _Assessment) -> None:
        """The columns nearest to their bound, and the support."""
        self.working = self.alive
        support = self.weights()[self.alive] != 0
        self._set_size = max(FIRST_WORKING_SET, 2 * int(support.sum()), self._set_size)
        if self.solver.working_set and self.rho > 0 and self._set_size < len(self.alive):
            with np.errstate(divide="ignore", invalid="ignore"):
                distance = (self.rho - np.abs(found.correlations)) / self._reach[self.alive]
            distance[np.isnan(distance)] = np.inf
            distance[support] = -np.inf
            nearest = np.argpartition(distance, self._set_size)[: self._set_size]
            self.working = np.sort(self.alive[nearest])
        self.native.set_working(self.working)

    # Passes.

    def descend(self, target: float) -> Steps:
        """Passes over the working set until its own gap is below the target."""
        recent: deque[tuple[Vector, float, Vector]] = deque(maxlen=self.solver.extrapolation + 1)
        since = self.iteration
        while True:
            report = self._passes(recent)
            if report.last_gain == 0:
                return
            if self._is_slow(since):
                since = self.iteration
                lasso_support_step(self.native, self.working, self.rho)
            objective = self._extrapolate(recent)
            if report.last_gain < target:
                found = self.assess(self.working)
                objective = found.primal
                if found.gap <= target:
                    return
            yield Step(self.iteration, self.passes, self.point, objective=objective, n_active=len(self.working))

    def _is_slow(self, since: int) -> bool:
        """Whether the passes since then cost more than a Newton step on the support would."""
        return self.iteration - since >= max(20, int(np.count_nonzero(self._working_weights())) // 2)

    def _passes(self, recent: deque[tuple[Vector, float, Vector]]) -> _core.LassoReport:
        """As many passes as one extrapolation needs, each remembered."""
        wanted = max(1, min(recent.maxlen or 1, int(min(self._run.max_iter - self.iteration, 2**31))))
        recent.clear()
        report = self._one_call(1)
        while self.solver.extrapolation and report.last_gain > 0:
            recent.append((self._working_weights(), self.native.intercept, self._dual()))
            if len(recent) >= wanted or self._run.should_stop():
                break
            report = self._one_call(1)
        return report

    def _one_call(self, n_passes: int) -> _core.LassoReport:
        report = self.native.run(n_passes, self._run.slice())
        self.iteration += report.passes
        self.passes += report.entries / max(1, self.problem.X.nnz)
        return report

    def _extrapolate(self, recent: deque[tuple[Vector, float, Vector]]) -> float:
        """Moves to the combination of the recent points whose steps cancel best, if it is better; the objective."""
        now = self._objective(self._dual())
        if len(recent) < 3:
            return now
        points = np.array([w for w, _, _ in recent])
        moves = np.diff(points, axis=0)
        gram = moves @ moves.T
        gram[np.diag_indices_from(gram)] += 1e-10 * np.trace(gram)
        try:
            share = np.linalg.solve(gram, np.ones(len(moves)))
        except np.linalg.LinAlgError:
            return now
        total = float(share.sum())
        if not (np.isfinite(total) and abs(total) > 0):
            return now
        share /= total
        w = share @ points[1:]
        b = float(share @ [b for _, b, _ in list(recent)[1:]])
        v = share @ np.array([v for _, _, v in list(recent)[1:]])
        trial = self.problem.penalty_value(w, b) + inner(v, self._quarter * v)
        if trial < now:
            self.native.move_to(w, b, v)
            return trial
        return now


def _best_scale(slope: float, bend: float, correlations: Vector, penalty: Penalty) -> float:
    """The t that maximises  t slope - t^2 bend - R*(t X^T v):  concave in t, so its derivative is bisected."""
    if slope <= 0 or bend <= 0:
        return 0.0
    high, rho = slope / (2 * bend), penalty.rho
    largest = np.abs(correlations)
    if rho == 1:
        return float(min(high, 1.0 / max(float(largest.max(initial=0.0)), 1e-300)))
    largest = largest[largest * high > rho]
    low = 0.0
    for _ in range(40):
        t = 0.5 * (low + high)
        beyond = np.maximum(0.0, t * largest - rho)
        falling = slope - 2 * t * bend < inner(largest, beyond) / (1 - rho)
        low, high = (low, t) if falling else (t, high)
    return high if len(largest) == 0 else low
