"""Newton's method with a Cholesky factorisation, for problems with few features.

Problem   min over x = (w, t)   f(x) = 1/2 |w|^2 + r/2 t^2 + sum_i C_i loss(y_i, z_i),     z = [X s] x
Dual      v_i = -C_i loss'(z_i); its gap is 1/2 |gradient f|^2 (see objective/certificate.py)
Symbols   h_i = C_i loss''(z_i);  H = diag(1, r) + [X s]^T diag(h) [X s];  d = the Newton direction

Each step solves H d = -gradient and searches along d exactly, with z + t Xd at hand. Where rows are many, the first
steps are made on a sample of them (heuristic 3 of Keerthi and DeCoste), whose factor then serves to solve the equations
of all rows by a few conjugate gradients (equations.py). For the losses that are pieces
of parabolas, H is the generalised Hessian and the method ends after finitely many steps (Mangasarian 2002; Keerthi
and DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs", 2005); for logistic
regression it is iteratively reweighted least squares. The scale of the features does not matter to it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...objective.certificate import Goal
from ...objective.losses import SMOOTH_LOSSES
from ...vectors import inner
from ..base import Point, Run, Solver, Step, Steps
from .equations import NewtonEquations
from .line_search import exact
from .progress import Claim, Forcing, RoundingFloor, step_at

if TYPE_CHECKING:
    from ...objective.certificate import Certified
    from ...objective.linear_smooth import LinearSmooth
    from ...objective.problem import Problem

# The sample: one row in so many, but at least so many rows per feature; none where it would be more than one in three.
SAMPLE_ONE_IN = 16
SAMPLE_PER_FEATURE = 40
SAMPLE_AT_MOST_ONE_IN = 3
# A step that promises less than this share of the objective ends the work on the sample: what it stands for is no
# better known than that.
ENOUGH_ON_A_SAMPLE = 1e-2


@dataclass(frozen=True)
class NewtonCholesky(Solver):
    """Newton's method with a Cholesky factorisation, for few features and penalty l2.

    Parameters
    ----------
    max_features : int
        More features than this are refused: the Hessian takes 8 features^2 bytes, a step features^3 / 3 operations.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import NewtonCholesky
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="squared", intercept="free")
    >>> solution = solve(problem, NewtonCholesky(), tol=1e-12)
    >>> solution.coef.round(4), round(solution.intercept, 4)
    (array([0.6452]), -1.1935)
    """

    name: ClassVar[str] = "newton_cholesky"
    summary: ClassVar[str] = "Newton's method with a Cholesky factorisation, for few features"
    losses = SMOOTH_LOSSES

    max_features: int = 10_000

    def iterate(self, problem: Problem, run: Run) -> Steps:
        self._check_size(problem)
        walk = _Walk(problem.smooth(), run.goal)
        start = run.start
        if start is None:
            walk, start = yield from self._on_a_sample(problem, run, walk)
        yield from walk.steps(start)

    def _on_a_sample(
        self, problem: Problem, run: Run, whole: _Walk
    ) -> Generator[Step, Certified | None, tuple[_Walk, Point | None]]:
        """The first steps, on few rows; returns the walk on all rows and where it begins."""
        rows, columns = problem.X.shape
        size = max(rows // SAMPLE_ONE_IN, SAMPLE_PER_FEATURE * columns)
        if rows < SAMPLE_AT_MOST_ONE_IN * size:
            return whole, None
        part = _sample(problem, size, run.seed)
        if len(part.y) == 0 or not (part.weights > 0).any():
            return whole, None
        first = _Walk(part.smooth(), Goal(ENOUGH_ON_A_SAMPLE))
        for step in first.steps(None):
            if first.promised <= ENOUGH_ON_A_SAMPLE * abs(step.objective):
                break
            # What is known of the sample is not known of the problem.
            yield replace(
                step,
                passes=step.passes * size / rows,
                point=lambda step=step: step.point().bare(),  # type: ignore[misc]
                objective=np.nan,
                dual=np.nan,
                gap=np.nan,
            )
        whole.equations.begin_with(first.equations)
        whole.iteration, whole.passes = first.iteration, first.passes * size / rows
        return whole, step.point().bare()

    def _check_size(self, problem: Problem) -> None:
        columns = problem.X.shape[1]
        if columns > self.max_features:
            raise ValueError(
                f"newton_cholesky keeps a {columns} x {columns} matrix, {8 * columns**2 / 2**30:.1f} GiB, and is meant "
                f"for up to {self.max_features} features: use solver='tron', or raise "
                f"NewtonCholesky(max_features=...)"
            )


def _sample(problem: Problem, size: int, seed: int) -> Problem:
    """The problem on about `size` rows; the rarer class is drawn from more densely, and weighted accordingly."""
    rng = np.random.default_rng(seed)
    rows = len(problem.y)
    keep = np.full(rows, size / rows)
    if problem.loss.classification:
        positive = problem.y > 0
        for side in (positive, ~positive):
            keep[side] = min(1.0, 0.5 * size / max(1, int(np.count_nonzero(side))))
    drawn = np.flatnonzero(rng.random(rows) < keep)
    return problem.taken(drawn, 1 / keep[drawn])


class _Walk:
    """Newton steps on one set of rows."""

    def __init__(self, f: LinearSmooth, goal: Goal) -> None:
        self.f = f
        self.goal = goal
        self.equations = NewtonEquations(f)
        self.iteration, self.passes = 0, 0.0
        self.promised = np.inf  # what the last step's model foresaw

    def steps(self, start: Point | None) -> Steps:
        f, claim, floor = self.f, Claim(self.goal), RoundingFloor()
        at = f.start(start)
        self.passes += 1
        gap, forcing = f.gap(at), Forcing(f.accuracy, self.goal, at.gradient)
        while True:
            looks_done = claim.looks_done(gap, at.value)
            verdict = yield step_at(f, at, self.iteration, self.passes, gap, looks_done)
            if verdict is not None:
                claim.refuted(gap)
                at = f.settled(at, verdict.point)
            d, cost = self.equations.solve(at, forcing.xi(at))
            self.promised = -0.5 * inner(at.gradient, d)
            ray = f.ray(at, d)
            t = exact(ray)
            at = ray.moved(t) if t > 0 else at
            gap = self.equations.gap(at)
            self.iteration, self.passes = self.iteration + 1, self.passes + 1 + cost
            if floor.reached(gap, self.promised, at.value):
                return
