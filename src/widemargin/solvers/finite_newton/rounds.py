"""The finite Newton iteration over any piecewise quadratic model: Appendix A of Keerthi and DeCoste (2005).

    repeat  3-4  CGLS on the terms that are active now gives the Newton point
            5    if no term changes its piece on the way there: it is the minimum up to CGLS's accuracy
            6-7  else exact line search on the ray towards it
    8       refine CGLS's accuracy and go on

Every step decreases f, there are finitely many index sets, and once the right one is found the next Newton point is the
minimum: the method ends after finitely many steps. Two things differ from the pseudo-code. The end is where the duality
gap says so, not where eps = 1e-6 does. And a loss with a corner, such as the hinge, which is no ramp, is reached
through ramps: its corner is rounded over tau = 1, 1/2, 1/4, ..., each level started from the one before (section 6).
From the second level on the rounded part is centred where the level before left each dual variable, instead of at C/2:
the method of multipliers. Its levels end at the exact solution for any tau, so tau need not become so small that Newton
steps creep from kink to kink; where a level took many steps, tau is not halved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..base import Point, Run, Step, Steps
from .cgls import CGLS, Stop
from .piecewise_model import At, PiecewiseModel
from .ramps import rounded_step

if TYPE_CHECKING:
    from ...objective.certificate import Certified

FINEST_EPS = 1e-15
SMALLEST_TAU = 1e-14
# A smooth level may stop short of its minimum by this share of the gap that is wanted, or that smoothing leaves anyway.
INNER_SHARE = 0.1
# A level of a rounded corner that took no more Newton steps than this lets the next one be twice as sharp.
QUICK_LEVEL = 5
# Conjugate gradients report this often, in seconds, so that limits and Ctrl-C are felt.
PULSE = 0.2


@dataclass(frozen=True)
class Rounds:
    """How CGLS's accuracy goes from crude to fine."""

    first_cg_limit: int  # heuristic 1: at most so many CGLS iterations at the first Newton step
    eps: tuple[float, ...]  # heuristic 2: one round each, then ten times finer
    cg_limit: int = 5000
    precondition: bool = False
    crude_forcing: float = 0.1  # before the last round, CGLS may also stop at this share of the gradient


