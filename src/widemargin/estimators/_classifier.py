"""Linear classifiers: labels in, one model per class or one for two classes, labels out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ..multiclass import make_strategy
from ..multiclass.joint import Joint
from ..multiclass.labelled import Labelled
from ..multiclass.solving import Ask
from ..objective.problem import Problem
from ..objective.weighted_rows import as_rows
from ..solvers.base import Solver
from ..solvers.registry import make_solver
from ._linear import LinearModel
from ._shared import intercept_kind, known_solver, require_loss, require_penalty, validated
from ._targets import Target, read_target


class LinearClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """Predicts classes by linear scores. Subclasses hold the parameters; `loss` may be fixed by the class."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : matrix of shape (rows, features)
            Sparse or dense, float32 or float64 without a copy; data frames too. Or a file, which brings labels and
            weights along: a `BlockFile`, for data larger than memory, or the path of LIBSVM text, of .npz or of a file
            of blocks, whose rows are read into memory if they fit.
        y : array of shape (rows,), or an indicator matrix of shape (rows, labels)
            Classes of any type that has an order; or a column of 0 and 1 for each of several labels.
        sample_weight : array of shape (rows,), optional
            Multiplies C per row; a weight of two counts as the row given twice.

        Returns
        -------
        self
        """
        settings, effort = self._problem_settings(), self._effort()
        X, y, sample_weight = self._given(X, y, sample_weight)
        X = validated(self, X, fitting=True)
        target = read_target(y, X.shape[0], self._multi_class())
        effort = replace(effort, solver=self._solver_name(target))
        weights = target.weights(X, self.class_weight, sample_weight)
        data = Labelled(as_rows(X), target.codes, target.classes, weights)
        starts = self._starts(X.shape[1]) if self._same_kind(target) else ()
        found = target.strategy.fit(data, settings, Ask(effort, starts, self._solver(), self._watch()))
        self.classes_ = target.classes
        self._target = target.without_rows()
        self.coef_, self.intercept_ = found.coef, found.intercept
        self._keep(found.solutions)
        self._report_end(found.problem)
        return self

    def _penalty(self) -> tuple[str, float]:
        """The penalty's name and the share of l1 in it."""
        return require_penalty(type(self).__name__, self.penalty), self.l1_ratio

    def _multi_class(self) -> str:
        """How several classes are told apart."""
        return str(self.multi_class)

    def _solver_name(self, target: Target) -> str | Solver:
        """The solver for that kind of target; one of all classes leaves two classes, or several labels, to "auto"."""
        solver = known_solver(self.solver)
        at_once = isinstance(make_strategy(self._multi_class()), Joint) and not isinstance(target.strategy, Joint)
        return "auto" if at_once and solver != "auto" and not make_solver(solver).can_take(Problem) else solver

    def _same_kind(self, target: Target) -> bool:
        """Whether the last fit was of the same classes by the same method, so that its models correspond to ours."""
        last = getattr(self, "_target", None)
        return last is not None and last.strategy == target.strategy and np.array_equal(last.classes, target.classes)

    def _problem_settings(self) -> dict[str, Any]:
        """The keyword arguments of `Problem` that all models share."""
        require_loss(type(self).__name__, self.loss, classification=True)
        penalty, l1_ratio = self._penalty()
        return {
            "loss": self.loss,
            "penalty": penalty,
            "C": self.C,
            "l1_ratio": l1_ratio,
            "intercept": intercept_kind(self.fit_intercept, self.intercept),
            "intercept_scaling": self.intercept_scaling,
        }

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed scores: for two classes above zero for the second, otherwise one column per class or label.

        Parameters
        ----------
        X : matrix of shape (rows, features)

        Returns
        -------
        array of shape (rows,) or (rows, classes)
        """
        scores = self._scores(X)
        return self._target.strategy.decision(scores, len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row, or a table of 0 and 1 if `y` was one.

        Parameters
        ----------
        X : matrix of shape (rows, features)

        Returns
        -------
        array of shape (rows,) or (rows, labels)
        """
        scores = self._scores(X)
        chosen: NDArray[Any] = self._target.labels(self._target.strategy.predict(scores, len(self.classes_)))
        return chosen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
