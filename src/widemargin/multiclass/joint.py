"""Crammer and Singer's SVM and maximum entropy as models: one problem, one weight vector per class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..solvers.base import Solver
from ..solvers.solve import solve
from .base import MulticlassModel, highest_score
from .problem import MulticlassProblem


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
    >>> model.predict([[0.5], [9.5]]), model.certificates[0].relative_gap <= 1e-6
    (array([0, 2], dtype=int32), True)
    """
    # A MulticlassProblem offers what the driver asks of a Problem.
    solution = solve(problem, solver, **settings)  # type: ignore[arg-type]
    coef, intercept = problem.split(solution.coef)
    return MulticlassModel(coef, np.asarray(intercept), problem.classes, (solution,), highest_score)
