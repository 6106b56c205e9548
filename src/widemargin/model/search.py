"""The search for C over models of more than two classes: whole models, one against the rest or one against one.

`selection.find_C` walks along C with one problem, each fit started from the last. Several classes are several problems
whose common score counts, so here every fold's model is trained anew at every C, with the same values and the same rule
to stop at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import Matrix
from ..objective.problem import Problem
from ..selection.path import checked_Cs
from ..selection.result import Candidate, SearchResult
from ..selection.stopping import OUT_OF_TIME, EarlyStopping, StopWatch, search_deadlines
from ..selection.values import doubling_Cs
from .fit import Fitted, Recipe, fit_model


@dataclass(frozen=True)
class ModelSearch(SearchResult):
    """A search whose result is a model of several rows of weights; `solution` is that of the first."""

    fitted: Fitted = field(repr=False)


def search_models(X: Any, y: NDArray[Any], recipe: Recipe, Cs: Sequence[float] | None, fold_of: Any) -> ModelSearch:
    """Tries values of C on the folds, and trains on all rows with the best one; max_seconds is for all of it.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.model.fit import Recipe
    >>> X, y = np.repeat(np.eye(3), 4, axis=0), np.repeat([1, 2, 3], 4)
    >>> found = search_models(X, y, Recipe(), [0.1, 1.0], np.arange(12) % 2)
    >>> found.best_C, found.best_score, found.fitted.model.classes
    (0.1, 1.0, [1, 2, 3])
    """
    trying, whole = search_deadlines(recipe.max_seconds)
    rows = Matrix(X)
    parts = [_Fold(rows, y, fold_of == k) for k in range(int(fold_of.max()) + 1)]
    values = list(doubling_Cs(_largest_class(rows, y, recipe))) if Cs is None else sorted(set(checked_Cs(Cs)))
    watch, tried, reason = StopWatch(EarlyStopping()), list[Candidate](), None
    for C in values:
        at = replace(recipe, C=C)
        fits = [part.fitted(replace(at, max_seconds=trying.share(k, len(parts)))) for k, part in enumerate(parts)]
        if tried and any(fit.ran_out for fit in fits):
            reason = OUT_OF_TIME  # what was cut short tells nothing of this value
            break
        scores = [part.accuracy(fit) for part, fit in zip(parts, fits, strict=True)]
        tried.append(_candidate(C, fits, scores))
        reason = watch.reason_to_end(C, np.array(scores), [fit.model.dense_weights().ravel() for fit in fits])
        if reason is None and values[-1] != C and trying.passed:
            reason = OUT_OF_TIME
        if reason is not None:
            break
    best = max(tried, key=lambda one: one.mean_score)  # the first, so the smallest C, of equals
    chosen = replace(recipe, C=best.C)
    fitted = _finished(fit_model(rows, y, replace(chosen, max_seconds=whole.share())))
    # The model tells what was asked for, not what was left of it.
    fitted = replace(fitted, model=replace(fitted.model, settings=chosen.settings()))
    return ModelSearch(tuple(tried), best, fitted.solutions[0], "accuracy", reason, tuple(values[len(tried) :]), fitted)


class _Fold:
    """Rows to train on and rows to test with."""

    def __init__(self, rows: Matrix, y: NDArray[Any], held_out: NDArray[np.bool_]) -> None:
        train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        self.train, self.train_y = rows.take(train), y[train]
        self.test, self.test_y = rows.take(test), y[test]

    def fitted(self, recipe: Recipe) -> Fitted:
        return _finished(fit_model(self.train, self.train_y, recipe))

    def accuracy(self, fit: Fitted) -> float:
        classes = np.unique(self.train_y)  # in the order of the model's
        return float(np.mean(classes[fit.model.chosen(fit.model.scores(self.test))] == self.test_y))


def _finished(fitted: Fitted) -> Fitted:
    if fitted.interrupted:
        raise KeyboardInterrupt
    return fitted


def _largest_class(rows: Matrix, y: NDArray[Any], recipe: Recipe) -> Problem:
    """The most frequent class against the rest: from where on C matters to it, it matters."""
    found, counts = np.unique(y, return_counts=True)
    return Problem(
        rows,
        y == found[np.argmax(counts)],
        recipe.loss,
        recipe.penalty,
        l1_ratio=recipe.l1_ratio,
        intercept=recipe.intercept,
        intercept_scaling=recipe.bias,
        **recipe.parameters,
    )


def _candidate(C: float, fits: list[Fitted], scores: list[float]) -> Candidate:
    solutions = [one for fit in fits for one in fit.solutions]
    return Candidate(
        C=C,
        scores=tuple(scores),
        nonzeros=float(np.mean([fit.model.nonzeros for fit in fits])),
        passes=float(sum(one.trace[-1].passes for one in solutions)),
        seconds=float(sum(one.seconds for one in solutions)),
        converged=all(fit.converged for fit in fits),
    )
