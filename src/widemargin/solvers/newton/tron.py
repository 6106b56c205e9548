"""The truncated Newton method: conjugate gradients inside a trust region (TRON) or before a line search.

Problem   min over x   f(x), smooth and convex: objective/smooth.py. Two classes, x = (w, t):
          f(x) = 1/2 |w|^2 + r/2 t^2 + sum_i C_i loss(y_i, z_i),  z = [X s] x;    several: objective/entropy_smooth.py
Dual      v_i = -C_i loss'(z_i); its gap is 1/2 |gradient f|^2 (see objective/certificate.py)
Symbols   H the Hessian, a product with which costs one pass over the rows with curvature; M the preconditioner

Lin, Weng and Keerthi, "Trust Region Newton Method for Large-Scale Logistic Regression" (2008), Algorithms 1 and 2, for
the squared hinge with the generalised Hessian (section 4.2 of Chang, Hsieh and Lin 2008, formulas 25 and 26). The
preconditioner (1 - a) I + a diag(H): Hsia, Chiang and Lin 2018; for several classes with few features the Hessian's
diagonal blocks (class_blocks.py). The line search variant: Galli and Lin 2021.

The equations are solved to a share xi of the gradient. xi starts at the paper's 0.1 and falls with the gradient, which
makes the last steps superlinear; it never asks for more than the tolerance needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from ...numbers import as_number
from ...objective.any_problem import SmoothProblem
from ...objective.losses import LossesThat
from ...vectors import Vector, inner
from ..base import Run, Solver, Steps
from ..linalg.cg import ModelRule, ResidualRule, StopRule, TruncatedStep, truncated_cg
from .line_search import exact
from .progress import Claim, Forcing, RoundingFloor, step_at

if TYPE_CHECKING:
    from ...objective.smooth import At, Ray, Smooth
    from .class_blocks import ClassBlocks

PRECONDITIONERS = ("auto", "blocks", "diagonal", "none")


@dataclass(frozen=True)
class TRON(Solver):
    """Truncated Newton method (Lin, Weng and Keerthi 2008) for smooth losses with penalty l2, two classes or several.

    Parameters
    ----------
    search : {"line_search", "trust_region"}
        What keeps a Newton step from going too far. Where the active rows change much from step to step (raw counts,
        large C), the line search needs far fewer steps.
    xi : float, optional
        The Newton equations are solved until the residual is this share of the gradient, or less; by default 0.1, and
        0.3 for several classes.
    preconditioner : {"auto", "blocks", "diagonal", "none"} or float
        "blocks" factorises the Hessian's diagonal block of every class, which pays for few features; "diagonal", or a
        share, takes that share of the Hessian's diagonal; "auto" chooses.

    Examples
    --------
    >>> from widemargin import MaximumEntropyProblem, Problem, solve
    >>> from widemargin.solvers import TRON
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="logistic", intercept="free")
    >>> solve(problem, TRON(search="trust_region"), tol=1e-10).coef.round(4)
    array([0.8481])
    >>> several = MaximumEntropyProblem([[1.0], [2.0], [4.0]], [1, 2, 3], intercept="free")
    >>> solve(several, TRON(preconditioner="blocks"), tol=1e-10).converged
    True
    """

    name: ClassVar[str] = "tron"
    summary: ClassVar[str] = "truncated Newton with conjugate gradients (Lin, Weng, Keerthi 2008)"
    takes: ClassVar[type[Any]] = SmoothProblem
    losses = LossesThat(lambda loss: loss.smooth, also=("multinomial", "chain", "candidates"))

    search: str = "line_search"
    xi: float | None = None
    preconditioner: str | float = "auto"

    def __post_init__(self) -> None:
        if self.search not in _SEARCHES:
            raise ValueError(f"unknown search {self.search!r}: use one of {', '.join(_SEARCHES)}")
        if isinstance(self.preconditioner, str) and self.preconditioner not in PRECONDITIONERS:
            raise ValueError(f"preconditioner must be one of {', '.join(PRECONDITIONERS)}, got {self.preconditioner!r}")
        if not isinstance(self.preconditioner, str):
            as_number("preconditioner", self.preconditioner, least=0)

    def iterate(self, problem: SmoothProblem, run: Run) -> Steps:
        f, search = problem.smooth(), _SEARCHES[self.search]()
        claim, floor, metric = Claim(run.goal), RoundingFloor(), Metric(f, self.preconditioner)
        at = f.start(run.start)
        forcing = Forcing(f.accuracy if self.xi is None else self.xi, run.goal, at.gradient)
        iteration, passes, gap = 0, 1.0, f.gap(at)
        while True:
            verdict = yield step_at(f, at, iteration, passes, gap, claim.looks_done(gap, at.value))
            if verdict is not None:
                claim.refuted(gap)
                at = f.settled(at, verdict.point)
            passes += metric.prepare(at)
            newton = _newton_step(f, at, metric, search, forcing.xi(at), run)
            ray = f.ray(at, newton.s)
            t = search.step_length(ray, newton)
            at = ray.moved(t) if t > 0 else at
            gap = f.gap(at)
            iteration, passes = iteration + 1, passes + 1 + newton.n_products * at.n_active / f.n_rows
            if floor.reached(gap, -newton.model, at.value):
                return


def _newton_step(f: Smooth, at: At, metric: Metric, search: Search, xi: float, run: Run) -> TruncatedStep:
    """Conjugate gradients on the Newton equations at that point, in the metric of the preconditioner."""
    M = metric.M
    length = math.sqrt(max(0.0, inner(at.gradient, M(at.gradient) if callable(M) else at.gradient / M)))
    found = truncated_cg(
        lambda v: f.hess_vec(at, v),
        at.gradient,
        M,
        search.radius(length),
        search.stop_rule(xi),
        lambda: not run.should_stop(),
    )
    metric.used(found.n_products)
    return found


class Metric:
    """The preconditioner M of one run: factors of the Hessian's blocks, a share of its diagonal, or the identity."""

    def __init__(self, f: Smooth, preconditioner: str | float) -> None:
        self._f = f
        self.M: Vector | Callable[[Vector], Vector] = np.ones(f.size)
        self._blocks: ClassBlocks | None = None
        self._share = f.diagonal_share if isinstance(preconditioner, str) else float(preconditioner)
        if preconditioner in ("auto", "blocks"):
            self._blocks = _blocks(f, wanted=preconditioner == "blocks")
        if preconditioner == "none":
            self._share = 0.0

    def prepare(self, at: At) -> float:
        """M at that point; returns the passes over the data that it cost."""
        if self._blocks is not None:
            cost = self._blocks.refresh(at)
            self.M = self._blocks.solve
            return cost
        if self._share > 0:
            self.M = 1.0 + self._share * (self._f.hess_diagonal(at) - 1)
        return 0.0

    def used(self, n_products: int) -> None:
        """Notes products with the Hessian that were made since."""
        if self._blocks is not None:
            self._blocks.used(n_products)


