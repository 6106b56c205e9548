"""The functional interface: `solve(problem)`."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ..numbers import as_number, as_whole
from ..threads import thread_count
from .auto import choose
from .base import Point, Solver
from .registry import make_solver, require
from .run.centred import Centring
from .run.driver import Callback, Driver, Limits
from .run.merged import Merging
from .run.solution import Solution

if TYPE_CHECKING:
    from ..objective.any_problem import AnyProblem


def solve(
    problem: AnyProblem,
    solver: str | Solver = "auto",
    *,
    tol: float = 1e-3,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    warm_start: Solution | Point | None = None,
    callback: Callback | None = None,
    progress: bool = False,
) -> Solution:
    """Minimises the problem until the relative duality gap is at most `tol`.

    Parameters
    ----------
    problem : Problem
    solver : "auto", the name of a solver, or a Solver with its settings
    tol : float
        The stopping rule of every solver: primal - dual is at most tol times the objective or, where that is less,
        times what can be gained over w = 0 (docs/certificate.md).
    max_iter : int, optional
        Limit on the solver's outer steps.
    max_seconds : float, optional
        Limit on time; what is there by then is returned.
    seed : int
        The same seed gives the same result.
    n_jobs : int
        Threads for passes over the data; -1 for all cores.
    warm_start : Solution or Point, optional
        Where to start, for example from a solution at another C. Of a Point, the products that it carries are used.
    callback : callable, optional
        Is shown each trace row; a true result ends the run.
    progress : bool
        Show passes, objective, gap and time while running.

    Returns
    -------
    Solution
        With `.coef`, `.intercept`, `.dual`, `.certificate`, `.status`, `.n_iter` and `.trace`. Ctrl-C returns the
        best solution so far with status `interrupted`.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1], loss="hinge", intercept="free")
    >>> solve(problem, tol=1e-6).coef.round(4)
    array([1.])
    """
    limits = _limits(max_iter, max_seconds)
    tol = as_number("tol", tol, least=0)
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed must lie between 0 and 2**64 - 1, got {seed!r}")
    problem = problem.with_jobs(thread_count(n_jobs))
    start = start_point(problem, warm_start)
    merging = Merging.of(problem) if solver == "auto" else Merging(problem)
    centring = Centring.of(merging.problem)
    start = centring.there(merging.there(start))
    chosen = choose(centring.problem) if solver == "auto" else make_solver(solver)
    require(chosen, centring.problem)
    driver = Driver(centring.problem, chosen, tol, limits, seed, start)
    if not progress:
        return merging.back(centring.back(driver.run(callback)))
    from ..progress import show_progress

    with show_progress(tol, callback) as shown:
        return merging.back(centring.back(driver.run(shown)))


def _limits(max_iter: int | None, max_seconds: float | None) -> Limits:
    if max_seconds is not None and not (isinstance(max_seconds, Real) and max_seconds > 0):
        raise ValueError(f"max_seconds must be greater than 0, got {max_seconds!r}")
    return Limits(
        iterations=math.inf if max_iter is None else as_whole("max_iter", max_iter, least=1),
        seconds=math.inf if max_seconds is None else float(max_seconds),
    )


def start_point(problem: AnyProblem, warm_start: Solution | Point | None) -> Point | None:
    """The warm start as a point of this problem; of a solution that a user brings, nothing is believed unseen."""
    if warm_start is None:
        return None
    if not isinstance(warm_start, Solution | Point):
        raise TypeError(f"warm_start must be a Solution or a Point, got {type(warm_start).__name__}")
    rows, expected = problem.X.shape[0], problem.size
    found = len(warm_start.w if isinstance(warm_start, Point) else warm_start.coef)
    if found != expected:
        raise ValueError(f"warm_start has {found} coefficients, the problem has {expected}")
    if isinstance(warm_start, Point):
        return warm_start
    dual = warm_start.dual
    same_rows = dual is not None and len(dual) == rows
    parts = [warm_start.coef, np.array([warm_start.intercept]), dual if dual is not None else np.zeros(0)]
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError("warm_start is not finite: start from another solution, or from none")
    return Point(
        np.array(warm_start.coef, dtype=np.float64),
        0.0 if problem.describe().intercept == "none" else float(warm_start.intercept),
        dual if same_rows else None,
    )
