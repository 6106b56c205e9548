"""CMLS: coordinate descent with a trust region per coordinate.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i max(0, 1 - y_i z_i)^2,   z_i = x_i . w + b
Step      on coordinate j: z = clip(-D'(0) / U, -Delta_j, Delta_j), U a bound on the curvature within |z| <= Delta_j,
          then Delta_j = 2 |z| + epsilon; Delta_j = 10 at first

Zhang and Oles, "Text Categorization Based on Regularized Linear Classification Methods" (2001), Algorithm 3, as stated
in Chang, Hsieh, Lin (2008), section 4.3 and Algorithm 6. Pass k works on a function whose flat side is bent up,
c_k = max(0, 1 - k/50): it begins as least squares and is the squared hinge from pass 50 on. Kept for comparison:
primal_cd takes longer steps and needs fewer passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...data.rows import COLUMNS, VERBS
from ..base import Point, Run, Solver, Step, Steps

if TYPE_CHECKING:
    from ...objective.problem import Problem

REFRESH_PASSES = 200


@dataclass(frozen=True)
class CMLS(Solver):
    """CMLS (Zhang and Oles 2001) for the squared hinge with penalty l2.

    Parameters
    ----------
    order : {"cyclic", "permuted", "permuted_once", "random"}
        Which coordinate next.
    bent_passes : int
        Passes on the bent function, 50 in the paper; 0 starts with the squared hinge itself.
    epsilon : float
        What a trust region keeps when its coordinate rests.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import CMLS
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="squared_hinge")
    >>> solve(problem, CMLS(), tol=1e-8).coef.round(6)
    array([0.190476])
    """

    name: ClassVar[str] = "cmls"
    summary: ClassVar[str] = "coordinate descent with trust regions (Zhang and Oles 2001)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, COLUMNS})
    losses: ClassVar[frozenset[str]] = frozenset({"squared_hinge"})

    order: str = "cyclic"
    bent_passes: int = 50
    epsilon: float = 1e-3

    def iterate(self, problem: Problem, run: Run) -> Steps:
        native = self._begin(problem, run)
        k, trust, refreshed = 0, 1.0, 0
        while True:
            c = max(0.0, 1 - k / self.bent_passes) if self.bent_passes else 0.0
            report = native.run(c, self.epsilon)
            k += 1
            point = _point(native, problem)
            z = np.empty(problem.X.shape[0])
            native.predictions(z)
            objective = problem.penalty_value(point.w, point.intercept) + problem.loss_sum(z)
            gap = 0.5 * report.slope_squares
            verdict = yield Step(
                iteration=k,
                passes=float(k),
                point=lambda point=point: point,  # type: ignore[misc]
                objective=objective,
                dual=objective - gap if c == 0 else np.nan,
                gap=gap if c == 0 else np.nan,
                looks_done=c == 0 and trust * gap <= run.goal.wanted(objective, gap),
                n_active=problem.X.shape[1],
            )
            if verdict is not None:
                trust = float(np.clip(verdict.certificate.gap / max(gap, 1e-300), 1.0, 100.0))
            if verdict is not None or k - refreshed >= REFRESH_PASSES:
                native.set_predictions(problem.X.matvec(point.w, point.intercept, n_jobs=problem.n_jobs))
                refreshed = k

    def _begin(self, problem: Problem, run: Run) -> _core.CMLS:
        native = _core.CMLS(
            stored(problem.X).native_columns,
            problem.y,
            problem.weights,
            problem.constant,
            0.0 if problem.intercept == "free" else 1.0,
            self.order,
            run.seed,
        )
        if run.start is not None:
            native.set_weights(run.start.w, run.start.intercept)
            native.set_predictions(problem.X.matvec(run.start.w, run.start.intercept, n_jobs=problem.n_jobs))
        return native


def _point(native: _core.CMLS, problem: Problem) -> Point:
    w = np.empty(problem.X.shape[1])
    native.weights(w)
    return Point(w, native.intercept)
