"""Where the interior-point method begins: one start after the other, should it get stuck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..linalg.orthogonal import is_affordable

if TYPE_CHECKING:
    from ...objective.problem import Problem


@dataclass(frozen=True)
class Attempt:
    """How a run begins and goes on."""

    # At the w that a ridge makes of v, which meets all conditions but the products; else at w = 0, with slacks that are
    # not true yet. The former does not mind the scales of the features, the latter is nearer to the end.
    meets_ridge: bool
    # The logistic loss: v goes its own way from zero, which keeps the digits that the slopes at z would lose.
    keeps_v: bool = False
    # The equations of a step for the features even where rows are fewer: w keeps its digits where rows depend on each
    # other and their v, which may then be anything, hides in its rounding what they make of w.
    through_features: bool = False
    # The same with l2 over an orthogonal basis of the rows, which are fewer than the features.
    reduced: bool = False


def attempts(problem: Problem) -> Iterator[Attempt]:
    """The starts for that problem, the more promising one first."""
    smooth, with_ridge = not problem.loss.piecewise, problem.penalty.rho < 1
    if smooth:
        yield Attempt(meets_ridge=False)
        yield Attempt(meets_ridge=False, keeps_v=True)
    else:
        if with_ridge:
            yield Attempt(meets_ridge=True)
        yield Attempt(meets_ridge=False)
    last = Attempt(meets_ridge=with_ridge and not smooth, keeps_v=smooth, through_features=True)
    rows, columns = problem.X.shape
    if problem.penalty.rho == 0 and columns > rows:
        if is_affordable(columns, rows):
            yield replace(last, reduced=True)
    elif columns >= rows and is_affordable(rows + columns + 1, columns + 2):
        yield last