def _blocks(f: Any, wanted: bool) -> ClassBlocks | None:
    """The preconditioner of blocks, where the Hessian has several and features are few, or it is wanted."""
    if f.n_blocks == 1:
        return None
    from .class_blocks import MOST_FEATURES, ClassBlocks  # with SciPy's factorisations

    return ClassBlocks(f) if wanted or f.features < MOST_FEATURES else None


class Search(Protocol):
    """What keeps a Newton step from going too far."""

    def radius(self, gradient_length: float) -> float:
        """How long the step may be, in the norm of the preconditioner."""

    def stop_rule(self, xi: float) -> StopRule:
        """When the Newton equations are solved well enough."""

    def step_length(self, ray: Ray, newton: TruncatedStep) -> float:
        """How far to go along the step."""


class TrustRegion:
    """The step is taken whole or not at all; the radius learns from how far the quadratic model was right (26)."""

    ETA = (1e-4, 0.25, 0.75)
    SIGMA = (0.25, 0.5, 4.0)

    def __init__(self) -> None:
        self._radius: float | None = None
        self._first = True

    def radius(self, gradient_length: float) -> float:
        if self._radius is None:
            self._radius = gradient_length
        return self._radius

    def stop_rule(self, xi: float) -> StopRule:
        return ResidualRule(xi)

    def step_length(self, ray: Ray, newton: TruncatedStep) -> float:
        assert self._radius is not None
        change = _change(ray, newton)
        if self._first:
            self._radius, self._first = min(self._radius, newton.length), False
        self._radius = self._next_radius(self._radius, change, ray.start_slope, newton)
        return 1.0 if change < self.ETA[0] * newton.model else 0.0

    def _next_radius(self, radius: float, change: float, slope: float, newton: TruncatedStep) -> float:
        """Within the brackets of formula (26), where a parabola through both values and the slope has its minimum."""
        (eta_0, eta_1, eta_2), (sigma_1, sigma_2, sigma_3) = self.ETA, self.SIGMA
        bend = change - slope
        wanted = newton.length * (sigma_3 if bend <= 0 else max(sigma_1, -0.5 * slope / bend))
        agreement = change / newton.model if newton.model < 0 else 1.0
        if agreement < eta_0:
            return min(wanted, sigma_2 * radius)
        if agreement < eta_1:
            return max(sigma_1 * radius, min(wanted, sigma_2 * radius))
        if agreement < eta_2:
            return max(sigma_1 * radius, min(wanted, sigma_3 * radius))
        return sigma_3 * radius if newton.on_border else max(radius, min(wanted, sigma_3 * radius))


class LineSearch:
    """Any step is a direction of descent; how far to go along it costs O(rows).

    While the rows' curvatures still change on the way, an exact solution of the equations is wasted: the model rule
    ends it. Its share falls with xi, so that the last steps stay superlinear.
    """

    def radius(self, gradient_length: float) -> float:
        return math.inf

    def stop_rule(self, xi: float) -> StopRule:
        return ModelRule(0.5 * xi, xi)

    def step_length(self, ray: Ray, newton: TruncatedStep) -> float:
        return exact(ray)


_SEARCHES: dict[str, type[Search]] = {"trust_region": TrustRegion, "line_search": LineSearch}


def _change(ray: Ray, newton: TruncatedStep) -> float:
    """f(x + s) - f(x); where rounding would swallow the difference, from the slopes at both ends."""
    if -newton.model > 1e-10 * abs(ray.start_value):
        return ray.value(1.0) - ray.start_value
    return 0.5 * (ray.start_slope + ray.slope(1.0)[0])
