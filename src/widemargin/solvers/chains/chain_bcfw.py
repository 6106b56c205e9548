"""Block-coordinate Frank-Wolfe for the structured SVM over chains, with pairwise steps between known labelings.

Problem   min over w       1/2 |w|^2 + sum_i C_i max_y (cost_i(y) + w . f_i(y) - w . f_i(y_i))
Dual      max over alpha   -1/2 |w(alpha)|^2 + sum_i C_i sum_y alpha_i(y) cost_i(y)
Symbols   alpha_i(y) the share of a labeling of sequence i; w(alpha) = sum_i C_i sum_y alpha_i(y) (f_i(y_i) - f_i(y))

Lacoste-Julien, Jaggi, Schmidt, Pletscher, "Block-Coordinate Frank-Wolfe Optimization for Structural SVMs" (2013),
Algorithm 4, with the labelings that were met kept and steps from the worst of them in use to the best (pairwise steps
of Lacoste-Julien and Jaggi 2015). Between two rounds of Viterbi's algorithm, which find new labelings, the sequences
are visited several times with those that are known (Osokin et al. 2016). See native/core/chains/frank_wolfe.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...data.kept import kept
from ...data.matrix import stored
from ...data.rows import IN_ORDER, VERBS
from ...numbers import as_whole
from ...objective.chains.svm import ChainSVMProblem, LabelingMixture
from ...objective.points import Point
from ..base import Run, Solver, Step, Steps
from ..newton.progress import Claim
from .weights import ChainWeights

# Products of tokens beyond so many are not kept: steps are then shorter, one for each visit.
MOST_PRODUCTS = 2**28


@dataclass(frozen=True)
class ChainBCFW(Solver):
    """Block-coordinate Frank-Wolfe with known labelings (Lacoste-Julien et al. 2013) for `ChainSVMProblem`.

    Parameters
    ----------
    cached_passes : int
        Passes over the labelings that are known, for each pass of Viterbi's algorithm.
    most_steps : int
        Pairwise steps in a visit of a sequence.

    Examples
    --------
    >>> from widemargin import ChainSVMProblem, solve
    >>> from widemargin.solvers import ChainBCFW
    >>> problem = ChainSVMProblem([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], ["a", "b", "a"], lengths=[2, 1])
    >>> solve(problem, ChainBCFW(), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "chain_bcfw"
    summary: ClassVar[str] = "block-coordinate Frank-Wolfe with known labelings (Lacoste-Julien et al. 2013)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    takes: ClassVar[type[Any]] = ChainSVMProblem
    losses: ClassVar[frozenset[str]] = frozenset({"chain_hinge"})

    cached_passes: int = 7
    most_steps: int = 10

    def __post_init__(self) -> None:
        as_whole("cached_passes", self.cached_passes, least=0)
        as_whole("most_steps", self.most_steps, least=1)

    def iterate(self, problem: ChainSVMProblem, run: Run) -> Steps:
        state = BCFWState(problem, run.start, self.most_steps)
        rng, claim, iteration = np.random.default_rng(run.seed), Claim(run.goal), 0
        while True:
            gap = state.visit(rng.permutation(problem.n_sequences), run, viterbi=True)
            iteration += 1
            objective = state.dual + gap
            verdict = yield Step(
                iteration=iteration,
                passes=float(iteration * (1 + self.cached_passes)),
                point=state.point,
                objective=objective,
                dual=state.dual,
                gap=gap,
                looks_done=claim.looks_done(gap, objective),
                n_active=problem.n_sequences,
            )
            if verdict is not None:
                claim.refuted(gap)
            for _ in range(self.cached_passes):
                if not run.should_stop():
                    state.visit(rng.permutation(problem.n_sequences), run, viterbi=False)


class BCFWState:
    """Known labelings and weights of a run."""

    def __init__(self, problem: ChainSVMProblem, start: Point | None, most_steps: int) -> None:
        self.problem = problem
        self.native = _core.FrankWolfe(problem.chains, problem.codes)
        self.most_steps = most_steps
        self.gram = token_gram(problem)
        self.sqnorms = stored(problem.X).row_sqnorms
        self.weights = ChainWeights(problem, np.zeros(problem.size))
        if start is not None and isinstance(start.dual, LabelingMixture):
            mixture = start.dual
            cost = problem.labeling_costs(mixture.labels, mixture.owner)
            self.native.adopt(mixture.owner, mixture.share, mixture.labels, cost)
        self.settle()

    def mixture(self) -> LabelingMixture:
        """The labelings in use, their shares adding up to one exactly as far as rounding allows."""
        owner, share, labels = self.native.mixture()
        totals = np.bincount(owner, weights=share, minlength=self.problem.n_sequences)
        return LabelingMixture(owner, share / totals[owner], labels, len(self.problem.codes))

    def settle(self) -> None:
        """The weights and the dual made anew from the labelings: steps that were added up are rounded."""
        facts = self.problem.mixture_facts(self.mixture())
        self.weights.set(facts.pull)
        self.dual = facts.cost - self.weights.half_square

    def visit(self, order: Any, run: Run, *, viterbi: bool) -> float:
        """Visits every sequence, or stops where the run does; the gap that Viterbi's algorithm met on the way."""
        problem, held, at, gap = self.problem, self.weights, 0, 0.0
        while at < len(order):
            at, gained, met = self.native.visit(
                stored(problem.X).native_rows,
                problem.native_pairs,
                problem.weights,
                problem.cost.reshape(-1),
                problem.codes,
                held.w,
                held.edge,
                held.used,
                self.gram,
                self.sqnorms,
                viterbi,
                self.most_steps,
                order,
                at,
                run.slice(),
            )
            self.dual, gap = self.dual + gained, gap + met
            if run.should_stop():
                return gap if at >= len(order) else np.nan
        return gap

    def point(self) -> Point:
        """The weights that follow from the labelings, and these: copies."""
        self.settle()
        return Point(self.weights.coef, dual=self.mixture())


def token_gram(problem: ChainSVMProblem) -> NDArray[np.float32]:
    """The products of the tokens of each sequence with one another, kept for the next fit; empty where too many."""
    count = int((problem.lengths.astype(np.float64) ** 2).sum())
    if count > MOST_PRODUCTS:
        return np.empty(0, dtype=np.float32)

    def build() -> NDArray[np.float32]:
        gram = np.empty(count, dtype=np.float32)
        _core.token_gram(stored(problem.X).native_rows, problem.chains, gram, problem.n_jobs)
        return gram

    return kept(problem.X.owner, f"products of tokens {hash(problem.offsets.tobytes())}", build)
