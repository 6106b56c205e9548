"""From rows and labels to a model: two classes, one against the rest, regression and one-class, by one recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import Matrix
from ..deadline import Deadline
from ..objective.class_weights import balanced_factors, given_factors
from ..objective.problem import Problem
from ..solvers.run.several import solve_each
from ..solvers.run.solution import Solution, Status
from ..solvers.solve import solve
from ..threads import thread_count
from .model import Model, certificate_facts, plain_label

if TYPE_CHECKING:
    from ..solvers.run.side_by_side import Begun

# Given a title for each run: a context that yields a callback for `solve`, or None.
Watch = Callable[[str, float], AbstractContextManager[Any]]


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

    def settings(self) -> dict[str, Any]:
        """What the model keeps: all that decides it."""
        kept = {k: v for k, v in asdict(self).items() if v not in (None, {}, False) and k != "n_jobs"}
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

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the training."""
        return any(one.status is Status.INTERRUPTED for one in self.solutions)

    @property
    def ran_out(self) -> bool:
        """Whether the limit on time ended a run."""
        return any(one.status is Status.TIME_LIMIT for one in self.solutions)

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
    rows = Matrix(X)
    if y is None and recipe.task != "one_class":
        raise ValueError("the data have no labels: name their column (--label)")
    fit = _ALL_CLASSES_AT_ONCE.get(recipe.loss) or _TASKS[recipe.task]
    return fit(rows, y, recipe, features or {}, watch or _unwatched)


class _Unwatched:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None


def _unwatched(title: str, tol: float) -> AbstractContextManager[Any]:
    return _Unwatched()


def _solve(
    problem: Any, recipe: Recipe, watch: Watch, title: str, seconds: float | None, begun: Begun | None = None
) -> Solution:
    with watch(title, recipe.tol) as callback:
        return solve(
            cast(Problem, problem),
            begun or recipe.solver,
            tol=recipe.tol,
            max_iter=recipe.max_iter,
            max_seconds=seconds,
            seed=recipe.seed,
            n_jobs=recipe.n_jobs,
            callback=callback,
        )


def _problem(X: Matrix, y: Any, recipe: Recipe, weights: Any = None) -> Problem:
    return Problem(
        X,
        y,
        loss=recipe.loss,
        penalty=recipe.penalty,
        C=recipe.C,
        l1_ratio=recipe.l1_ratio,
        intercept=recipe.intercept,
        intercept_scaling=recipe.bias,
        sample_weight=weights,
        **recipe.parameters,
    )


def _classes_of(y: Any) -> tuple[list[Any], NDArray[Any]]:
    """The classes in ascending order, and the position of each row's class among them."""
    found, codes = np.unique(y, return_inverse=True)
    classes = [plain_label(label) for label in found]
    if len(classes) < 2:
        raise ValueError(f"the data hold one class only ({classes[0]!r}): two are needed to tell them apart")
    return classes, codes


def _classification(X: Matrix, y: Any, recipe: Recipe, features: Mapping[str, Any], watch: Watch) -> Fitted:
    classes, codes = _classes_of(y)
    if len(classes) == 2:
        problem = _problem(X, np.where(codes == 1, 1, -1), recipe, _row_weights(recipe, classes, codes))
        solutions = [_solve(problem, recipe, watch, "", recipe.max_seconds)]
        return _fitted(solutions, recipe, features, classes)
    if recipe.pairs:
        return _all_pairs(X, classes, codes, recipe, features, watch)
    titles = [f"class {label} ({k + 1} of {len(classes)})" for k, label in enumerate(classes)]

    def problem_of(k: int) -> Problem:
        own = codes == k
        return _problem(X, np.where(own, 1, -1), recipe, _row_weights(recipe, classes, codes, own))

    deadline = Deadline.after(recipe.max_seconds)
    begun = None if recipe.class_weight else _begin_together(problem_of(0), codes, len(classes), recipe)
    solutions = _solve_each(titles, problem_of, recipe, watch, deadline, begun)
    if len(solutions) < 3 and len(solutions) < len(classes):
        raise KeyboardInterrupt  # a model of two of many classes would be mistaken for a whole one
    return _fitted(solutions, recipe, features, classes[: len(solutions)], len(classes) - len(solutions))


def _all_pairs(
    X: Matrix, classes: list[Any], codes: NDArray[Any], recipe: Recipe, features: Mapping[str, Any], watch: Watch
) -> Fitted:
    """One against one: each pair of classes on its own rows, the larger class above zero."""
    from ..multiclass.one_vs_one import pair_rows

    weights = _row_weights(recipe, classes, codes)
    pairs = list(combinations(range(len(classes)), 2))
    titles = [f"{classes[p]} or {classes[q]} ({at + 1} of {len(pairs)})" for at, (p, q) in enumerate(pairs)]

    def problem_of(at: int) -> Problem:
        rows, labels = pair_rows(codes, pairs[at])
        return _problem(X.take(rows), labels, recipe, None if weights is None else weights[rows])

    solutions = _solve_each(titles, problem_of, recipe, watch, Deadline.after(recipe.max_seconds))
    if len(solutions) < len(pairs):
        raise KeyboardInterrupt  # pairs that are missing cannot vote
    return _fitted(solutions, recipe, features, classes, decision="pairs")


