"""What is known of a run that did not converge, in a sentence: who stopped where and why, and what would help.

It says no more than that. Scaling is advised where the scales of the columns do differ, with the columns that stand
out; another solver where there is one that solves this problem and has not been tried; a smaller C never, for that is
another model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..data.column_scales import wild_columns
from .auto import choose
from .registry import solver_class
from .run.solution import Status

if TYPE_CHECKING:
    from ..objective.any_problem import AnyProblem
    from .base import Solver
    from .run.solution import Solution

# Solvers whose steps are few and dear, so that they end where cheap steps do not: the first that can is advised.
STEADY = ("newton_cholesky", "finite_newton", "interior_point", "multipliers", "prox_newton", "tron", "lbfgs")
# Beyond so many features a factorisation of their matrix is no advice.
FEW_FEATURES = 5000
FACTORISING = frozenset({"newton_cholesky", "finite_newton"})

ENDS = {
    Status.STALLED: "made no more progress",
    Status.ITERATION_LIMIT: "reached its limit on steps",
    Status.TIME_LIMIT: "ran out of time",
    Status.INTERRUPTED: "was interrupted",
    Status.CONVERGED: "converged",
}
LIMITS = {Status.ITERATION_LIMIT: "raise max_iter", Status.TIME_LIMIT: "give it more time (max_seconds)"}


def explain_end(
    problem: AnyProblem,
    solution: Solution,
    tol: float,
    *,
    who: str = "the run",
    asked: str | Solver | None = "auto",
    also: Sequence[str] = (),
    names: Sequence[str] | None = None,
) -> str:
    """How the run ended and what would help.

    Parameters
    ----------
    problem : problem
        The one that was solved; of several models, that of the one with the largest gap.
    solution : Solution
    tol : float
        The relative gap that was asked for.
    who : str
        What is told to have ended.
    asked : str, Solver or None
        The solver that was asked for; None where there is no choice.
    also : sequence of str
        What else would help, in words.
    names : sequence of str, optional
        Those of the features, where the rows do not know them.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1])
    >>> explain_end(problem, solve(problem, "dual_cd", tol=1e-12, max_iter=1), 1e-12, asked="dual_cd")[:79]
    "the run ended with status 'iteration_limit': dual_cd reached its limit on steps"
    """
    gap = solution.certificate.relative_gap
    proven = f"a relative gap of {gap:.2g}" if math.isfinite(gap) else "an unknown relative gap"
    return (
        f"{who} ended with status '{solution.status}': {solution.solver} {ENDS[solution.status]}"
        f"{_count(solution)}, at {proven}, above tol={tol:g}; the objective may be that far from the best possible. "
        f"To go on, {_joined(remedies(problem, solution, asked, also, names))}."
    )


def remedies(
    problem: AnyProblem,
    solution: Solution,
    asked: str | Solver | None = "auto",
    also: Sequence[str] = (),
    names: Sequence[str] | None = None,
) -> list[str]:
    """What would help, the likeliest first."""
    found = [LIMITS[solution.status]] if solution.status in LIMITS else []
    wild = wild_columns(problem.X, names)
    if wild:
        found.append(f"scale the features, whose ranges differ by decades: {', '.join(map(str, wild))}")
    enough_steps = solution.status is not Status.ITERATION_LIMIT or asked != "auto"
    other = another_solver(problem, solution, asked) if asked is not None and enough_steps else None
    if other is not None:
        found.append(f"try solver={other!r}")
    return [*found, *also, "accept a larger tol"]


def another_solver(problem: AnyProblem, solution: Solution, asked: str | Solver) -> str | None:
    """A solver that solves the problem and has not tried: "auto" if it was not asked, else one whose steps are sure."""
    if asked != "auto":
        return "auto"
    tried = f"{solution.solver}, {choose(problem).title}"
    features = problem.X.shape[1]
    able = (name for name in STEADY if name not in tried and solver_class(name).solves(problem))
    return next((name for name in able if features <= FEW_FEATURES or name not in FACTORISING), None)


def _count(solution: Solution) -> str:
    if solution.status is Status.ITERATION_LIMIT:
        return f", {solution.n_iter:,}"
    return f" after {solution.n_iter:,} steps and {solution.seconds:.2g} s"


def _joined(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
