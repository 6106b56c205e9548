"""The weights of a chain as native steps change them: pairs of features, and the table of transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...vectors import Vector, inner

if TYPE_CHECKING:
    from ...objective.chains.problem import ChainProblem


class ChainWeights:
    """A coefficient vector taken apart; transitions without a weight stay zero."""

    def __init__(self, problem: ChainProblem, coef: Vector) -> None:
        self._pairs = problem.pairs
        self.used = problem.pairs.used_edges
        self.set(coef)

    def set(self, coef: Vector) -> None:
        """Takes those coefficients."""
        self.w = np.array(coef[: self._pairs.n_feature_weights])
        self.edge = np.array(self._pairs.edge_table(coef)).reshape(-1)

    @property
    def coef(self) -> Vector:
        """The coefficients as one vector, a copy."""
        return np.concatenate([self.w, self._pairs.joined_edges(self.edge)])

    @property
    def half_square(self) -> float:
        """1/2 |w|^2"""
        return 0.5 * (inner(self.w, self.w) + inner(self.edge, self.edge))