def _begin_together(first: Problem, codes: NDArray[Any], count: int, recipe: Recipe) -> list[Begun] | None:
    """The first passes of all classes side by side, in half of the time at the most; None where that does not pay."""
    from ..solvers.run.side_by_side import begin_together  # not needed for two classes

    return begin_together(
        first,
        lambda k: np.asarray(codes == k),
        count,
        solver=recipe.solver,
        tol=recipe.tol,
        max_iter=recipe.max_iter,
        seed=recipe.seed,
        workers=thread_count(recipe.n_jobs),
        max_seconds=None if recipe.max_seconds is None else recipe.max_seconds / 2,
    )


def _solve_each(
    titles: Sequence[str],
    problem_of: Callable[[int], Problem],
    recipe: Recipe,
    watch: Watch,
    deadline: Deadline,
    begun: Sequence[Begun] | None = None,
) -> list[Solution]:
    """Solves the problems in turn, each with its share of the time that is left, until Ctrl-C."""

    def fit(k: int, seconds: float | None) -> Solution:
        problem = problem_of(k)
        if begun is None:
            return _solve(problem, recipe, watch, titles[k], seconds)
        return _solve(begun[k].reminded(problem), recipe, watch, titles[k], seconds, begun[k])

    return solve_each(fit, len(titles), max_seconds=deadline.share())


def _row_weights(
    recipe: Recipe, classes: list[Any], codes: NDArray[Any], own: NDArray[np.bool_] | None = None
) -> NDArray[np.float64] | None:
    """What multiplies C in each row: the factor of its class.

    Of one class (`own`) against the rest, the factor that was given for a class counts in its own rows alone, as in
    LIBLINEAR; `balanced` counts everywhere.
    """
    if not recipe.class_weight and not recipe.balanced:
        return None
    weights: NDArray[np.float64] = given_factors([str(label) for label in classes], recipe.class_weight)[codes]
    if own is not None:
        weights = np.where(own, weights, 1.0)
    if recipe.balanced:
        weights = weights * balanced_factors(codes, len(classes))[codes]
    return weights


def _crammer_singer(X: Matrix, y: Any, recipe: Recipe, features: Mapping[str, Any], watch: Watch) -> Fitted:
    from ..objective.crammer_singer import CrammerSingerProblem  # with SciPy, which the other tasks do without

    classes, codes = _classes_of(y)
    problem = CrammerSingerProblem(
        X,
        codes,
        recipe.C,
        intercept=recipe.intercept,
        intercept_scaling=recipe.bias,
        sample_weight=_row_weights(recipe, classes, codes),
    )
    solution = _solve(problem, recipe, watch, "", recipe.max_seconds)
    W, intercepts = problem.split(solution.coef)
    model = Model(
        W, intercepts, recipe.task, classes, recipe.loss, recipe.settings(), [certificate_facts(solution)], features
    )
    return Fitted(model, [solution])


def make_problem(X: Matrix, y: Any, recipe: Recipe) -> Any:
    """The one problem of a recipe whose labels are of two classes, are numbers, or do not matter."""
    if recipe.task == "one_class":
        return _one_class_problem(X, recipe)
    if y is None:
        raise ValueError("the data have no labels: name their column (--label)")
    return _problem(X, y, recipe)


def _regression(X: Matrix, y: Any, recipe: Recipe, features: Mapping[str, Any], watch: Watch) -> Fitted:
    return _fitted([_solve(_problem(X, y, recipe), recipe, watch, "", recipe.max_seconds)], recipe, features, [])


def _one_class(X: Matrix, y: Any, recipe: Recipe, features: Mapping[str, Any], watch: Watch) -> Fitted:
    return _fitted([_solve(_one_class_problem(X, recipe), recipe, watch, "", recipe.max_seconds)], recipe, features, [])


def _one_class_problem(X: Matrix, recipe: Recipe) -> Any:
    from ..objective.one_class import OneClassProblem

    return OneClassProblem(X, recipe.nu)


_TASKS: dict[str, Callable[..., Fitted]] = {
    "classification": _classification,
    "regression": _regression,
    "one_class": _one_class,
}

_ALL_CLASSES_AT_ONCE: dict[str, Callable[..., Fitted]] = {"crammer_singer": _crammer_singer}


def _fitted(
    solutions: list[Solution],
    recipe: Recipe,
    features: Mapping[str, Any],
    classes: list[Any],
    left_out: int = 0,
    decision: str = "scores",
) -> Fitted:
    model = Model(
        np.stack([one.coef for one in solutions]),
        [one.intercept for one in solutions],
        recipe.task,
        classes,
        recipe.loss,
        recipe.settings(),
        [certificate_facts(one) for one in solutions],
        features,
        decision=decision,
    )
    return Fitted(model, solutions, left_out)
