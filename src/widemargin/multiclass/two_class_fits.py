"""Several two-class problems over the same rows: fitted one after another, or side by side on threads.

The rows are one `Matrix` that all fits share. Threads help because passes over the data run without the interpreter's
lock. Every fit runs on its own, so the result does not depend on how many run at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..objective.certificate import Certificate
from ..objective.problem import Problem
from ..solvers.solution import Solution, Status
from ..solvers.trace import Trace
from .strategy import Ask, Fit, Labelled, Vector

# The score of a label that every row has: where each loss for labels is zero or below 1e-17.
CERTAIN = 40.0

Positives = NDArray[np.bool_]


def fit_each(data: Labelled, sides: Sequence[Callable[[], Positives]], ask: Ask) -> Fit:
    """One model per entry of `sides`, which tells the positive rows of that model when it is asked."""
    workers = min(ask.n_jobs, len(sides))

    def fit(model: int) -> Solution:
        weights = data.weights if data.weights is None or data.weights.ndim == 1 else data.weights[:, model]
        return _fit_one(data, sides[model](), weights, ask, model, n_jobs=1 if workers > 1 else ask.n_jobs)

    solutions = list(_in_turn(fit, len(sides)) if workers <= 1 else _side_by_side(fit, len(sides), workers))
    coef = np.stack([solution.coef for solution in solutions])
    intercept = np.array([solution.intercept for solution in solutions])
    # The solutions look into the one table, so that the coefficients are held once.
    kept = tuple(replace(solution, coef=coef[model]) for model, solution in enumerate(solutions))
    return Fit(coef, intercept, kept)


def _in_turn(fit: Callable[[int], Solution], n_models: int) -> Iterator[Solution]:
    for model in range(n_models):
        solution = fit(model)
        if solution.status is Status.INTERRUPTED and n_models > 1:
            raise KeyboardInterrupt  # half of the models are no model
        yield solution


def _side_by_side(fit: Callable[[int], Solution], n_models: int, workers: int) -> list[Solution]:
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(fit, range(n_models)))
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C or an error, what has not begun does not begin


def _fit_one(data: Labelled, positive: Positives, weights: Vector | None, ask: Ask, model: int, n_jobs: int) -> Solution:
    if positive.all() or not positive.any():
        return _certain(data, bool(positive[0]), model)
    problem = Problem(data.X, np.where(positive, 1.0, -1.0), sample_weight=weights, **ask.problem)
    return ask.solve(problem, ask.start(model), n_jobs)


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
    )
