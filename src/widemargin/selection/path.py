"""The regularisation path: one problem at many values of C, each with its certificate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solvers.base import Solver
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution, Status
from .walk import Walk

if TYPE_CHECKING:
    from ..objective.problem import Problem


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions along C, in the order of the values.

    Examples
    --------
    >>> from widemargin import Problem, path
    >>> found = path(Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], penalty="l2"), [0.01, 0.1, 1.0], tol=1e-6)
    >>> len(found), found.converged
    (3, True)
    >>> sorted(found.to_dict())
    ['C', 'dual', 'nonzeros', 'passes', 'primal', 'relative_gap', 'seconds', 'status']
    """

    Cs: tuple[float, ...]
    solutions: tuple[Solution, ...]

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def __getitem__(self, index: int) -> Solution:
        return self.solutions[index]

    @property
    def converged(self) -> bool:
        """Whether every point reached the tolerance."""
        return all(solution.converged for solution in self.solutions)

    def to_dict(self) -> dict[str, list[Any]]:
        """One list per column, ready for a data frame."""
        return {
            "C": list(self.Cs),
            "primal": [solution.certificate.primal for solution in self],
            "dual": [solution.certificate.dual for solution in self],
            "relative_gap": [solution.certificate.relative_gap for solution in self],
            "nonzeros": [int(np.count_nonzero(solution.coef)) for solution in self],
            "passes": [solution.trace[-1].passes for solution in self],
            "seconds": [solution.seconds for solution in self],
            "status": [str(solution.status) for solution in self],
        }


def path(
    problem: Problem,
    Cs: Any,
    solver: str | Solver = "auto",
    *,
    tol: float = 1e-3,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> RegularizationPath:
    """Solves the problem at every C, from the smallest to the largest, each point started from the ones before it.

    Parameters
    ----------
    problem : Problem
        Its own C does not matter.
    Cs : sequence of floats
        In any order; the result keeps it.
    solver : "auto", the name of a solver, or a Solver with its settings
    tol : float
        Relative duality gap, reached at every point.
    max_iter, max_seconds : optional
        Limits on each point.
    seed : int
    n_jobs : int
        Threads for passes over the data; -1 for all cores.

    Returns
    -------
    RegularizationPath
        The solutions with their certificates. After Ctrl-C, those that were reached; the last one says `interrupted`.

    Examples
    --------
    >>> from widemargin import Problem, path
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge", intercept="free")
    >>> for solution in path(problem, [0.1, 1.0], tol=1e-6):
    ...     print(solution.coef.round(3), solution.certificate.relative_gap <= 1e-6)
    [0.2] True
    [1.] True
    """
    values = checked_Cs(Cs)
    walk = Walk(problem, Effort(solver, tol, max_iter, max_seconds, seed, n_jobs))
    reached: dict[float, Solution] = {}
    for C in sorted(set(values)):
        reached[C] = walk.to(C)
        if reached[C].status is Status.INTERRUPTED:
            break
    kept = [C for C in values if C in reached]
    return RegularizationPath(tuple(kept), tuple(reached[C] for C in kept))


def checked_Cs(Cs: Any) -> Sequence[float]:
    """The values of C as floats, all finite and positive."""
    values = np.asarray(Cs, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"Cs must be a sequence of at least one number, got shape {values.shape}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise ValueError(f"Cs[{bad[0]}] is {values[bad[0]]}: every C must be a finite number > 0")
    return [float(C) for C in values]
