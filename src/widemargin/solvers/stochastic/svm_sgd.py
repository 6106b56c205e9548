"""Bottou's SvmSgd: stochastic gradient descent whose first learning rate is found by trial.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i loss(y_i, x_i . w + b)
          divided by sum_i C_i:   lambda/2 |w|^2 + mean of s_i loss_i,   lambda = 1 / sum_i C_i,  s_i = C_i / mean(C)
Step      w <- w - eta_t (lambda w + s_i loss'(z_i) x_i),    eta_t = eta_0 / (1 + lambda eta_0 t)

Bottou, "Stochastic gradient descent examples" (2007, version 2), and "Large-scale machine learning with stochastic
gradient descent" (2010). eta_0 is doubled or halved, each value judged by the objective after one pass over a sample of
rows, until the objective gets worse.

eta_t = 1 / (lambda (t0 + t)) with t0 = 1 / (lambda eta_0): the rate of the SGD paper, begun later. So its change of
variable and its dual point carry over, for every margin loss: v_i = C_i times the mean of -loss' over the T epochs
(diluted by t0/m epochs that count as zero) is in the domain of the conjugates, and w = X^T v. See sgd.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...objective.losses import LossesThat
from .sgd import StochasticSolver

if TYPE_CHECKING:
    from ... import _core
    from ...objective.problem import Problem

# A rate beyond this, or its inverse, is no answer: the search ends there.
MOST_EXTREME = 2.0**40


@dataclass(frozen=True)
class SvmSgd(StochasticSolver):
    """Bottou's SvmSgd for margin losses, with penalty l2.

    Parameters
    ----------
    comparison : float
        The cheap gap is looked at closely when it is below `comparison` times the tolerance.
    sample : int
        How many rows judge a first learning rate.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import SvmSgd
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="logistic")
    >>> solve(problem, SvmSgd(), tol=1e-2).converged
    True
    """

    name: ClassVar[str] = "svm_sgd"
    summary: ClassVar[str] = "stochastic gradient descent with a calibrated first rate (Bottou 2007)"
    losses = LossesThat(lambda loss: loss.classification)

    sample: int = 1000

    def prepare(self, problem: Problem, native: _core.Sgd) -> None:
        trial = partial(native.trial, self.sample)
        eta = best_first_rate(lambda rate: trial(1 / (native.lam * rate)), cost_of_nothing(problem))
        native.offset = 1 / (native.lam * eta)


def best_first_rate(cost: Callable[[float], float], nothing: float, start: float = 1.0, factor: float = 2.0) -> float:
    """The rate from which neither doubling nor halving lowers the cost, judged step by step from `start`.

    A rate that costs more than `nothing`, the cost at w = 0, or no number at all, is far too large: among such rates
    one may be cheaper than its half by chance, so that the search begins below them.
    """
    low, cost_low = start, cost(start)
    while not cost_low < nothing and low > MOST_EXTREME**-1:
        low /= factor
        cost_low = cost(low)
    if not cost_low < nothing:
        return start
    high = low * factor
    cost_high = cost(high)
    if cost_low < cost_high:
        while cost_low < cost_high and low > MOST_EXTREME**-1:
            high, cost_high = low, cost_low
            low /= factor
            cost_low = cost(low)
        return high
    while cost_high < cost_low and high < MOST_EXTREME:
        low, cost_low = high, cost_high
        high *= factor
        cost_high = cost(high)
    return low


def cost_of_nothing(problem: Problem) -> float:
    """The objective at w = 0, per unit of weight."""
    return problem.loss_sum(np.zeros(problem.X.shape[0])) / float(problem.weights.sum())
