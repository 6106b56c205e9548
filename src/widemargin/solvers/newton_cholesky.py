"""Newton's method with a Cholesky factorisation, for problems with few features.

Problem   min over x = (w, t)   f(x) = 1/2 |w|^2 + r/2 t^2 + sum_i C_i loss(y_i, z_i),     z = [X s] x
Dual      v_i = -C_i loss'(z_i); its gap is 1/2 |gradient f|^2 (see objective/certificate.py)
Symbols   h_i = C_i loss''(z_i);  H = diag(1, r) + [X s]^T diag(h) [X s];  d = the Newton direction

Each step solves H d = -gradient and searches along d exactly, with z + t Xd at hand. For the losses that are pieces
of parabolas, H is the generalised Hessian and the method ends after finitely many steps (Mangasarian 2002; Keerthi
and DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs", 2005); for logistic
regression it is iteratively reweighted least squares. The scale of the features does not matter to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .base import Run, Solver, Step, Steps
from .gram import Gram
from .line_search import Ray, exact
from .smooth import SMOOTH_LOSSES, Claim, Iterate, RoundingFloor, SmoothObjective
from .vectors import inner

if TYPE_CHECKING:
    from ..objective.problem import Problem

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class NewtonCholesky(Solver):
    """Newton's method with a Cholesky factorisation, for few features and penalty l2.

    Parameters
    ----------
    max_features : int
        More features than this are refused: the Hessian takes 8 features^2 bytes, a step features^3 / 3 operations.

    Examples
    --------
    >>> from widemargin import NewtonCholesky, Problem, solve
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="squared", intercept="free")
    >>> solution = solve(problem, NewtonCholesky(), tol=1e-12)
    >>> solution.coef.round(4), round(solution.intercept, 4)
    (array([0.6452]), -1.1935)
    """

    name: ClassVar[str] = "newton_cholesky"
    summary: ClassVar[str] = "Newton's method with a Cholesky factorisation, for few features"
    losses: ClassVar[frozenset[str]] = SMOOTH_LOSSES

    max_features: int = 10_000

    def iterate(self, problem: Problem, run: Run) -> Steps:
        self._check_size(problem)
        f = SmoothObjective(problem)
        equations = NewtonEquations(f)
        claim, floor = Claim(run.tol), RoundingFloor()
        at = f.start(run.start)
        iteration, passes, gap = 0, 1.0, f.gap(at)
        while True:
            verdict = yield Step(
                iteration=iteration,
                passes=passes,
                point=lambda at=at: f.point(at),  # type: ignore[misc]
                objective=at.value,
                dual=at.value - gap,
                gap=gap,
                looks_done=claim.looks_done(gap, at.value),
                n_active=int(np.count_nonzero(at.h)),
            )
            if verdict is not None:
                claim.refuted(gap)
                if f.free:
                    at = f.with_intercept(at, verdict.intercept)
            d, cost = equations.solve(at)
            dz = f.product(d)
            t = exact(Ray(f, at, d, dz))
            promised = -0.5 * inner(at.gradient, d)
            at = f.moved(at, d, dz, t)
            gap = equations.gap(at)
            iteration, passes = iteration + 1, passes + 1 + cost
            if floor.reached(gap, promised, at.value):
                return

    def _check_size(self, problem: Problem) -> None:
        columns = problem.X.shape[1]
        if columns > self.max_features:
            raise ValueError(
                f"newton_cholesky keeps a {columns} x {columns} matrix, {8 * columns**2 / 2**30:.1f} GiB, and is meant "
                f"for up to {self.max_features} features: use solver='tron', or raise "
                f"NewtonCholesky(max_features=...)"
            )


class NewtonEquations:
    """H d = -gradient, with H brought up to date from step to step."""

    def __init__(self, f: SmoothObjective) -> None:
        self.f = f
        self.gram = Gram(f.problem, f.constant)

    def solve(self, at: Iterate) -> tuple[Vector, float]:
        """The Newton direction, and how many passes over the data it took."""
        cost = self.gram.update(at.h)
        # The upper triangle by rows is the lower one by columns, which is how LAPACK reads it: no copy is turned.
        H = self.gram.matrix.T.copy(order="F")
        diagonal = np.einsum("ii->i", H)  # a view
        diagonal += self.f.penalised
        return cho_solve(_factor(H, diagonal), -at.gradient, check_finite=False), cost

    def gap(self, at: Iterate) -> float:
        """The gap after a free intercept has made its own Newton step, which moves the gradient along H's border."""
        border = self.gram.matrix[:, -1]
        if not self.f.free or border[-1] <= 0:
            return self.f.gap(at)
        g = at.gradient[:-1] - border[:-1] * (at.gradient[-1] / border[-1])
        return 0.5 * inner(g, g)


def _factor(H: Vector, diagonal: Vector) -> tuple[Vector, bool]:
    """H's Cholesky factor; where rounding or a free intercept without active rows forbids it, of H plus a ridge."""
    ridge = np.maximum(diagonal, 1e-8 * max(1.0, float(diagonal.max()))) * 1e-14
    while True:
        try:
            factor: tuple[Vector, bool] = cho_factor(H, lower=True, check_finite=False)
            return factor
        except LinAlgError:
            diagonal += ridge
            ridge *= 100