class NewtonRun:
    """One run: the point, the round it is in, and the counts that the trace shows."""

    def __init__(
        self,
        model: PiecewiseModel,
        beta: np.ndarray,
        rounds: Rounds,
        run: Run,
        point: Callable[[At], Point],
        counted: tuple[int, float] = (0, 0.0),
        *,
        sharpen: bool = True,
    ) -> None:
        """`counted` are the iterations and passes made before this run began.

        A corner that is rounded becomes sharp again unless told otherwise.
        """
        self.model = model
        self.rounds = rounds
        self.run = run
        self._cornered = sharpen and not model.loss.smooth
        self.iteration, self.passes = counted[0], counted[1] + 1
        self._point = point
        self._eps_left = list(rounds.eps)
        self.eps = self._eps_left.pop(0)
        self._tau = self._first_tau = 0.5 * (model.ramp.hi - model.ramp.lo)  # what a corner is rounded over
        self._level_began = self.iteration
        self._trust = 1.0
        self.at = model.at(beta)

    def steps(self) -> Steps:
        """Newton steps until the gap is small enough for the driver, or nothing finer is possible."""
        limit = self.rounds.first_cg_limit
        while True:
            cg = CGLS(self.model.newton_system(self.at, self.rounds.precondition))
            yield from self._conjugate_gradients(cg, limit)
            limit = self.rounds.cg_limit
            before = self.at.value
            self.at, same_sets = self.model.move(self.at, cg.direction)
            self.iteration += 1
            self.passes += 1
            step = self._step()
            verdict = yield step
            if verdict is not None:
                self._learn(verdict, step.gap)
            stuck = not self.at.value < before
            if not self._advance((cg.optimal and same_sets) or stuck or verdict is not None):
                return

    def _conjugate_gradients(self, cg: CGLS, limit: int) -> Generator[Step, Certified | None, None]:
        share = float(np.count_nonzero(self.at.active)) / self.at.active.size
        reported = time.perf_counter()
        for _ in cg.steps(self._stop(), limit):
            self.passes += share
            if time.perf_counter() - reported > PULSE:
                yield replace(self._step(looks_done=False), by_the_clock=True)
                reported = time.perf_counter()

    def _stop(self) -> Stop:
        """The paper's rule, or what the gap that is wanted does not need, or what smoothing makes vain."""
        scale = float(np.sqrt(self.model.ramp.scale * self.model.C))  # their z is ours over sqrt(2 C)
        objective, gap = self._objective(), self.gap()
        relative = self.run.goal.wanted(objective, gap) / abs(objective) if objective else self.run.tol
        return Stop(
            eps=scale * self.eps,
            share=2 * INNER_SHARE * self._trust * relative,
            floor=2 * INNER_SHARE * self._smoothing_gap() if self._cornered else 0.0,
            forcing=self.rounds.crude_forcing if self._eps_left else 0.0,
        )

    def _smoothing_gap(self) -> float:
        """What is left of the problem's gap at the minimum of the smooth level."""
        return max(0.0, self.model.sharp_gap(self.at) - self.at.gradient_gap)

    def _objective(self) -> float:
        return self.model.sharp_objective(self.at) if self._cornered else self.at.value

    def gap(self) -> float:
        """The duality gap of the problem at the present point."""
        return self.model.sharp_gap(self.at) if self._cornered else self.at.gradient_gap

    def _step(self, looks_done: bool | None = None) -> Step:
        at, gap, objective = self.at, self.gap(), self._objective()
        done = gap <= self._trust * self.run.goal.wanted(objective, gap) if looks_done is None else looks_done
        return Step(
            iteration=self.iteration,
            passes=self.passes,
            point=lambda: self._point(at),
            objective=objective,
            dual=objective - gap,
            gap=gap,
            looks_done=done,
            n_active=int(np.count_nonzero(at.active)),
        )

    def _learn(self, verdict: Certified, estimate: float) -> None:
        """The estimate said done and was wrong: scores are summed afresh, and it is believed less."""
        self._trust = 0.5 * float(np.clip(estimate / max(verdict.certificate.gap, 1e-300), 0.0, 1.0))
        self.at = self.model.at(self.at.beta)
        self.passes += 1

    def _advance(self, round_done: bool) -> bool:
        """Step 8: the next round or the next tau when it is time; False when nothing finer is left."""
        if self._cornered and (self._level_done() or (round_done and not self._eps_left)):
            return self._sharpen()
        if round_done:
            self.eps = self._eps_left.pop(0) if self._eps_left else 0.1 * self.eps
        return self.eps >= FINEST_EPS

    def _level_done(self) -> bool:
        return self.at.gradient_gap <= 2 * INNER_SHARE * self._smoothing_gap()

    def _sharpen(self) -> bool:
        """The next level: rounded over less unless the last one was slow, centred on its dual variables."""
        steps, self._level_began = self.iteration - self._level_began, self.iteration
        self._tau *= 0.5 if steps <= QUICK_LEVEL else 1.0 if steps <= 3 * QUICK_LEVEL else 2.0
        weights = self.model.weights
        middle = 0.5 * (self.model.loss.lower + self.model.loss.upper)
        share = np.divide(self.at.force, weights, out=np.full_like(weights, middle), where=weights > 0)
        ramp = rounded_step(self.model.loss, self._tau)
        self.model = self.model.with_ramp(ramp, share / ramp.scale - ramp.shift)
        self.at = self.model.at(self.at.beta, self.at.scores)
        return self._tau >= SMALLEST_TAU * self._first_tau
