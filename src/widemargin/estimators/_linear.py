"""The part of a linear estimator that does not depend on what it fits: solving, starting, predicting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..data.matrix import Matrix
from ..multiclass.strategy import GoOn, Solve
from ..objective.problem import Problem
from ..solvers.base import Solver
from ..solvers.run.solution import Solution
from ..solvers.solve import solve
from ._shared import known_solver, seed_of, validated
from ._solved import SolvedModel

Table = NDArray[np.float64]


class LinearModel(SolvedModel):
    """Fits linear models and predicts with them. Subclasses hold the parameters and build the problem."""

    coef_: Any  # an array, or a SciPy sparse one after `sparsify`

    def _solve_settings(self) -> dict[str, Any]:
        """What `solve` is to be told; the seed is drawn once, however many problems there are."""
        return {
            "solver": known_solver(self.solver),
            "tol": self.tol,
            "max_iter": self.max_iter,
            "seed": seed_of(self.random_state),
        }

    def _solver(self, settings: dict[str, Any]) -> Solve:
        """`solve` with those settings."""

        def run(problem: Problem, start: Solution | None, n_jobs: int) -> Solution:
            return solve(problem, **settings, n_jobs=n_jobs, warm_start=start, progress=self._shows(n_jobs))

        return run

    def _go_on(self, settings: dict[str, Any]) -> GoOn | None:
        """The same by a solver that has begun already; None where a model is more than one call of `solve`."""

        def run(problem: Problem, begun: Solver, n_jobs: int) -> Solution:
            return solve(problem, **{**settings, "solver": begun}, n_jobs=n_jobs, progress=self._shows(n_jobs))

        return run

    def _shows(self, n_jobs: int) -> bool:
        """Whether a run on so many threads shows its progress: side by side, lines would mix."""
        return bool(self.verbose) and n_jobs == self._threads()

    def _starts(self, n_features: int) -> tuple[Solution, ...]:
        """The last solutions, if a warm start is asked for and the features are as many."""
        last: Sequence[Solution] = getattr(self, "solutions_", ()) if self.warm_start else ()
        return tuple(last) if last and self.coef_.shape[-1] == n_features else ()

    def _scores(self, X: Any) -> Table:
        """X coef^T + intercept, one column per model."""
        check_is_fitted(self)
        X = validated(self, X)
        intercepts = np.atleast_1d(self.intercept_)
        if sp.issparse(self.coef_):
            Matrix(X)  # names what is not finite
            product = X @ self.coef_.T
            scores: Table = np.asarray(product.toarray() if sp.issparse(product) else product) + intercepts
            return scores
        rows, threads = Matrix(X), self._threads()
        columns = zip(np.atleast_2d(self.coef_), intercepts, strict=True)
        return np.column_stack([rows.matvec(w, float(b), n_jobs=threads) for w, b in columns])

    def sparsify(self) -> Self:
        """Makes `coef_` a SciPy sparse matrix: smaller where an l1 penalty has left few nonzeros.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if not sp.issparse(self.coef_):
            self.coef_ = sp.csr_array(np.atleast_2d(self.coef_))
        return self

    def densify(self) -> Self:
        """Makes `coef_` a NumPy array again.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
