"""`find_C`: the best C by cross-validation, in the manner of LIBLINEAR's -C, for every loss and penalty.

C goes up. At each value all folds are fitted, in parallel, each from its own fits at smaller values (walk.py); the
search ends at the last value, or when larger ones are hopeless (stopping.py). The best value is then fitted on all
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..blas import limit_blas, one_blas_thread
from ..deadline import Deadline
from ..numbers import as_number
from ..objective.problem import Problem
from ..solvers.base import Solver
from ..solvers.run.solution import Solution, Status
from ..solvers.solve import solve
from ..threads import thread_count, thread_map
from ..vectors import Vector
from .fold_run import FoldFit, FoldRun, average_model, shares_rows
from .folds import make_folds
from .path import checked_Cs
from .problems import make_problem
from .result import Candidate, SearchResult
from .scoring import make_score
from .stopping import OUT_OF_TIME, EarlyStopping, StopWatch, search_deadlines
from .values import doubling_Cs
from .walk import Effort

# A gap that a fold's model may have unless told otherwise: docs/selection.md holds what it does to scores.
LOOSEST_SCORE_TOL = 3e-3


def find_C(
    X: Any,
    y: Any,
    loss: str = "squared_hinge",
    penalty: str = "l2",
    *,
    Cs: Any = None,
    cv: Any = 5,
    scoring: Any = None,
    l1_ratio: float = 0.5,
    intercept: str = "free",
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    solver: str | Solver = "auto",
    tol: float = 1e-3,
    score_tol: float | None = None,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    early_stopping: EarlyStopping | bool = True,
    progress: bool = False,
    **loss_parameters: float,
) -> SearchResult:
    """Finds the C whose models predict held-out rows best, and fits all rows with it.

    Parameters
    ----------
    X, y, loss, penalty, l1_ratio, intercept, intercept_scaling, sample_weight, **loss_parameters
        The problem, as in `Problem`. A weight of two counts as the row given twice, in fits and scores. The losses
        "multinomial" and "crammer_singer" (penalty l2) are those of several classes at once; the coefficients of the
        solution are then those of `MaximumEntropyProblem` or `CrammerSingerProblem`, which `split` sets apart.
    Cs : sequence of floats, optional
        The values to try. By default doubling from the first value that matters for these data.
    cv : int, splitter or pairs of row numbers
        As in scikit-learn, except that a number means shuffled folds (by `seed`), stratified for labels.
    scoring : str or scorer, optional
        scikit-learn's name of a score; accuracy for labels and R^2 for targets by default.
    solver, tol, max_iter, seed
        As in `solve`; `tol` is the gap of the model that is returned.
    max_seconds : float, optional
        Limit on the whole search. Values that are not reached are left out, and nine tenths of the time are for trying
        them; the rest is for the model that is returned, whose status tells whether it sufficed.
    score_tol : float, optional
        The gap of the folds' models, which are only scored: ten times `tol` by default, but no more than 0.003 or
        `tol` itself. It moves scores by a fraction of their own error.
    n_jobs : int
        Folds fitted at the same time, in threads that share the data; -1 for all cores. The result is the same.
    early_stopping : bool or EarlyStopping
        Whether larger values are left out once the scores decline or the models settle.
    progress : bool
        Show the value at hand and the best one so far.

    Returns
    -------
    SearchResult
        With `.best_C`, `.best_score`, `.solution` (fitted on all rows), the table and `.plot(path)`.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import find_C
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 5))
    >>> y = X[:, 0] + rng.standard_normal(200) > 0
    >>> found = find_C(X, y, Cs=[0.001, 0.1, 10.0], cv=4)
    >>> found.best_C in found.Cs, found.solution.converged
    (True, True)
    >>> found.mean_scores.shape
    (3,)
    """
    problem = make_problem(
        X,
        y,
        loss,
        penalty,
        l1_ratio=l1_ratio,
        intercept=intercept,
        intercept_scaling=intercept_scaling,
        sample_weight=sample_weight,
        **loss_parameters,
    )
    effort = Effort(solver, tol, max_iter, None, seed, 1)
    plan = Plan(
        Cs,
        cv,
        scoring,
        None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64),
        early_stopping,
        score_tol=score_tol,
        threads=thread_count(n_jobs),
        progress=progress,
        max_seconds=max_seconds,
    )
    return search(problem, effort, plan)


@dataclass(frozen=True)
class Plan:
    """What is tried and how it is judged; the words are those of `find_C`."""

    Cs: Any = None
    cv: Any = 5
    scoring: Any = None
    score_weights: Vector | None = None  # how much each row counts when it is held out
    early_stopping: EarlyStopping | bool = True
    score_tol: float | None = None
    mean_loss: bool = False  # C is divided by the weight of the rows fitted, so that it means the same in every fold
    threads: int = 1
    progress: bool = False
    max_seconds: float | None = None  # of the whole search

    def values(self, problem: Problem) -> list[float]:
        """The values of C in ascending order."""
        return list(doubling_Cs(problem)) if self.Cs is None else sorted(set(checked_Cs(self.Cs)))

    def scoring_effort(self, effort: Effort) -> Effort:
        """How the folds are fitted: a score may need less accuracy than the model that is returned."""
        if self.score_tol is None:
            return replace(effort, tol=max(effort.tol, min(10 * effort.tol, LOOSEST_SCORE_TOL)))
        return replace(effort, tol=as_number("score_tol", self.score_tol, least=0))

    def watch(self) -> StopWatch | None:
        """What looks for the end, if anything does."""
        if self.early_stopping is False:
            return None
        return StopWatch(EarlyStopping() if self.early_stopping is True else self.early_stopping)


def search(problem: Problem, effort: Effort, plan: Plan) -> SearchResult:
    """`find_C` for a problem that is there already."""
    trying, whole = search_deadlines(plan.max_seconds)
    values = plan.values(problem)
    folds = make_folds(problem, plan.cv, effort.seed)
    scorer, score = make_score(problem, plan.scoring, plan.score_weights)
    shared = shares_rows(problem, len(folds))
    if not shared:
        lengths = problem.X.row_lengths
        folds = [fold.by_length(lengths) for fold in folds]
    fold_effort = plan.scoring_effort(effort)
    runs = [FoldRun(problem, fold, fold_effort, score, plan.mean_loss, shared) for fold in folds]
    with one_blas_thread():
        limit_blas()
        tried, best, reason = _climb(values, runs, plan, scorer, trying)
        refit = replace(effort, n_jobs=plan.threads, max_seconds=whole.share())
        guess = average_model(runs, best.models)
        solution = _fit_all(problem.with_C(best.candidate.C), refit, guess)
    return SearchResult(
        candidates=tuple(tried),
        best=best.candidate,
        solution=solution,
        scoring=scorer,
        ended=reason,
        not_tried=tuple(values[len(tried) :]),
    )


@dataclass(frozen=True)
class _Best:
    """The best value so far and the folds' models at it, from which the fit of all rows starts."""

    candidate: Candidate
    models: list[Solution]


