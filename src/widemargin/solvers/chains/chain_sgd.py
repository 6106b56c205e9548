"""Stochastic gradient descent over chains: CRFs and structured SVMs.

Problem   min over w   1/2 |w|^2 + sum_i C_i loss_i(w)
          divided by sum_i C_i:   lambda/2 |w|^2 + mean of s_i loss_i,   lambda = 1 / sum_i C_i,  s_i = C_i / mean(C)
Step      w <- w - eta_t (lambda w + s_i grad loss_i(w)),    eta_t = 1 / (lambda (t0 + t))
Symbols   t counts visits of sequences, T complete epochs, n sequences with C_i > 0

CRF: Bottou, "Stochastic gradient descent examples" (2007); t0 is found by trial on a sample of sequences. Structured
SVM: Ratliff, Bagnell, Zinkevich, "(Online) Subgradient Methods for Structured Prediction" (2007); the subgradient is
that of the labeling that scores most with its cost, and after T epochs the labelings that were met, each with the share
n / (t0 + n T), and the start's own with t0 / (t0 + n T), are a dual point, as in stochastic/sgd.py. A CRF's dual point
are the model's own marginals. The answer is the mean of the epochs' ends, epoch T counting T times (Lacoste-Julien,
Schmidt, Bach 2012): what the last few sequences pulled is averaged away. See native/core/chains/stochastic.hpp.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...data.rows import IN_ORDER, VERBS
from ...numbers import as_whole
from ...objective.chains.problem import ChainProblem
from ...objective.chains.svm import ChainSVMProblem, LabelingMixture
from ...objective.points import Point
from ...vectors import Vector, inner
from ..base import Run, Solver, Step, Steps
from ..stochastic.svm_sgd import best_first_rate
from .weights import ChainWeights

# The gap is known by verification alone, which costs as much as an epoch: looks are this factor apart.
BETWEEN_LOOKS = 1.25
# Where the sample learns nothing at any rate, one so many times below the usual is taken.
MOST_CAREFUL = 256.0
NO_COST = np.empty(0)


@dataclass(frozen=True)
class ChainSGD(Solver):
    """Stochastic gradient descent for `ChainCRFProblem` (Bottou 2007) and `ChainSVMProblem` (Ratliff et al. 2007).

    Parameters
    ----------
    sample : int
        How many sequences judge a first learning rate.

    Examples
    --------
    >>> from widemargin import ChainSVMProblem, solve
    >>> from widemargin.solvers import ChainSGD
    >>> problem = ChainSVMProblem([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], ["a", "b", "a"], lengths=[2, 1])
    >>> solve(problem, ChainSGD(), tol=5e-2).converged
    True
    """

    name: ClassVar[str] = "chain_sgd"
    summary: ClassVar[str] = "stochastic gradient descent over chains (Bottou 2007; Ratliff et al. 2007)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    takes: ClassVar[type[Any]] = ChainProblem
    losses: ClassVar[frozenset[str]] = frozenset({"chain", "chain_hinge"})

    sample: int = 1000

    def __post_init__(self) -> None:
        as_whole("sample", self.sample, least=1)

    def iterate(self, problem: ChainProblem, run: Run) -> Steps:
        rng = np.random.default_rng(run.seed)
        state, next_look, iteration = SGDState(problem, first_steps(problem, self.sample, rng), run.start), 1.0, 0
        mean = state.w
        while True:
            state.epoch(rng.permutation(problem.n_sequences), run)
            iteration += 1
            mean += 2 / (iteration + 1) * (state.w - mean)
            looks_done = iteration >= next_look
            next_look = BETWEEN_LOOKS * iteration if looks_done else next_look
            answer = Point(mean.copy(), dual=state.mixture()) if looks_done else None
            yield Step(
                iteration=iteration,
                passes=float(iteration),
                point=lambda answer=answer, mean=mean: answer or Point(mean.copy(), dual=state.mixture()),  # type: ignore[misc]
                looks_done=looks_done,
                n_active=problem.n_sequences,
            )


class SGDState:
    """The sum a of a run, with w = a / (lambda t), and the labelings that it met."""

    def __init__(self, problem: ChainProblem, t0: float, start: Point | None = None) -> None:
        self.problem, self.t0, self.steps, self.lam = problem, t0, t0, decay(problem)
        self.native = _core.ChainSgd(
            problem.chains, problem.codes, problem.weights / problem.weights.sum() * counted(problem)
        )
        first = np.zeros(problem.size) if start is None else start.w
        self.a = ChainWeights(problem, self.lam * t0 * first)
        self._base = None if start is None else start.dual

    @property
    def w(self) -> Vector:
        """The present weights, a copy."""
        return self.a.coef / (self.lam * self.steps)

    def epoch(self, order: Any, run: Run | None = None) -> None:
        """Visits every sequence once, or stops where the run does."""
        problem, held, at = self.problem, self.a, 0
        cost = problem.cost.reshape(-1) if isinstance(problem, ChainSVMProblem) else NO_COST
        while at < len(order):
            at, self.steps = self.native.visit(
                stored(problem.X).native_rows,
                problem.native_pairs,
                cost,
                held.w,
                held.edge,
                held.used,
                self.lam,
                self.steps,
                order,
                at,
                math.inf if run is None else run.slice(),
            )
            if run is not None and run.should_stop():
                return

    def mixture(self) -> LabelingMixture | None:
        """The labelings that were met, by how often, and those of the start: a structured SVM's dual point."""
        problem = self.problem
        if not isinstance(problem, ChainSVMProblem):
            return None
        base = self._base if isinstance(self._base, LabelingMixture) else problem.whole(problem.codes)
        owner, times, labels = self.native.met()
        # A sequence that an epoch cut short did not reach, or that has no weight, was met less often: shares of each.
        shares = np.concatenate([base.share * self.t0 / counted(problem), times])
        owners = np.concatenate([base.owner, owner])
        totals = np.bincount(owners, weights=shares, minlength=problem.n_sequences)
        return LabelingMixture(owners, shares / totals[owners], np.concatenate([base.labels, labels]), base.n_tokens)


