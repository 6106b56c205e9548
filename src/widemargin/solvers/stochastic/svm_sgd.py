"""Bottou's SvmSgd: stochastic gradient descent whose first learning rate is found by trial.

Problem   min over w, b   1/2 |w|^2 + sum_i C_i loss(y_i, x_i . w + b)
          divided by sum_i C_i:   lambda/2 |w|^2 + mean of s_i loss_i,   lambda = 1 / sum_i C_i,  s_i = C_i / mean(C)
Step      w <- w - eta_t (lambda w + s_i loss'(z_i) x_i),    eta_t = eta_0 / (1 + lambda eta_0 t)

Bottou, "Stochastic gradient descent examples" (2007, version 2), and "Large-scale machine learning with stochastic
gradient descent" (2010). eta_0 is doubled or halved, each value judged by the objective after one pass over the same
sample of rows, until the objective gets worse. The first value is 1 over the mean of s_i |x_i|^2, so that features of
any scale are as near to it; with a smooth loss 1 over the mean of s_i loss'' |x_i|^2, beyond which steps overshoot, and
none larger is tried. No row of a smooth loss is pulled beyond its own minimum (sgd.hpp): what a sample cannot show, a
few rows far longer than others, does not make w explode.

eta_t = 1 / (lambda (t0 + t)) with t0 = 1 / (lambda eta_0): the rate of the SGD paper, begun later. So its change of
variable and its dual point carry over, for every margin loss: v_i = C_i times the mean of -loss' over the T epochs
(diluted by t0/m epochs that count as zero) is in the domain of the conjugates, and w = X^T v. See sgd.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...objective.losses import LossesThat
from ...vectors import inner
from .sgd import StochasticSolver

if TYPE_CHECKING:
    from ...objective.problem import Problem

# A rate so many times the first one, or as many times below it, is no answer: the search ends there.
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
        usual = usual_rate(problem)
        most = usual if problem.loss.smooth else math.inf
        eta = best_first_rate(lambda rate: trial(1 / (native.lam * rate) if rate > 0 else math.inf), usual, most)
        native.offset = 1 / (native.lam * eta)


def best_first_rate(cost: Callable[[float], float], start: float, most: float = math.inf, factor: float = 2.0) -> float:
    """The rate up to `most` from which neither doubling nor halving lowers the cost, step by step from `start`.

    A rate that costs more than none at all, or no number, is far too large: among such rates one may be cheaper than
    its half by chance, so that the search begins below them.
    """
    nothing, least, most = cost(0.0), start / MOST_EXTREME, min(start * MOST_EXTREME, most)
    low, cost_low = start, cost(start)
    while not cost_low < nothing and low > least:
        low /= factor
        cost_low = cost(low)
    if not cost_low < nothing:
        return low  # the sample learns nothing at any rate: the one that does the least harm
    high = low * factor
    cost_high = cost(high) if high <= most else math.inf
    if cost_low < cost_high:
        while cost_low < cost_high and low > least:
            high, cost_high = low, cost_low
            low /= factor
            cost_low = cost(low)
        return high
    while cost_high < cost_low:
        low, cost_low = high, cost_high
        high *= factor
        cost_high = cost(high) if high <= most else math.inf
    return low


def usual_rate(problem: Problem) -> float:
    """The power of two below 1 over the mean of s_i loss'' |x_i|^2, the constant feature included.

    It is the longest step that does not overshoot on the whole; a loss of corners alone counts as if loss'' were one.
    """
    q = np.empty(problem.X.shape[0])
    _core.row_sqnorms(stored(problem.X).native_rows, q)
    mean = inner(problem.weights, q + problem.intercept_scale**2) / float(problem.weights.sum())
    curvature = mean * (problem.loss.most_curvature or 1.0)
    return 2.0 ** math.floor(-math.log2(curvature)) if curvature > 0 else 1.0
