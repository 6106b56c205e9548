"""The referee: runs contestants from loose to tight, recomputes every objective in float64, reports times to targets.

Nobody grades himself: the suboptimality (f - f*) / f* of each result is computed here from its weights, with f* the
dual bound of a very tight run: nobody is below it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from widemargin import Problem, solve

from .contestants import Contestant, Run

TARGETS = (1e-2, 1e-3, 1e-6)
LONG_RUN = 2.0


@dataclass
class Curve:
    """One contestant on one problem: for each knob the median seconds and the suboptimality reached."""

    contestant: str
    knobs: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    suboptimality: list[float] = field(default_factory=list)

    def time_to(self, target: float) -> float | None:
        """The least median time among the runs that reached the target."""
        reached = [t for t, gap in zip(self.seconds, self.suboptimality, strict=True) if gap <= target]
        return min(reached, default=None)


@dataclass
class Result:
    """All contestants on one problem."""

    dataset: str
    loss: str
    C: float
    rows: int
    columns: int
    nonzeros: int
    optimum: float  # a lower bound on it, with
    optimum_gap: float  # this relative gap to the best objective known
    curves: list[Curve] = field(default_factory=list)


def compete(
    name: str,
    X: sp.csr_matrix,
    y: np.ndarray,
    loss: str,
    C: float,
    contestants: Sequence[Contestant],
    *,
    repetitions: int,
    patience: float,
) -> Result:
    """Runs every contestant; one that took longer than `patience` seconds is not asked for a tighter result."""
    problem = Problem(X, y, loss=loss, C=C)
    reference = solve(problem, tol=1e-9, max_seconds=max(30.0, 3 * patience)).certificate
    result = Result(name, loss, C, *X.shape, int(X.nnz), reference.dual, reference.relative_gap)
    runs = [(c, c.prepare(X, y, loss, C)) for c in contestants]
    entrants = [_Entrant(Curve(c.name), list(c.knobs), run) for c, run in runs if run is not None]
    while any(entrant.waiting for entrant in entrants):
        for entrant in entrants:
            if entrant.waiting:
                entrant.take_turn(problem, reference.dual, patience)
    for entrant in entrants:  # further rounds in turn, so that a noisy minute hits everybody
        entrant.again = [[seconds] for seconds in entrant.curve.seconds]
    for _ in range(repetitions - 1):
        for entrant in entrants:
            entrant.repeat()
    for entrant in entrants:
        entrant.curve.seconds = [statistics.median(times) for times in entrant.again]
    result.curves = [entrant.curve for entrant in entrants]
    return result


@dataclass
class _Entrant:
    """A contestant in the ring: the knobs it has not tried yet, and its times."""

    curve: Curve
    waiting: list[float]
    run: Run
    again: list[list[float]] = field(default_factory=list)

    def take_turn(self, problem: Problem, optimum: float, patience: float) -> None:
        """Tries the next tighter knob; none after one that took too long or was tight enough."""
        knob = self.waiting.pop(0)
        seconds, w = self.run(knob)
        self.curve.knobs.append(knob)
        self.curve.seconds.append(seconds)
        self.curve.suboptimality.append((problem.objective(w) - optimum) / abs(optimum))
        if self.curve.suboptimality[-1] <= min(TARGETS) or seconds > patience:
            self.waiting.clear()

    def repeat(self) -> None:
        """Every knob once more, but for runs so long that noise is small against them."""
        for knob, times in zip(self.curve.knobs, self.again, strict=True):
            if times[0] < LONG_RUN:
                times.append(self.run(knob)[0])
