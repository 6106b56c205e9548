"""SGD-QN: stochastic gradient descent with one learning rate per feature, learned from secants.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (x_i . w + b))
Dual      max over v      sum_i alpha_i - 1/2 |X^T v|^2,    v_i = y_i alpha_i,   0 <= alpha_i <= C_i

Bordes, Bottou, Gallinari, "SGD-QN: Careful Quasi-Newton Stochastic Gradient Descent" (2009), corrected by their erratum
(2010); the update is in native/core/stochastic/sgd_qn.hpp. The first rate is found by trial, as in SvmSgd.

The rates differ between features, so w is no combination of rows with coefficients in the box. The dual point is the
mean of the subgradients met since the last power of two epochs, alpha_i = C_i times the share of epochs in which row i
was a margin error: it is in the box, and tends to the optimum with w. Its value needs a pass, so that the latest one is
offered, while w is that of the best epoch (best_epoch.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...data.rows import IN_ORDER, VERBS
from ..base import Run, Solver, Step, Steps
from .best_epoch import BestEpoch
from .svm_sgd import best_first_rate, usual_rate

if TYPE_CHECKING:
    from ...objective.problem import Problem


@dataclass(frozen=True)
class SgdQN(Solver):
    """SGD-QN (Bordes et al. 2009, 2010) for the hinge loss and penalty l2.

    Parameters
    ----------
    sample : int
        How many rows judge a first learning rate.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import SgdQN
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge")
    >>> solve(problem, SgdQN(), tol=1e-2).converged
    True
    """

    name: ClassVar[str] = "sgd_qn"
    summary: ClassVar[str] = "quasi-Newton stochastic gradient descent (Bordes, Bottou, Gallinari 2009)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    # Not the smooth losses: a secant that overrates the curvature makes a rate fall too fast to ever arrive.
    losses: ClassVar[frozenset[str]] = frozenset({"hinge"})
    intercepts: ClassVar[frozenset[str]] = frozenset({"none", "regularized"})

    sample: int = 1000

    def iterate(self, problem: Problem, run: Run) -> Steps:
        native = _core.QuasiNewtonSgd(
            stored(problem.X).native_rows,
            problem.loss.native,
            problem.y,
            problem.weights,
            problem.intercept_scale,
            run.seed,
        )
        native.begin(best_first_rate(partial(native.trial, self.sample), usual_rate(problem)))
        if run.start is not None:
            native.set_weights(run.start.w, run.start.intercept)
        best = BestEpoch(problem, run.seed)
        trust = 1.0
        for iteration in count(1):
            if (iteration - 1) & (iteration - 2) == 0:
                native.restart_pulls()
            loss = native.one_pass()
            w, v = best.room
            intercept = native.weights(w)
            native.dual(v)
            half_sqnorm = problem.penalty_value(w, intercept)
            primal = half_sqnorm + loss
            # As if w = X^T v, which holds in the limit: an estimate, for the verdict costs a pass.
            gap = abs(primal + half_sqnorm + problem.conjugate_sum(-v))
            best.offer(intercept)
            best.offer_latest_dual()
            verdict = yield Step(
                iteration=iteration,
                passes=float(iteration),
                point=best.answer,
                objective=primal,
                dual=primal - gap,
                gap=gap,
                looks_done=trust * gap <= run.goal.wanted(primal, gap),
                n_active=problem.X.shape[0],
            )
            if verdict is not None:
                trust = float(np.clip(verdict.certificate.gap / gap if gap > 0 else 10.0, 0.1, 10.0))
                best.forget()
