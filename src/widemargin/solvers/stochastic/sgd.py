"""Stochastic (sub)gradient descent with a stopping rule of its own.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i loss(y_i, x_i . w + b)
Dual      max over v      -1/2 |X^T v|^2 - sum_i C_i conjugate(-v_i / C_i)         for the hinge: v_i = y_i alpha_i,
                          0 <= alpha_i <= C_i,  the dual value is sum_i alpha_i - 1/2 |w|^2

Panagiotakopoulos and Tsampouka, "The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited" (2013);
lambda = 1 / sum_i C_i (their 1/(C m)), t counts presentations of rows, T complete epochs, I_i the margin errors of row
i, M all of them, w_t = a_t / (lambda t).

After T complete epochs alpha_i = C_i I_i / T lies in its box (Proposition 2), w = X^T v, and

    L^T = C M / T - 1/2 |w|^2        is a lower bound on the optimum.

L^T needs no dual variables, and the loss is summed up as the rows pass by: this cheap gap decides when to look closely
(their coefficient f = 1.2). The counts I_i are kept all the same, eight bytes per row beside the row's label, weight
and length: with them the exact verdict is the certificate of every other solver, computed from the data and not from
running sums.

The paper's systems answer with the last epoch. These answer with the best one, as best_epoch.py has it, and with the
dual point of the highest L^T.

A free intercept is not offered: its dual constraint sum v = 0 is not met by I_i / T.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...data.rows import IN_ORDER, VERBS
from ...vectors import Vector
from ..base import Point, Run, Solver, Step, Steps
from .best_epoch import BestEpoch

if TYPE_CHECKING:
    from ...objective.problem import Problem

# A warm start counts as epochs already made, T of them if its relative gap is 1/T^2, and at most so many: the learning
# rate begins at 1 / (T m). On easy data so many epochs reach that gap, and what is wrong with a start is forgotten no
# faster than 1/T; on hard data it takes far more, but there the first epochs count for little.
WARM_EPOCHS = 100


@dataclass(frozen=True)
class StochasticSolver(Solver):
    """What the solvers with learning rate 1/(t0 + t) share: epochs, the cheap gap, and when to believe it."""

    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    intercepts: ClassVar[frozenset[str]] = frozenset({"none", "regularized"})
    order: ClassVar[str] = "permuted"
    multiplicity: ClassVar[int] = 1
    is_bounded: ClassVar[bool] = True  # whether L^T is a bound

    comparison: float = 1.2

    def prepare(self, problem: Problem, native: _core.Sgd) -> None:
        """Sets t0 before the first epoch, where the solver has one."""

    def begin(self, problem: Problem, run: Run) -> _core.Sgd:
        """The state before the first epoch."""
        native = _core.Sgd(
            stored(problem.X).native_rows,
            problem.loss.native,
            problem.y,
            problem.weights,
            problem.intercept_scale,
            self.order,
            run.seed,
        )
        self.prepare(problem, native)
        if run.start is not None:
            epochs = _worth(problem, run.start)
            rows = np.count_nonzero(problem.weights)
            native.begin(_pulls(problem, run.start, epochs + native.offset / rows), epochs)
        return native

    def iterate(self, problem: Problem, run: Run) -> Steps:
        native = self.begin(problem, run)
        best = BestEpoch(problem, run.seed)
        trust = 1 / self.comparison
        for iteration in count(1):
            report = native.epoch(self.multiplicity)
            self._offer(native, report.dual, best)
            gap = report.primal - report.dual
            verdict = yield Step(
                iteration=iteration,
                passes=float(iteration),
                point=best.answer,
                objective=report.primal,
                dual=report.dual,
                gap=gap,
                looks_done=trust * gap <= run.goal.wanted(report.primal, gap),
                n_active=problem.X.shape[0],
            )
            if verdict is not None:
                # The estimate said done and was wrong: next time believe it only as far as it was right now.
                exact = verdict.certificate.gap
                trust = float(np.clip(exact / gap if gap > 0 else 10.0, 1 / self.comparison, 10.0))
                best.forget()

    def _offer(self, native: _core.Sgd, bound: float, best: BestEpoch) -> None:
        w, v = best.room
        native.weights(w)
        best.offer(native.intercept)
        native.dual(v)
        if self.is_bounded:
            best.offer_dual(bound)
        else:
            best.offer_latest_dual()


@dataclass(frozen=True)
class SgdS(StochasticSolver):
    """SGD-s: complete epochs over permuted rows, each row presented once.

    Parameters
    ----------
    comparison : float
        The cheap gap is looked at closely when it is below `comparison` times the tolerance (the paper's f).

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import SgdS
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, SgdS(), tol=1e-2).coef.round(1)
    array([0.3])
    """

    name: ClassVar[str] = "sgd_s"
    summary: ClassVar[str] = "stochastic gradient descent, complete epochs (Panagiotakopoulos and Tsampouka 2013)"
    losses: ClassVar[frozenset[str]] = frozenset({"hinge"})


@dataclass(frozen=True)
class SgdM(SgdS):
    """SGD-m: as SGD-s, but in four passes of nine each row is presented five times for the price of one.

    How many of the five are margin errors follows from the first product alone (Proposition 3).

    Parameters
    ----------
    comparison : float
        The cheap gap is looked at closely when it is below `comparison` times the tolerance (the paper's f).

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import SgdM
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, SgdM(), tol=1e-2).coef.round(1)
    array([0.3])
    """

    name: ClassVar[str] = "sgd_m"
    summary: ClassVar[str] = "stochastic gradient descent, multiple presentations (Panagiotakopoulos, Tsampouka 2013)"
    multiplicity: ClassVar[int] = 5


@dataclass(frozen=True)
class SgdR(SgdS):
    """SGD-r: rows drawn at random with replacement.

    A row may come up more often than others, so I_i / T may leave its box; the dual point offered is I_i over the
    times that row i itself was drawn, which cannot. Only then w and X^T v differ a little: SGD-s needs fewer epochs.

    Parameters
    ----------
    comparison : float
        The cheap gap is looked at closely when it is below `comparison` times the tolerance (the paper's f).

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import SgdR
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, SgdR(), tol=1e-2).coef.round(1)
    array([0.3])
    """

    name: ClassVar[str] = "sgd_r"
    summary: ClassVar[str] = "stochastic gradient descent, random rows (Panagiotakopoulos and Tsampouka 2013)"
    order: ClassVar[str] = "random"
    is_bounded: ClassVar[bool] = False


def _worth(problem: Problem, start: Point) -> int:
    """The epochs that a start counts as: whole ones, for every row was presented as often."""
    gap = problem.certificate(start.w, start.intercept, start.dual).relative_gap
    return int(np.clip(gap**-0.5, 1, WARM_EPOCHS)) if gap > 0 else WARM_EPOCHS


def _pulls(problem: Problem, start: Point, epochs: float) -> Vector:
    """How often each row must have pulled in so many epochs to bring about the start."""
    v = start.dual
    if v is None:
        z = problem.X.matvec(start.w, start.intercept, n_jobs=problem.n_jobs)
        v = -problem.loss_derivatives(z)[0]
    pulls = np.zeros_like(v)
    counts = problem.weights > 0
    share = np.clip(problem.y[counts] * v[counts] / problem.weights[counts], problem.loss.lower, problem.loss.upper)
    pulls[counts] = epochs * share
    return pulls
