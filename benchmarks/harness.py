"""The referee: runs contestants from loose to tight, recomputes every objective in float64, reports times to targets.

Nobody grades himself: the suboptimality (f - f*) / f* of each result is computed here from its weights, with f* the
objective of a very tight run of our own.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from widemargin import Problem, solve

from .contestants import Contestant

TARGETS = (1e-2, 1e-3, 1e-6)


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
    optimum: float
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
    reference = solve(problem, tol=1e-8, max_seconds=max(30.0, 3 * patience))
    optimum = reference.certificate.primal
    result = Result(name, loss, C, *X.shape, int(X.nnz), optimum)
    for contestant in contestants:
        run = contestant.prepare(X, y, loss, C)
        if run is None:
            continue
        curve = Curve(contestant.name)
        for knob in contestant.knobs:
            seconds, w = run(knob)
            times = [seconds]
            if seconds < 2.0:
                times += [run(knob)[0] for _ in range(repetitions - 1)]
            curve.knobs.append(knob)
            curve.seconds.append(statistics.median(times))
            curve.suboptimality.append(max(0.0, problem.objective(w) - optimum) / optimum)
            if curve.suboptimality[-1] <= min(TARGETS) or seconds > patience:
                break
        result.curves.append(curve)
    return result