def _climb(
    values: list[float], runs: list[FoldRun], plan: Plan, scorer: str, deadline: Deadline
) -> tuple[list[Candidate], _Best, str | None]:
    """Value after value, until the last one, until the rest is hopeless, or until the time has run out."""
    watch = plan.watch()
    tried: list[Candidate] = []
    best: _Best | None = None
    workers = min(plan.threads, len(runs))

    def fit(k: int, C: float) -> FoldFit:
        return runs[k].at(C, deadline.share(k, len(runs), workers))

    with thread_map(workers) as map_folds, _shown(plan.progress, len(values), scorer) as show:
        for C in values:
            fits: list[FoldFit] = list(map_folds(partial(fit, C=C), range(len(runs))))
            if best is not None and _ran_out(fits):
                return tried, best, OUT_OF_TIME  # what was cut short tells nothing of this value
            candidate = _candidate(C, fits)
            tried.append(candidate)
            if best is None or candidate.mean_score > best.candidate.mean_score:
                best = _Best(candidate, [fit.solution for fit in fits])
            show(candidate, best.candidate)
            reason = _reason_to_end(watch, candidate, fits) if watch is not None else None
            if reason is None and values[-1] != C and deadline.passed:
                reason = OUT_OF_TIME
            if reason is not None:
                return tried, best, reason
    assert best is not None
    return tried, best, None


def _reason_to_end(watch: StopWatch, candidate: Candidate, fits: list[FoldFit]) -> str | None:
    coefs, predictions = [fit.solution.coef for fit in fits], [fit.predictions for fit in fits]
    return watch.reason_to_end(candidate.C, np.array(candidate.scores), coefs, predictions)


def _ran_out(fits: list[FoldFit]) -> bool:
    return any(fit.solution.status is Status.TIME_LIMIT for fit in fits)


def _candidate(C: float, fits: list[FoldFit]) -> Candidate:
    solutions = [fit.solution for fit in fits]
    return Candidate(
        C=C,
        scores=tuple(fit.score for fit in fits),
        nonzeros=float(np.mean([np.count_nonzero(solution.coef) for solution in solutions])),
        passes=float(sum(solution.trace[-1].passes for solution in solutions)),
        seconds=float(sum(solution.seconds for solution in solutions)),
        converged=all(solution.converged for solution in solutions),
    )


def _fit_all(problem: Problem, effort: Effort, guess: Solution) -> Solution:
    solution = solve(
        problem,
        effort.solver,
        tol=effort.tol,
        max_iter=effort.max_iter,
        max_seconds=effort.max_seconds,
        seed=effort.seed,
        n_jobs=effort.n_jobs,
        warm_start=guess,
    )
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


@contextmanager
def _shown(progress: bool, total: int, scorer: str) -> Iterator[Callable[[Candidate, Candidate], None]]:
    """A function that shows the value at hand beside the best one, on a progress line if asked for."""
    if not progress:
        with nullcontext():
            yield lambda candidate, best: None
        return
    from ..progress import show_steps

    with show_steps(total) as step:
        yield lambda candidate, best: step(
            f"C {candidate.C:<10.3g} {scorer} {candidate.mean_score:.4f}   best {best.mean_score:.4f} at C {best.C:.3g}"
        )
