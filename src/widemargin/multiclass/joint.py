"""Crammer and Singer's SVM and maximum entropy as models: one problem, one weight vector per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..data.rows import Rows
from ..objective.crammer_singer import CrammerSingerProblem
from ..objective.loss_parameters import checked
from ..objective.maximum_entropy import MaximumEntropyProblem
from ..objective.multiclass import MulticlassProblem
from ..solvers.base import Solver
from ..solvers.solve import solve
from .base import MulticlassModel, highest_score
from .labelled import Labelled, Table
from .parts import Part
from .solving import Ask, solve_models
from .strategy import Strategy
from .table import Models

# The settings that such problems have, and those that they meet otherwise: they know one loss and one penalty.
SHARED = ("C", "intercept", "intercept_scaling")
OTHERS = ("loss", "penalty", "l1_ratio")


def fit_joint(problem: MulticlassProblem, solver: str | Solver = "auto", **settings: Any) -> MulticlassModel:
    """Solves a `CrammerSingerProblem` or `MaximumEntropyProblem`; the highest score decides.

    Parameters
    ----------
    problem : CrammerSingerProblem or MaximumEntropyProblem
    solver : "auto", the name of a solver, or a Solver with its settings
    **settings
        What else `solve` takes, such as `tol` and `n_jobs`.

    Examples
    --------
    >>> from widemargin import MaximumEntropyProblem, fit_joint
    >>> problem = MaximumEntropyProblem([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "c"], intercept="free", C=10.0)
    >>> model = fit_joint(problem, tol=1e-6)
    >>> model.predict([[0.5], [9.5]]).tolist(), model.certificates[0].relative_gap <= 1e-6
    (['a', 'c'], True)
    """
    solution = solve(problem, solver, **settings)
    coef, intercept = problem.decode(solution.coef)
    return MulticlassModel(coef, np.asarray(intercept), problem.classes, (solution,), highest_score)


class Joint(Strategy):
    """One problem that knows all classes; the highest score wins."""

    name: ClassVar[str]
    problem: ClassVar[type[MulticlassProblem]]
    losses: ClassVar[frozenset[str]]  # of the models for two classes that go with it

    def parts(self, data: Labelled, settings: Mapping[str, Any]) -> Sequence[Part]:
        """The one problem."""
        problem = self.problem_of(data.X, data.codes, data.common_weights, settings)
        return [Part(lambda: problem)]

    def problem_of(self, X: Rows, y: Any, weights: Any, settings: Mapping[str, Any]) -> MulticlassProblem:
        """The problem of all classes in y; of the settings it takes those that it knows."""
        self._require(settings)
        shared = {name: settings[name] for name in SHARED if name in settings}
        own = {name: settings[name] for name in settings.keys() - {*SHARED, *OTHERS}}
        checked(f"loss {settings['loss']!r}", {}, own)  # parameters of other losses
        return self.problem(X, y, sample_weight=weights, **shared)

    def fit(self, data: Labelled, settings: Mapping[str, Any], ask: Ask) -> Models:
        """One fit, its passes on up to n_jobs threads; its coefficients hold those of all classes."""
        (part,) = self.parts(data, settings)
        problem: Any = part.make()
        (solution,) = solve_models([part], problem.size, ask).solutions
        coef, intercept = problem.decode(solution.coef)
        return Models(coef, intercept, (solution,), parts=[part])

    def subjects(self, classes: Sequence[Any]) -> list[tuple[Any, int]]:
        """Every class, in the one solution."""
        return [(one, 0) for one in classes]

    def _require(self, settings: Mapping[str, Any]) -> None:
        loss, penalty = settings["loss"], settings["penalty"]
        if loss not in self.losses and loss != self.name:
            raise ValueError(
                f"multi_class={self.name!r} does not go with loss={loss!r}: use 'ovr', 'ovo' or 'dag', or one of the "
                f"losses {', '.join(sorted(self.losses))}"
            )
        if penalty != "l2":
            raise ValueError(
                f"multi_class={self.name!r} needs penalty='l2', got {penalty!r}: use 'ovr', 'ovo' or 'dag'"
            )


@dataclass(frozen=True)
class JointSVM(Joint):
    """Crammer and Singer's SVM. Its loss is its own: of the hinge losses, neither is meant."""

    name = "crammer_singer"
    problem = CrammerSingerProblem
    losses = frozenset({"hinge", "squared_hinge"})


@dataclass(frozen=True)
class Multinomial(Joint):
    """Maximum entropy."""

    name = "multinomial"
    problem = MaximumEntropyProblem
    losses = frozenset({"logistic"})
    has_probabilities = True

    def probabilities(self, scores: Table, n_classes: int) -> Table:
        """softmax(scores)"""
        from scipy.special import softmax  # not before somebody wants probabilities

        return np.asarray(softmax(scores, axis=1))
