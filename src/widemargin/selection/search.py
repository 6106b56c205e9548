"""`find_C`: the best C by cross-validation, in the manner of LIBLINEAR's -C, for every loss and penalty.

C goes up (climb.py). At each value all folds are fitted, in parallel, each model from its own fits at smaller values
(walk.py); the search ends at the last value, or when larger ones are hopeless (stopping.py). The best value is then
fitted on all rows. Several models, as of one class against the rest, have one C, and their common score counts
(several.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..blas import limit_blas, one_blas_thread
from ..data.matrix import stored
from ..data.rows import IN_ORDER
from ..multiclass.solving import Ask, solve_models
from ..multiclass.table import Models
from ..numbers import as_number
from ..objective.multiclass import MulticlassProblem
from ..solvers.base import Solver
from ..solvers.effort import Effort
from ..solvers.run.solution import Status
from ..threads import thread_count, thread_map
from ..vectors import Vector
from .climb import Best, Climb
from .edge import told_of_edge
from .fold_run import FoldRun, average_model, shares_rows, spanning_within
from .folds import Fold, make_folds
from .path import checked_Cs
from .problems import subject_of
from .result import Candidate, SearchResult
from .scoring import make_score
from .several import Subject, parts_of
from .stopping import EarlyStopping, StopWatch, search_deadlines
from .values import Values

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
    class_weight: Any = None,
    multi_class: str | None = None,
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
        solution are then those of `MaximumEntropyProblem` or `CrammerSingerProblem`, which `models` of the result sets
        apart.
    class_weight : None, "balanced" or dict
        Factors of C by class of the row, in fits but not in scores.
    multi_class : {"ovr", "ovo", "dag", "crammer_singer", "multinomial"}, optional
        How more than two classes are told apart, as in `LinearSVC`: one C for all models, by their common score.
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
        With `.best_C`, `.best_score`, `.solution` (fitted on all rows; `.models` of several), the table and
        `.plot(path)`.

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
    subject = subject_of(
        X,
        y,
        loss,
        penalty,
        multi_class=multi_class,
        class_weight=class_weight,
        sample_weight=sample_weight,
        l1_ratio=l1_ratio,
        intercept=intercept,
        intercept_scaling=intercept_scaling,
        **loss_parameters,
    )
    counted = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    plan = Plan(Cs, cv, scoring, counted, early_stopping, score_tol=score_tol, progress=progress)
    return told_of_edge(search(subject, Effort(solver, tol, max_iter, max_seconds, seed, n_jobs), plan))


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
    progress: bool = False

    def values(self, subject: Subject) -> Values:
        """The values of C."""
        return Values.doubling(subject) if self.Cs is None else Values.given(checked_Cs(self.Cs))

    def scoring_effort(self, effort: Effort) -> Effort:
        """How the folds are fitted, on one thread each: a score may need less accuracy than the model returned."""
        loose = max(effort.tol, min(10 * effort.tol, LOOSEST_SCORE_TOL))
        tol = loose if self.score_tol is None else as_number("score_tol", self.score_tol, least=0)
        return replace(effort, tol=tol, n_jobs=1, max_seconds=None)

    def watch(self) -> StopWatch | None:
        """What looks for the end, if anything does."""
        if self.early_stopping is False:
            return None
        return StopWatch(EarlyStopping() if self.early_stopping is True else self.early_stopping)


def search(subject: Subject, effort: Effort, plan: Plan) -> SearchResult:
    """`find_C` for a subject that is there already; the effort is for the whole search."""
    trying, whole = search_deadlines(effort.max_seconds)
    values = plan.values(subject)
    folds = make_folds(subject, plan.cv, effort.seed)
    _require_weight_to_score(folds, plan.score_weights)
    scorer, score = make_score(subject, plan.scoring, plan.score_weights)
    shared, spanning = shares_rows(subject, len(folds)), spanning_within(subject, len(folds))
    if not shared and IN_ORDER in subject.X.offers:
        lengths = stored(subject.X).row_lengths
        folds = [fold.by_length(lengths) for fold in folds]
    fold_effort = plan.scoring_effort(effort)
    runs = [FoldRun(subject, fold, fold_effort, score, plan.mean_loss, shared, spanning) for fold in folds]
    workers = min(thread_count(effort.n_jobs), len(runs))
    climb = Climb(values, runs, plan.watch(), trying, workers)
    with one_blas_thread():
        limit_blas()
        with thread_map(workers) as map_folds, _shown(plan.progress, len(values.listed), scorer) as show:
            climb.go(map_folds, show)
        models = _fit_all(subject, climb.best, runs, replace(effort, max_seconds=whole.share()))
    return SearchResult(
        candidates=tuple(climb.tried),
        best=climb.best.candidate,
        models=models,
        scoring=scorer,
        ended=climb.ended,
        not_tried=climb.not_tried,
        l1_ratio=subject.penalty.rho,
        edge=climb.edge,
    )


def _require_weight_to_score(folds: Sequence[Fold], weights: Vector | None) -> None:
    for number, fold in enumerate(folds):
        if weights is not None and not (weights[fold.held_out] > 0).any():
            raise ValueError(f"fold {number} holds out no row whose weight is above zero: there is nothing to score")


def _fit_all(subject: Subject, best: Best, runs: list[FoldRun], effort: Effort) -> Models:
    """The models of all rows at the best C, each from the mean of the folds' models."""
    parts = [part.at(best.candidate.C) for part in parts_of(subject)]
    folds = [[fit.solutions[k] for fit in best.fits] for k in range(len(parts))]
    guesses = [average_model(runs, part, k, folds[k]) for k, part in enumerate(parts)]
    models = replace(solve_models(parts, len(guesses[0].w), Ask(effort, guesses)), parts=())  # a result is kept
    if models.solutions[-1].status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if isinstance(subject, MulticlassProblem):
        return Models(*subject.decode(models.solutions[0].coef), models.solutions)
    return models


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
