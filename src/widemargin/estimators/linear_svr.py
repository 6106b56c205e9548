"""Linear support vector regression with scikit-learn's interface."""

from __future__ import annotations

from typing import Any

from ..objective.losses import LOSSES
from ..solvers.base import Solver
from ._regressor import LinearRegressor
from ._shared import intercept_kind, require_loss, require_penalty


class LinearSVR(LinearRegressor):
    """Linear support vector regression, fitted to a proven accuracy.

    Minimises R(w) + C sum_i weight_i max(0, |y_i - x_i . w - b| - epsilon), or the same with the square of the
    maximum, until the objective is within a share `tol` of the best possible one.

    Parameters
    ----------
    epsilon : float
        Errors up to this size cost nothing.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "squared"}
    penalty : {"l2", "l1", "elasticnet"}
    C : float
        Weight of the losses against the penalty.
    l1_ratio : float
        Share of l1 in the elastic net.
    tol : float
        The relative duality gap to reach: (primal - dual) / primal <= tol.
    fit_intercept, intercept, intercept_scaling, max_iter, solver, dual, random_state, n_jobs, warm_start, verbose, \
memory
        As in `LinearSVC`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    certificate_, solution_, trace_, solver_, n_iter_
        As in `LinearSVC`.

    Examples
    --------
    >>> from widemargin import LinearSVR
    >>> model = LinearSVR(C=100.0, tol=1e-6).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(3)
    array([7.])
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        loss: str = "epsilon_insensitive",
        penalty: str = "l2",
        C: float = 1.0,
        l1_ratio: float = 0.5,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        dual: bool | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        memory: int | str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.loss = loss
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.solver = solver
        self.dual = dual
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.memory = memory

    def _problem_settings(self, total_weight: float, output: int = 0) -> dict[str, Any]:
        name = type(self).__name__
        require_loss(name, self.loss, classification=False, parameters=("epsilon",))
        return {
            "loss": self.loss,
            "penalty": require_penalty(name, self.penalty),
            "C": self.C,
            "l1_ratio": self.l1_ratio,
            "intercept": intercept_kind(self.fit_intercept, self.intercept),
            "intercept_scaling": self.intercept_scaling,
            **{known: getattr(self, known) for known in LOSSES[self.loss].parameters},
        }
