"""Several two-class models, one after another or side by side on threads (solvers/run/several.py), and their table.

Of thousands of models a table of all coefficients may not fit the memory. Where it would be large, each model is kept
by its nonzeros as soon as it is solved, and if these are few, as an l1 penalty leaves them, the table is a sparse one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..objective.certificate import Certificate
from ..objective.points import Point
from ..objective.problem import Problem
from ..solvers.run.several import solve_all
from ..solvers.run.side_by_side import Begun, begin_together
from ..solvers.run.solution import SlimSolution, Solution, Status
from ..solvers.run.trace import Trace
from ..vectors import Vector
from .strategy import Ask, Fit, Labelled, Table

# The score of a label that every row has: where each loss for labels is zero or below 1e-17.
CERTAIN = 40.0
# Bytes of coefficients beyond which models are kept by their nonzeros.
LARGE_TABLE = 2**28

Positives = NDArray[np.bool_]


def fit_each(data: Labelled, sides: Sequence[Callable[[], Positives]], ask: Ask) -> Fit:
    """One model of all rows per entry of `sides`, which tells the positive rows of that model when it is asked."""

    begun = _begin_together(data, sides, ask)

    def fit(model: int, n_jobs: int) -> Solution:
        positive = sides[model]()
        if _one_sided(positive):
            return _certain(data, bool(positive[0]), model)
        problem = _problem(data, positive, model, ask)
        if ask.go_on is None or model not in begun:
            return ask.solve(problem, ask.start(model), n_jobs)
        return ask.go_on(problem, begun.pop(model), n_jobs)

    return fit_models(fit, len(sides), data.X.shape[1], ask.n_jobs)


def _begin_together(data: Labelled, sides: Sequence[Callable[[], Positives]], ask: Ask) -> dict[int, Begun]:
    """The first passes of all models side by side, where that pays: what each goes on with."""
    own_weights = data.weights is not None and data.weights.ndim > 1
    if ask.go_on is None or ask.starts or own_weights:
        return {}
    models = [model for model, side in enumerate(sides) if not _one_sided(side())]
    if not models:
        return {}
    first = _problem(data, sides[models[0]](), models[0], ask)
    begun = begin_together(first, lambda at: sides[models[at]](), len(models), workers=ask.n_jobs, **ask.settings)
    return dict(zip(models, begun or (), strict=False))


def _one_sided(positive: Positives) -> bool:
    return bool(positive.all() or not positive.any())


def _problem(data: Labelled, positive: Positives, model: int, ask: Ask) -> Problem:
    y = np.where(positive, 1.0, -1.0)
    return Problem(data.X, y, sample_weight=_weights(data, model), **ask.problem)


def fit_models(fit: Callable[[int, int], Solution], n_models: int, n_features: int, n_jobs: int) -> Fit:
    """The models fit(number, threads), as many at a time as there are threads, and the table of their coefficients."""
    workers = min(n_jobs, n_models)
    threads_each = 1 if workers > 1 else n_jobs
    large = 8 * n_models * n_features > LARGE_TABLE

    def run(k: int, seconds: float | None) -> Solution:
        solution = fit(k, threads_each)
        return SlimSolution(solution) if large and _is_sparse(solution.coef) else solution

    solutions = solve_all(run, n_models, workers=workers)  # half of the models are no model
    intercept = np.array([solution.intercept for solution in solutions])
    slim = [solution for solution in solutions if isinstance(solution, SlimSolution)]
    if len(slim) == len(solutions):
        return Fit(_sparse_table(slim), intercept, tuple(solutions))
    coef = _table([solution.coef for solution in solutions])
    # The solutions look into the one table, so that the coefficients are held once.
    kept = tuple(
        solution if isinstance(solution, SlimSolution) else replace(solution, coef=coef[model])
        for model, solution in enumerate(solutions)
    )
    return Fit(coef, intercept, kept)


def _table(coefs: Sequence[Vector]) -> Table:
    """One row each; where they are the rows of a table already, as those begun together are, that table."""
    base, width = coefs[0].base, len(coefs[0])
    if isinstance(base, np.ndarray) and base.shape == (len(coefs), width) and base.flags.c_contiguous:
        begins = [coef.ctypes.data - base.ctypes.data for coef in coefs]
        if all(coef.base is base for coef in coefs) and begins == [8 * width * k for k in range(len(coefs))]:
            return base
    return np.stack(coefs)


def _is_sparse(coef: Vector) -> bool:
    """Whether the nonzeros, with their places, take less than half the memory of all coefficients."""
    return 4 * int(np.count_nonzero(coef)) < len(coef)


def _sparse_table(solutions: Sequence[SlimSolution]) -> sp.csr_array:
    """One row of coefficients per model."""
    begin = np.cumsum([0, *(solution.nonzeros for solution in solutions)])
    at, values = (np.concatenate([getattr(s, name) for s in solutions]) for name in ("at", "values"))
    return sp.csr_array((values, at, begin), shape=(len(solutions), solutions[0].size))


def _weights(data: Labelled, model: int) -> Vector | None:
    """The rows' weights in that model: one column for all, or one each."""
    return data.weights if data.weights is None or data.weights.ndim == 1 else data.weights[:, model]


def _certain(data: Labelled, present: bool, model: int) -> Solution:
    """The model of a label that all rows have, or none: no features, and a score on the safe side."""
    warnings.warn(
        f"label {model} is {'present' if present else 'absent'} in every row: it will be predicted so for all",
        stacklevel=2,
    )
    return Solution(
        coef=np.zeros(data.X.shape[1]),
        intercept=CERTAIN if present else -CERTAIN,
        dual=None,
        certificate=Certificate(0.0, 0.0),
        status=Status.CONVERGED,
        n_iter=1,
        seconds=0.0,
        solver="none",
        trace=Trace(),
        point=Point(np.zeros(data.X.shape[1])),
    )