def decay(problem: ChainProblem) -> float:
    """lambda"""
    return 1 / float(problem.weights.sum())


def counted(problem: ChainProblem) -> int:
    """n: the sequences that have a weight."""
    return int(np.count_nonzero(problem.weights))


def first_steps(problem: ChainProblem, sample: int, rng: np.random.Generator) -> float:
    """t0; of a loss with corners one epoch at most, for so long the dual point is that of the start."""
    t0 = 1 / (first_rate(problem, sample, rng) * decay(problem))
    return t0 if problem.loss.smooth else min(t0, float(counted(problem)))


def first_rate(problem: ChainProblem, sample: int, rng: np.random.Generator) -> float:
    """The first learning rate: the one after which a sample of sequences, visited once, has the least objective."""
    kept = np.flatnonzero(problem.weights > 0)
    chosen = np.sort(rng.permutation(kept)[:sample])
    judges: Any = problem.taken(chosen, problem.weights.sum() / problem.weights[chosen].sum())
    order = rng.permutation(len(chosen))

    def cost(rate: float) -> float:
        if rate == 0:
            return float(judges.objective(np.zeros(judges.size)))
        state = SGDState(judges, 1 / (decay(judges) * rate))
        state.epoch(order)
        return float(judges.objective(state.w))

    usual = usual_rate(judges)
    return max(best_first_rate(cost, usual), usual / MOST_CAREFUL)


def usual_rate(problem: ChainProblem) -> float:
    """The power of two below 1 over the mean of s_i times the squared lengths of the sequence's tokens."""
    square = inner(problem.token_weights, stored(problem.X).row_sqnorms) * decay(problem)
    return 2.0 ** math.floor(-math.log2(square)) if square > 0 else 1.0
