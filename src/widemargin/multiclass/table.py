"""The coefficients of several models, gathered as they are solved.

Of thousands of models a table of all coefficients may not fit the memory. Where it would be large, each model is kept
by its nonzeros as soon as it is solved, and if these are few, as an l1 penalty leaves them, the table is a sparse one.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solvers.run.solution import SlimSolution, Solution
from ..vectors import Vector
from .labelled import Table
from .parts import OneProblem, OneSided, Part

if TYPE_CHECKING:
    import scipy.sparse as sp

# Bytes of coefficients beyond which models are kept by their nonzeros.
LARGE_TABLE = 2**28


@dataclass(frozen=True)
class Models:
    """One row of coefficients and one intercept per model, and the solutions that they come from."""

    coef: Table | sp.csr_array  # sparse where a dense table would be large and nearly empty
    intercept: Vector
    solutions: tuple[Solution, ...]
    missing: int = 0  # models that Ctrl-C left unsolved
    parts: Sequence[Part] = field(default=(), repr=False)  # what the solutions are of

    def problem(self, number: int) -> OneProblem:
        """The problem of a model, made anew."""
        made = self.parts[number].make()
        assert not isinstance(made, OneSided)  # which has nothing to be asked about
        return made


class CoefficientTable:
    """One row per model. Solutions look into it, so that the coefficients are held once."""

    def __init__(self, n_models: int, n_features: int) -> None:
        self._shape = n_models, n_features
        self._large = 8 * n_models * n_features > LARGE_TABLE
        self._dense: Table | None = None
        self._making = threading.Lock()

    def dense(self) -> Table:
        """The table itself, made when it is first asked for."""
        with self._making:
            if self._dense is None:
                self._dense = np.empty(self._shape)
            return self._dense

    def keep(self, model: int, solution: Solution) -> Solution:
        """The solution as it is to be kept."""
        if self._large and _is_sparse(solution.coef):
            return SlimSolution(solution)
        row = self.dense()[model]
        row[:] = solution.coef
        # Of many models, the products of their points are not needed again.
        return replace(solution, coef=row, point=replace(solution.point.bare(), w=row))

    def models(self, solutions: Sequence[Solution]) -> Models:
        """The table of all models, or of the first ones if the others are missing."""
        slim = [solution for solution in solutions if isinstance(solution, SlimSolution)]
        coef: Any = _sparse_table(slim) if len(slim) == len(solutions) else self._filled(solutions)
        intercept = np.array([solution.intercept for solution in solutions])
        return Models(coef, intercept, tuple(solutions), self._shape[0] - len(solutions))

    def _filled(self, solutions: Sequence[Solution]) -> Table:
        table = self.dense()
        for model, solution in enumerate(solutions):
            if isinstance(solution, SlimSolution):
                table[model] = solution.coef
        return table[: len(solutions)]


def _is_sparse(coef: Vector) -> bool:
    """Whether the nonzeros, with their places, take less than half the memory of all coefficients."""
    return 4 * int(np.count_nonzero(coef)) < len(coef)


def _sparse_table(solutions: Sequence[SlimSolution]) -> sp.csr_array:
    """One row of coefficients per model."""
    import scipy.sparse as sp  # where models are that many

    begin = np.cumsum([0, *(solution.nonzeros for solution in solutions)])
    at, values = (np.concatenate([getattr(s, name) for s in solutions]) for name in ("at", "values"))
    return sp.csr_array((values, at, begin), shape=(len(solutions), solutions[0].size))
