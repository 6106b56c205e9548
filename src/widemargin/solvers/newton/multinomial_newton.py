"""The truncated Newton method for maximum entropy.

Problem   f(W) = 1/2 |W|^2 + sum_i C_i (log sum_m exp(z_im) - z_iy),   Z = X W (and intercepts)
Dual      v_i = C_i (e_y - p_i), p_i = softmax(z_i); its gap is 1/2 |gradient f|^2 (objective/maximum_entropy.py)
Symbols   a product with the Hessian is one pass: t_i = C_i (diag(p_i) - p_i p_i^T) V^T x_i, then X^T T

Newton's method of Lin, Weng and Keerthi 2008 with k weight vectors in place of one; conjugate gradients and their
stopping rules are those of tron.py. Steps are made safe by a line search in the scores, which does not read the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from ...vectors import Vector, inner
from ..base import Run, Solver, Step, Steps
from ..linalg.cg import ModelRule, TruncatedStep, truncated_cg
from .class_blocks import MOST_FEATURES, ClassBlocks
from .entropy_objective import EntropyIterate, EntropyObjective
from .objective import Claim, RoundingFloor

if TYPE_CHECKING:
    from ...objective.maximum_entropy import MaximumEntropyProblem
    from ...objective.problem import Problem

# Armijo's share of the decrease that the slope promises, and the least step worth trying.
SUFFICIENT = 1e-4
LEAST_STEP = 1e-10
# The share of the Hessian's diagonal in the diagonal preconditioner.
DIAGONAL_SHARE = 0.1
PRECONDITIONERS = ("auto", "blocks", "diagonal", "none")


@dataclass(frozen=True)
class MultinomialNewton(Solver):
    """Truncated Newton method with conjugate gradients for `MaximumEntropyProblem`.

    Parameters
    ----------
    xi : float
        The Newton equations are solved until the residual is this share of the gradient, or less.
    preconditioner : {"auto", "blocks", "diagonal", "none"}
        "blocks" factorises the Hessian's diagonal block of every class, which pays for few features; "diagonal" takes a
        share of its diagonal; "auto" chooses by their number.

    Examples
    --------
    >>> from widemargin import MaximumEntropyProblem, solve
    >>> from widemargin.solvers import MultinomialNewton
    >>> problem = MaximumEntropyProblem([[1.0], [2.0], [4.0]], [1, 2, 3], intercept="free")
    >>> solve(problem, MultinomialNewton(xi=0.1), tol=1e-10).converged
    True
    """

    name: ClassVar[str] = "multinomial_newton"
    summary: ClassVar[str] = "truncated Newton with conjugate gradients for maximum entropy"
    kind: ClassVar[str] = "maximum_entropy"
    losses: ClassVar[frozenset[str]] = frozenset({"multinomial"})

    xi: float = 0.3
    preconditioner: str = "auto"

    def __post_init__(self) -> None:
        if self.preconditioner not in PRECONDITIONERS:
            raise ValueError(f"preconditioner must be one of {', '.join(PRECONDITIONERS)}, got {self.preconditioner!r}")

    def iterate(self, problem: Problem, run: Run) -> Steps:
        f = EntropyObjective(cast("MaximumEntropyProblem", problem))  # no other problem has the loss declared above
        blocks = ClassBlocks(f) if self._takes_blocks(f) else None
        claim, floor = Claim(run.tol), RoundingFloor()
        at = f.start(run.start)
        first = math.sqrt(inner(at.gradient, at.gradient))
        iteration, passes = 0, 1.0
        while True:
            gap = f.gap(at)
            verdict = yield Step(
                iteration=iteration,
                passes=passes,
                point=lambda at=at: f.point(at),  # type: ignore[misc]
                objective=at.value,
                dual=at.value - gap,
                gap=gap,
                looks_done=claim.looks_done(gap, at.value),
                n_active=problem.X.shape[0],
            )
            if verdict is not None:
                claim.refuted(gap)
            prepared = blocks.refresh(at.p) if blocks else 0.0
            newton = self._newton_step(f, at, first, run, blocks)
            dz = f.product(newton.s)
            t = step_length(f, at, newton.s, dz)
            if t > 0:
                at = f.moved(at, newton.s, dz, t)
            iteration, passes = iteration + 1, passes + 1 + newton.n_products + prepared
            if floor.reached(f.gap(at), -newton.model, at.value):
                return

    def _takes_blocks(self, f: EntropyObjective) -> bool:
        few = f.problem.X.shape[1] < MOST_FEATURES
        return self.preconditioner == "blocks" or (self.preconditioner == "auto" and few)

    def _newton_step(
        self, f: EntropyObjective, at: EntropyIterate, first: float, run: Run, blocks: ClassBlocks | None
    ) -> TruncatedStep:
        M: Vector | Callable[[Vector], Vector] = np.ones(len(at.x))
        if blocks:
            M = blocks.solve
        elif self.preconditioner != "none":
            M = 1.0 + DIAGONAL_SHARE * (f.hess_diagonal(at.p) - 1)
        xi = self._forcing(at, first, run.tol)
        # The Newton direction can be infinite along constants added to all free intercepts; its residual is zero there.
        found = truncated_cg(
            lambda v: f.hess_vec(at.p, v),
            at.gradient,
            M,
            math.inf,
            ModelRule(0.5 * xi, xi),
            lambda: run.seconds_left() > 0,
        )
        if blocks:
            blocks.used(found.n_products)
        return found

    def _forcing(self, at: EntropyIterate, first: float, tol: float) -> float:
        """min(xi, sqrt(|g| / |g_0|)): superlinear in the end, but no better than the tolerance needs."""
        length = math.sqrt(inner(at.gradient, at.gradient))
        if not (length > 0 and first > 0):
            return self.xi
        needed = 0.3 * math.sqrt(2 * tol * abs(at.value)) / length
        return min(self.xi, max(math.sqrt(length / first), needed))


def step_length(f: EntropyObjective, at: EntropyIterate, d: Vector, dz: Vector) -> float:
    """The first of 1, 1/2, 1/4, ... that lowers f enough; where rounding hides the values, by the slopes."""
    slope = inner(at.gradient, d)
    t = 1.0
    while slope < 0 and t >= LEAST_STEP:
        value, slope_there = f.look(at, d, dz, t)
        change = value - at.value
        if abs(t * slope) < 1e-10 * abs(at.value):
            change = 0.5 * t * (slope + slope_there)
        if change <= SUFFICIENT * t * slope:
            return t
        t *= 0.5
    return 0.0
