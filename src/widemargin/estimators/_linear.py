"""The part of a linear estimator that does not depend on what it fits: solving, starting, predicting."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..data.matrix import Matrix
from ..multiclass.solving import Solve, Watch, solve_plainly
from ..objective.weighted_rows import as_rows
from ..solvers.effort import Effort
from ..solvers.run.solution import Solution
from ._given import Given, given_rows
from ._shared import known_solver, seed_of, validated
from ._solved import SolvedModel

Table = NDArray[np.float64]


def _shown(title: str, tol: float) -> AbstractContextManager[Any]:
    from ..progress import show_progress

    return show_progress(tol)


class LinearModel(SolvedModel):
    """Fits linear models and predicts with them. Subclasses hold the parameters and build the problem."""

    coef_: Any  # an array, or a SciPy sparse one after `sparsify`
    memory: Any = None  # what a fit from disk may use

    def _given(self, X: Any, y: Any, sample_weight: Any) -> Given:
        """Rows, labels and weights, of a file as well."""
        solver, threads = known_solver(self.solver), self._threads()
        return given_rows(X, y, sample_weight, memory=self.memory, solver=solver, n_jobs=threads)

    def _effort(self) -> Effort:
        """What all models together may cost; the seed is drawn once, however many there are."""
        return Effort(
            solver=known_solver(self.solver),
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed_of(self.random_state),
            n_jobs=self._threads(),
        )

    def _solver(self) -> Solve:
        """How each model is solved."""
        return solve_plainly

    def _watch(self) -> Watch | None:
        """Who shows the progress of a run, if anybody does."""
        return _shown if self.verbose else None

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
        rows, threads = as_rows(X), self._threads()
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
