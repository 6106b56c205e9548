"""From rows and labels to a model: a recipe says what is solved, `multiclass` makes models of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.rows import Rows
from ..multiclass import JOINT, make_strategy
from ..multiclass.binary import Binary
from ..multiclass.labelled import Labelled
from ..multiclass.parts import Part
from ..multiclass.solving import Ask, Watch, solve_models
from ..multiclass.strategy import Strategy
from ..multiclass.table import Models
from ..objective.class_weights import balanced_factors, given_factors
from ..objective.problem import Problem
from ..objective.weighted_rows import as_rows
from ..solvers.base import Solver
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution, Status
from .model import Model, certificate_facts, plain_label

# Classes that a model must have at least if Ctrl-C left some out: one of two would be taken for a whole one.
FEWEST_KEPT = 3


@dataclass(frozen=True)
class Recipe:
    """All that decides the model besides the data."""

    loss: str = "squared_hinge"
    penalty: str = "l2"
    task: str = "classification"
    C: float = 1.0
    l1_ratio: float = 0.5
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of the loss
    nu: float = 0.5
    intercept: str = "none"
    bias: float = 1.0
    class_weight: Mapping[str, float] = field(default_factory=dict)
    balanced: bool = False
    solver: str = "auto"
    tol: float = 1e-3
    max_seconds: float | None = None
    max_iter: int | None = None
    n_jobs: int = 1
    seed: int = 0
    pairs: bool = False  # more than two classes: one against one
    liblinear: str | None = None
    resume: str | None = None  # a file for the state of a fit from disk, which goes on from it

    def effort(self) -> Effort:
        """What all fits together may cost."""
        return Effort(self._solver(), self.tol, self.max_iter, self.max_seconds, self.seed, self.n_jobs)

    def _solver(self) -> str | Solver:
        if self.resume is None:
            return self.solver
        from ..solvers.dual.block_dual_cd import BlockDualCD

        return BlockDualCD(resume=self.resume)

    def problem(self) -> dict[str, Any]:
        """The words of `Problem` that all models share."""
        return {
            "loss": self.loss,
            "penalty": self.penalty,
            "C": self.C,
            "l1_ratio": self.l1_ratio,
            "intercept": self.intercept,
            "intercept_scaling": self.bias,
            **self.parameters,
        }

    def settings(self) -> dict[str, Any]:
        """What the model keeps: all that decides it."""
        kept = {k: v for k, v in asdict(self).items() if v not in (None, {}, False) and k not in ("n_jobs", "resume")}
        kept |= kept.pop("parameters", {})
        # LIBLINEAR's bias: -1 where there is no constant feature.
        kept["bias"] = self.bias if self.intercept == "regularized" else 1.0 if self.intercept == "free" else -1.0
        return kept


@dataclass(frozen=True)
class Fitted:
    """A model with the runs that led to it, one per row of weights."""

    model: Model
    solutions: list[Solution]
    left_out: int = 0  # classes that an interruption left untrained
    said: str = ""  # of the worst run, if it did not converge: how it ended, and what would help

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the training."""
        return any(one.status is Status.INTERRUPTED for one in self.solutions)

    @property
    def converged(self) -> bool:
        """Whether every run reached its tolerance."""
        return not self.left_out and all(one.converged for one in self.solutions)


def fit_model(
    X: Any,
    y: NDArray[Any] | None,
    recipe: Recipe,
    features: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
) -> Fitted:
    """Trains the model that the recipe asks for.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.model.fit import Recipe, fit_model
    >>> fitted = fit_model([[0.0], [1.0], [3.0]], np.array([-1, -1, 1]), Recipe(loss="hinge", intercept="free"))
    >>> fitted.model.predict([[0.0], [3.0]])
    [-1, 1]
    """
    rows, ask = as_rows(X), Ask(recipe.effort(), watch=watch, in_turn=True)
    if recipe.task != "classification":
        problem = one_problem(rows, y, recipe)
        return fitted_of(solve_models([Part(lambda: problem)], rows.shape[1], ask), recipe, features)
    strategy, data = labelled(rows, y, recipe)
    models = strategy.fit(data, recipe.problem(), ask)
    if models.missing and (strategy.decides == "pairs" or len(models.solutions) < FEWEST_KEPT):
        raise KeyboardInterrupt  # pairs that are missing cannot vote
    return fitted_of(models, recipe, features, list(data.classes), strategy)


def labelled(X: Rows, y: Any, recipe: Recipe) -> tuple[Strategy, Labelled]:
    """The method that the recipe means for these labels, and the rows with their classes and weights.

    The factor that was given for a class is LIBLINEAR's; `balanced` counts in every row of every model.
    """
    found, codes = np.unique(_required(y), return_inverse=True)
    classes = [plain_label(label) for label in found]
    if len(classes) < 2:
        raise ValueError(f"the data hold one class only ({classes[0]!r}): two are needed to tell them apart")
    weights = balanced_factors(codes, len(classes))[codes] if recipe.balanced else None
    brought = getattr(X, "sample_weight", None)  # of a file whose rows have weights
    weights = weights if brought is None else brought if weights is None else weights * brought
    own = given_factors([str(label) for label in classes], recipe.class_weight) if recipe.class_weight else None
    return _strategy(recipe, len(classes)), Labelled(X, codes, classes, weights, own)


def _strategy(recipe: Recipe, n_classes: int) -> Strategy:
    if recipe.loss in JOINT:
        return make_strategy(recipe.loss)
    if n_classes == 2:
        return Binary()
    return make_strategy("ovo" if recipe.pairs else "ovr")


def one_problem(X: Rows, y: Any, recipe: Recipe) -> Any:
    """The one problem of a recipe whose labels are of two classes, are numbers, or do not matter."""
    if recipe.task != "one_class":
        return Problem(X, _required(y), sample_weight=getattr(X, "sample_weight", None), **recipe.problem())
    from ..objective.one_class import OneClassProblem

    return OneClassProblem(X, recipe.nu)


def _required(y: Any) -> Any:
    if y is None:
        raise ValueError("the data have no labels: name their column (--label)")
    return y


def fitted_of(
    models: Models,
    recipe: Recipe,
    features: Mapping[str, Any] | None = None,
    classes: Sequence[Any] = (),
    strategy: Strategy | None = None,
) -> Fitted:
    """The models that were fitted by the recipe as one that can be saved; classes that are missing are left out."""
    model = Model(
        models.coef,
        models.intercept,
        recipe.task,
        classes[: len(classes) - models.missing],
        recipe.loss,
        recipe.settings(),
        [certificate_facts(one) for one in models.solutions],
        features or {},
        decision="scores" if strategy is None else strategy.decides,
    )
    return Fitted(model, list(models.solutions), models.missing, _said_of(models, recipe))


def _said_of(models: Models, recipe: Recipe) -> str:
    worst = max(range(len(models.solutions)), key=lambda k: models.solutions[k].certificate.relative_gap)
    solution = models.solutions[worst]
    if solution.converged or not models.parts:
        return ""
    from ..solvers.advice import explain_end  # not needed where all is well

    return explain_end(models.problem(worst), solution, recipe.tol, who="the training", asked=recipe.solver)
