"""Where the interior-point method begins: one start after the other, should it get stuck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...objective.problem import Problem


@dataclass(frozen=True)
class Attempt:
    """How a run begins and goes on."""

    # At the w that a ridge makes of v, which meets all conditions but the products; else at w = 0, with slacks that are
    # not true yet. The former does not mind the scales of the features, the latter is nearer to the end.
    meets_ridge: bool
    # The logistic loss: v for itself, which keeps digits that the slopes at z lose; else the slopes, which lead better.
    keeps_slopes: bool


def attempts(problem: Problem) -> Iterator[Attempt]:
    """The starts for that problem, the more promising one first."""
    if not problem.loss.piecewise:
        yield Attempt(meets_ridge=False, keeps_slopes=False)
        yield Attempt(meets_ridge=False, keeps_slopes=True)
        return
    with_ridge = problem.penalty.rho < 1
    if with_ridge:
        yield Attempt(meets_ridge=True, keeps_slopes=False)
    yield Attempt(meets_ridge=False, keeps_slopes=False)
