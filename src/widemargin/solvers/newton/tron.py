"""The truncated Newton method: conjugate gradients inside a trust region (TRON) or before a line search.

Problem   min over x = (w, t)   f(x) = 1/2 |w|^2 + r/2 t^2 + sum_i C_i loss(y_i, z_i),     z = [X s] x
Dual      v_i = -C_i loss'(z_i); its gap is 1/2 |gradient f|^2 (see objective/certificate.py)
Symbols   h_i = C_i loss''(z_i); a product with H costs one pass over the rows with h_i != 0; M the preconditioner

Lin, Weng and Keerthi, "Trust Region Newton Method for Large-Scale Logistic Regression" (2008), Algorithms 1 and 2, for
the squared hinge with the generalised Hessian (section 4.2 of Chang, Hsieh and Lin 2008, formulas 25 and 26). The
preconditioner (1 - a) I + a diag(H): Hsia, Chiang and Lin 2018. The line search variant: Galli and Lin 2021.

The equations are solved to a share xi of the gradient. xi starts at the paper's 0.1 and falls with the gradient, which
makes the last steps superlinear; it never asks for more than the tolerance needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from ...objective.losses import SMOOTH_LOSSES
from ...vectors import Vector, inner
from ..base import Run, Solver, Step, Steps
from ..linalg.cg import ModelRule, ResidualRule, StopRule, TruncatedStep, truncated_cg
from .line_search import Ray, exact
from .objective import Claim, Iterate, RoundingFloor, SmoothObjective

if TYPE_CHECKING:
    from ...objective.problem import Problem


@dataclass(frozen=True)
class TRON(Solver):
    """Truncated Newton method (Lin, Weng and Keerthi 2008) for penalty l2 and any number of features.

    Parameters
    ----------
    search : {"line_search", "trust_region"}
        What keeps a Newton step from going too far. Where the active rows change much from step to step (raw counts,
        large C), the line search needs far fewer steps.
    xi : float
        The Newton equations are solved until the residual is this share of the gradient, or less.
    preconditioner : float
        The share a of diag(H) in the preconditioner; 0 for none.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers import TRON
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="logistic", intercept="free")
    >>> solve(problem, TRON(search="trust_region"), tol=1e-10).coef.round(4)
    array([0.8481])
    """

    name: ClassVar[str] = "tron"
    summary: ClassVar[str] = "truncated Newton with conjugate gradients (Lin, Weng, Keerthi 2008)"
    losses = SMOOTH_LOSSES

    search: str = "line_search"
    xi: float = 0.1
    preconditioner: float = 0.01

    def __post_init__(self) -> None:
        if self.search not in _SEARCHES:
            raise ValueError(f"unknown search {self.search!r}: use one of {', '.join(_SEARCHES)}")

    def iterate(self, problem: Problem, run: Run) -> Steps:
        f = SmoothObjective(problem)
        search = _SEARCHES[self.search]()
        claim, floor = Claim(run.tol), RoundingFloor()
        at = f.start(run.start)
        forcing = Forcing(self.xi, run.tol, at.gradient)
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
            newton = self._newton_step(f, at, search, forcing, run)
            dz = f.product(newton.s)
            t = search.step_length(Ray(f, at, newton.s, dz), newton)
            if t > 0:
                at = f.moved(at, newton.s, dz, t)
            gap = f.gap(at)
            share = np.count_nonzero(at.h) / len(at.h)
            iteration, passes = iteration + 1, passes + 1 + newton.n_products * share
            if floor.reached(gap, -newton.model, at.value):
                return

    def _newton_step(
        self, f: SmoothObjective, at: Iterate, search: Search, forcing: Forcing, run: Run
    ) -> TruncatedStep:
        M = np.ones(f.size)
        if self.preconditioner > 0:
            M += self.preconditioner * (f.hess_diagonal(at.h) - 1)
        return truncated_cg(
            lambda v: f.hess_vec(at.h, v),
            at.gradient,
            M,
            search.radius(math.sqrt(inner(at.gradient, at.gradient / M))),
            search.stop_rule(forcing.xi(at)),
            lambda: not run.should_stop(),
        )


class Forcing:
    """How exactly the Newton equations are solved: xi_k = min(xi, sqrt(|g_k| / |g_0|)), but no better than needed."""

    def __init__(self, most: float, tol: float, first_gradient: Vector) -> None:
        self._most = most
        self._tol = tol
        self._first = float(np.linalg.norm(first_gradient))

    def xi(self, at: Iterate) -> float:
        """The share of the gradient that may remain."""
        length = float(np.linalg.norm(at.gradient))
        if not (length > 0 and self._first > 0):
            return self._most
        falling = math.sqrt(length / self._first)
        needed = 0.3 * math.sqrt(2 * self._tol * abs(at.value)) / length
        return min(self._most, max(falling, needed))


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
