"""One-slack cutting planes for the structured SVM over chains.

Problem   min over w, xi   1/2 |w|^2 + xi      xi >= sum_i C_i (cost_i(y_i') + w . f_i(y_i') - w . f_i(y_i))  for all y'
Dual      max over beta    c . beta - 1/2 |sum_k beta_k a_k|^2      beta >= 0, sum beta <= 1
Symbols   a cut k is one labeling of every sequence: a_k = sum_i C_i (f_i(y_i) - f_i(y_i')), c_k its cost

Joachims, Finley, Yu, "Cutting-Plane Training of Structural SVMs" (2009), Algorithm 3. A step cuts with the most
violating labelings at w, solves the reduced problem (cutting_plane/simplex_qp.py) and takes its w. The shares beta,
with the truth for what is left of one, are a mixture of labelings: the dual point.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...numbers import as_whole
from ...objective.chains.svm import ChainSVMProblem, LabelingMixture
from ...objective.points import Point
from ...vectors import Vector, inner
from ..base import Run, Solver, Step, Steps
from ..cutting_plane.simplex_qp import solve_simplex_qp

# The reduced problem is solved to this share of the tolerance.
REDUCED_TOL = 0.1


@dataclass(frozen=True)
class ChainCuttingPlane(Solver):
    """One-slack cutting planes (Joachims, Finley and Yu 2009) for `ChainSVMProblem`.

    Parameters
    ----------
    patience : int
        A cut that was not used for so many steps is forgotten.

    Examples
    --------
    >>> from widemargin import ChainSVMProblem, solve
    >>> from widemargin.solvers import ChainCuttingPlane
    >>> problem = ChainSVMProblem([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], ["a", "b", "a"], lengths=[2, 1])
    >>> solve(problem, ChainCuttingPlane(), tol=1e-4).converged
    True
    """

    name: ClassVar[str] = "chain_cutting_plane"
    summary: ClassVar[str] = "one-slack cutting planes for structured SVMs (Joachims, Finley, Yu 2009)"
    takes: ClassVar[type[Any]] = ChainSVMProblem
    losses: ClassVar[frozenset[str]] = frozenset({"chain_hinge"})

    patience: int = 50

    def __post_init__(self) -> None:
        as_whole("patience", self.patience, least=1)

    def iterate(self, problem: ChainSVMProblem, run: Run) -> Steps:
        cuts = LabelingCuts(problem, self.patience)
        w = np.zeros(problem.size) if run.start is None else run.start.w
        for iteration in count(1):
            z, edge = problem.scores(w), problem.pairs.edge_table(w)
            labels, _ = problem.most_violating(z, edge)
            facts = problem.mixture_facts(problem.whole(labels))
            primal = 0.5 * inner(w, w) + max(0.0, facts.cost - inner(facts.pull, w))
            dual, point = cuts.value, Point(w, dual=cuts.mixture())
            gap = primal - dual
            yield Step(
                iteration=iteration,
                passes=2.0 * iteration,
                point=lambda point=point: point,  # type: ignore[misc]
                objective=primal,
                dual=dual,
                gap=gap,
                looks_done=run.goal.is_met(gap, primal),
                n_active=len(cuts.beta),
            )
            cuts.add(labels, facts.pull, facts.cost)
            w = cuts.solve(REDUCED_TOL * run.goal.wanted(primal, gap))


class LabelingCuts:
    """The cuts, their Gram matrix and the reduced problem's solution beta."""

    def __init__(self, problem: ChainSVMProblem, patience: int) -> None:
        self._problem, self._patience = problem, patience
        self._labels: list[NDArray[np.int32]] = []
        self._pulls: list[Vector] = []
        self._G, self._c = np.zeros((0, 0)), np.zeros(0)
        self.beta = np.zeros(0)
        self._unused = np.zeros(0, dtype=np.int64)
        self.value = 0.0  # of the reduced problem: a lower bound on the optimum

    def add(self, labels: NDArray[np.int32], pull: Vector, cost: float) -> None:
        """One more cut."""
        self._labels.append(labels)
        self._pulls.append(pull)
        column = np.array([inner(other, pull) for other in self._pulls])
        self._G = np.block([[self._G, column[:-1, None]], [column[None, :]]])
        self._c, self.beta = np.append(self._c, cost), np.append(self.beta, 0.0)
        self._unused = np.append(self._unused, 0)

    def solve(self, tol: float) -> Vector:
        """The w of the reduced problem; cuts that have long been idle are forgotten."""
        self.beta = solve_simplex_qp(self._G, self._c, self.beta, tol)
        self._unused = np.where(self.beta > 0, 0, self._unused + 1)
        self._keep(np.flatnonzero(self._unused <= self._patience))
        w = np.zeros(self._problem.size)
        for k in np.flatnonzero(self.beta):
            w += self.beta[k] * self._pulls[k]
        self.value = float(self._c @ self.beta) - 0.5 * inner(w, w)
        return w

    def _keep(self, at: NDArray[np.intp]) -> None:
        self._G, self._c, self.beta = self._G[np.ix_(at, at)], self._c[at], self.beta[at]
        self._unused = self._unused[at]
        self._labels, self._pulls = [self._labels[k] for k in at], [self._pulls[k] for k in at]

    def mixture(self) -> LabelingMixture:
        """The cuts as one distribution for every sequence; what is left of one belongs to the truth."""
        problem, n = self._problem, np.arange(self._problem.n_sequences)
        used = np.flatnonzero(self.beta)
        parts = [(self._labels[k], float(self.beta[k])) for k in used]
        parts.append((problem.codes, max(0.0, 1 - float(self.beta.sum()))))
        total = sum(share for _, share in parts)
        return LabelingMixture(
            np.concatenate([n for _ in parts]),
            np.concatenate([np.full(len(n), share / total) for _, share in parts]),
            np.concatenate([labels for labels, _ in parts]),
            len(problem.codes),
        )
