"""Dual exponentiated gradient for chain CRFs.

Problem   min over w    1/2 |w|^2 + sum_i C_i (log sum_y exp(w . f_i(y)) - w . f_i(y_i))
Dual      max over mu   -1/2 |w(mu)|^2 + sum_i C_i H(mu_i)       w(mu) = sum_i C_i (f_i(y_i) - E_mu_i f_i)
Symbols   theta_i scores whose distribution has the marginals mu_i; eta_i the step of sequence i

Collins, Globerson, Koo, Carreras, Bartlett, "Exponentiated Gradient Algorithms for Conditional Random Fields and
Max-Margin Markov Networks" (2008), the online algorithm of section 4. A visit of a sequence mixes its scores with
those of the model, theta <- (1 - eta) theta + eta scores(w), and w follows its marginals;
native/core/chains/exponentiated.hpp accepts a step by the exact change of the dual. Theta begins by favouring the
truth: marginals that miss it by a per cent would add up to huge weights of frequent features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import _core
from ...data.matrix import stored
from ...data.rows import IN_ORDER, VERBS
from ...numbers import as_number
from ...objective.chains.crf import ChainCRFProblem, ChainScores
from ...objective.points import Point
from ..base import Run, Solver, Step, Steps
from ..newton.progress import Claim
from .weights import ChainWeights

# Of so many sequences all tell their share of the gap; of more, one in eight does.
FEW_SEQUENCES, ASKED = 400, 8
FIRST_STEP = 0.5


@dataclass(frozen=True)
class ChainEG(Solver):
    """Dual exponentiated gradient (Collins et al. 2008) for `ChainCRFProblem` with penalty l2.

    Parameters
    ----------
    sharpness : float
        By how much the scores of the first dual point favour the true labels.

    Examples
    --------
    >>> from widemargin import ChainCRFProblem, solve
    >>> from widemargin.solvers import ChainEG
    >>> problem = ChainCRFProblem([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], ["a", "b", "a"], lengths=[2, 1])
    >>> solve(problem, ChainEG(), tol=1e-8).converged
    True
    """

    name: ClassVar[str] = "chain_eg"
    summary: ClassVar[str] = "dual exponentiated gradient for chain CRFs (Collins et al. 2008)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    takes: ClassVar[type[Any]] = ChainCRFProblem
    losses: ClassVar[frozenset[str]] = frozenset({"chain"})

    sharpness: float = 14.0

    def __post_init__(self) -> None:
        as_number("sharpness", self.sharpness, least=0)

    def iterate(self, problem: ChainCRFProblem, run: Run) -> Steps:
        state = EGState(problem, self._first(problem, run.start))
        rng, claim, iteration = np.random.default_rng(run.seed), Claim(run.goal), 0
        while True:
            gap = state.epoch(rng.permutation(problem.n_sequences), run)
            iteration += 1
            objective = state.dual + gap
            verdict = yield Step(
                iteration=iteration,
                passes=float(iteration),
                point=state.point,
                objective=objective,
                dual=state.dual,
                gap=gap,
                looks_done=claim.looks_done(gap, objective),
                n_active=problem.n_sequences,
            )
            if verdict is not None:
                claim.refuted(gap)
                state.settle()

    def _first(self, problem: ChainCRFProblem, start: Point | None) -> ChainScores:
        """The dual point to begin with: that of the start, the start's own scores, or one that favours the truth."""
        k = problem.n_classes
        if start is not None and isinstance(start.dual, ChainScores):
            return start.dual
        if start is not None:
            z = problem.scores(start.w) if start.z is None else start.z
            return ChainScores(z, problem.pairs.edge_table(start.w))
        theta = np.zeros((len(problem.codes), k))
        theta[np.arange(len(theta)), problem.codes] = self.sharpness
        return ChainScores(theta, np.zeros((k, k)))


class EGState:
    """Scores, marginals and weights of a run."""

    def __init__(self, problem: ChainCRFProblem, first: ChainScores) -> None:
        n, k = problem.n_sequences, problem.n_classes
        self.problem = problem
        self.theta = np.array(first.theta, order="C")
        self.theta_edge = np.array(np.broadcast_to(first.edges, (n, k, k)), order="C")
        found = problem.posteriors(self.theta, self.theta_edge)
        self.entropy, self.mu, self.edge_sums = found.entropy, found.mu, found.edge_sums
        self.eta = np.full(n, FIRST_STEP)
        self.weights = ChainWeights(problem, np.zeros(problem.size))
        self.settle()

    def settle(self) -> None:
        """The weights and the dual made anew from the marginals: steps that were added up are rounded."""
        problem = self.problem
        edges = np.einsum("i,ijk->jk", problem.weights, self.edge_sums)
        self.weights.set(problem.pull_of(problem.token_weights[:, None] * self.mu, edges))
        self.dual = float((problem.weights * self.entropy).sum()) - self.weights.half_square

    def epoch(self, order: Any, run: Run) -> float:
        """Visits every sequence, or stops where the run does; the gap that was met on the way."""
        problem, held, at, gap, asked = self.problem, self.weights, 0, 0.0, 0
        every = 1 if len(order) <= FEW_SEQUENCES else ASKED
        while at < len(order):
            at, gained, met, n_asked, _ = _core.chain_exponentiated(
                stored(problem.X).native_rows,
                problem.chains,
                problem.native_pairs,
                problem.weights,
                held.w,
                held.edge,
                held.used,
                self.theta.reshape(-1),
                self.theta_edge.reshape(-1),
                self.mu.reshape(-1),
                self.edge_sums.reshape(-1),
                self.entropy,
                self.eta,
                order,
                at,
                every,
                run.slice(),
            )
            self.dual, gap, asked = self.dual + gained, gap + met, asked + n_asked
            if run.should_stop():
                break
        return gap * len(order) / max(1, asked)

    def point(self) -> Point:
        """The weights that follow from the marginals, with their scores as dual point: copies."""
        self.settle()
        return Point(self.weights.coef, dual=ChainScores(self.theta.copy(), self.theta_edge.copy()))
