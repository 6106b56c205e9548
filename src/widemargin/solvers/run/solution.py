"""What a run returns."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...objective.certificate import Certificate
from ...objective.points import Dual, Point
from ...vectors import Vector
from .trace import Trace


class Status(Enum):
    """How a run ended.

    Examples
    --------
    >>> from widemargin import Problem, Status, solve
    >>> solution = solve(Problem([[0.0], [1.0], [3.0]], [-1, -1, 1]), "dual_cd", tol=1e-12, max_iter=1)
    >>> solution.status is Status.ITERATION_LIMIT
    True
    """

    CONVERGED = "converged"
    ITERATION_LIMIT = "iteration_limit"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, eq=False)
class Solution:
    """A model with the proof of how good it is.

    `dual` is the best dual point found: with penalty l2, coef is close to X^T dual. For classification
    dual_i = y_i alpha_i in the letters of the SVM papers.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> solution = solve(Problem([[0.0], [1.0], [3.0]], [-1, -1, 1]), tol=1e-6)
    >>> str(solution.status), solution.certificate.relative_gap <= 1e-6
    ('converged', True)
    """

    coef: Vector
    intercept: float
    dual: Dual | None
    certificate: Certificate
    status: Status
    n_iter: int
    seconds: float
    solver: str
    trace: Trace = field(repr=False)
    point: Point = field(repr=False, compare=False, kw_only=True)  # as it was certified, with its products

    @property
    def converged(self) -> bool:
        """Whether the relative gap reached the tolerance."""
        return self.status is Status.CONVERGED

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the products of the point can be made again."""
        return {**self.__dict__, "point": self.point.bare()}

    def __repr__(self) -> str:
        nonzeros = int(np.count_nonzero(self.coef))
        return (
            f"Solution({self.status}, solver={self.solver!r}, objective={self.certificate.primal:.10g}, "
            f"relative_gap={self.certificate.relative_gap:.3g}, n_iter={self.n_iter}, "
            f"nonzeros={nonzeros:,}/{len(self.coef):,}, seconds={self.seconds:.3g})"
        )


class SlimSolution(Solution):
    """A solution without its dual point, and of the coefficients only those that are not zero.

    For one of thousands of models: `coef` is made when it is asked for.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> from widemargin.solvers.run.solution import SlimSolution
    >>> solution = solve(Problem([[1.0, 0.0], [-1.0, 0.0]], [1, -1]), tol=1e-6)
    >>> slim = SlimSolution(solution)
    >>> slim.nonzeros, bool((slim.coef == solution.coef).all())
    (1, True)
    """

    def __init__(self, solution: Solution) -> None:
        kept = {f.name: getattr(solution, f.name) for f in fields(Solution) if f.name not in ("coef", "dual")}
        at = np.flatnonzero(solution.coef)
        bare = Point(np.empty(0), solution.intercept)
        self.__dict__.update(kept, dual=None, point=bare, at=at, values=solution.coef[at], size=len(solution.coef))

    at: NDArray[np.intp]  # the features that count
    values: Vector  # their coefficients
    size: int  # the number of features

    @property
    def coef(self) -> Vector:
        """The coefficients, zeros included."""
        whole = np.zeros(self.size)
        whole[self.at] = self.values
        return whole

    @property
    def nonzeros(self) -> int:
        """How many coefficients are not zero."""
        return len(self.at)
