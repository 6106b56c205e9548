"""Whether larger values of C have something to give: the rows held out judge steps without the penalty.

At the optimum the penalty holds each coefficient against the pull of the losses,  pull = X^T v,  which with l2 is w
itself (in a rough solution the pull is right before w is). Where the penalty rules, a little more C moves a coefficient
a lot; where it does not, hardly at all. A few conjugate gradients d towards

    X^T diag(C_i h) X d = pull,      h the largest curvature of the loss, features centred if the intercept is free,

with the diagonal as preconditioner show what C has not let in yet: features of small values beside others of large ones
in the first step, directions in which features that say nearly the same differ in the next. If going there lowers the
loss of the rows held out, the score may lie on a plateau, but it is not the last one: a search goes on. Where models
fit noise already, it makes that loss worse. What is saved is measured by the loss of a constant prediction, so that the
little that is left of the loss of separable rows counts for little. It costs some ten passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ..data.rows import Rows, Table
from ..objective.multiclass import MulticlassProblem
from ..vectors import Vector

if TYPE_CHECKING:
    from ..solvers.run.solution import Solution
    from .several import OneProblem

STEPS = 6
# The lengths at which each step is judged, in its own.
LENGTHS = (0.25, 1.0, 4.0)
# A feature whose spread is below this share of its size is constant up to rounding.
CONSTANT = 1e-10
# What must be saved of the loss of a constant: to go on for nothing costs less than to stop too early.
WORTH = 0.01


def promising(savings: list[Vector]) -> bool:
    """Whether some step saves enough on the average of the folds; each fold tells what every step saves.

    Examples
    --------
    >>> import numpy as np
    >>> promising([np.array([0.1, -0.3]), np.array([0.2, -0.1])]), promising([np.array([0.3]), np.array([-0.3])])
    (True, False)
    """
    return bool(np.mean(savings, axis=0).max() > WORTH)


def savings_ahead(problem: OneProblem, solution: Solution, held_out: OneProblem) -> tuple[Vector, float]:
    """What each step made by the rows fitted saves of the loss of the rows held out, and that loss of a constant."""
    z, there = (one.predictions(one.X, solution.coef, solution.intercept) for one in (problem, held_out))
    centred = Centred.of(problem)
    now = held_out.loss_sum(there)
    after = np.full((STEPS, len(LENGTHS)), now)
    for k, d in enumerate(_steps(centred, _pull(problem, solution, z))):
        dz = (held_out.X.matmat(d) - centred.means @ d).reshape(there.shape)
        after[k:] = [held_out.loss_sum(there + t * dz) for t in LENGTHS]  # later ones too, if this is the last
    constant = np.ascontiguousarray(np.broadcast_to(problem.weights @ z / problem.weights.sum(), there.shape))
    return now - after.reshape(-1), held_out.loss_sum(constant)


@dataclass(frozen=True)
class Centred:
    """Features less their means, which are zero unless the intercept is free, and the rows' weights."""

    X: Rows
    weights: Vector
    means: Vector
    spreads: Vector  # sum_i weights_i (x_ij - mean_j)^2, zero for what does not vary

    @classmethod
    def of(cls, problem: OneProblem) -> Self:
        """The features as the losses see them."""
        weights = problem.weights * (problem.loss.most_curvature or 1.0)
        size, total = problem.X.column_sqnorms(weights), float(weights.sum())
        means = problem.X.rmatvec(weights) / total if problem.has_free_intercept else np.zeros_like(size)
        spreads = size - total * means**2
        return cls(problem.X, weights, means, np.where(spreads > CONSTANT * size, spreads, 0.0))

    def hessian_times(self, d: Table) -> Table:
        """X^T diag(weights) X d, class by class."""
        moved = self.weights[:, None] * (self.X.matmat(d) - self.means @ d)
        return self.X.rmatmat(moved) - np.outer(self.means, moved.sum(axis=0))


def _steps(centred: Centred, pull: Table) -> Iterator[Table]:
    """Conjugate gradients from zero towards where nothing is left of the pull."""
    scale = np.divide(1.0, centred.spreads, out=np.zeros_like(centred.spreads), where=centred.spreads > 0)[:, None]
    d, left = np.zeros_like(pull), pull
    p = scale * left
    size = float((left * p).sum())
    for _ in range(STEPS):
        along = centred.hessian_times(p)
        curvature = float((p * along).sum())
        if not (size > 0 and curvature > 0):
            return
        d = d + size / curvature * p
        yield d
        left = left - size / curvature * along
        size, before = float((left * (scale * left)).sum()), size
        p = scale * left + size / before * p


def _pull(problem: OneProblem, solution: Solution, z: Vector) -> Table:
    """X^T v, features by classes, with the dual point of the solution or the one that its predictions tell."""
    if isinstance(problem, MulticlassProblem):
        return problem.X.rmatmat(-problem.loss_slopes(z) if solution.dual is None else solution.dual)
    v = -problem.loss_derivatives(z)[0] if solution.dual is None else solution.dual
    return problem.X.rmatvec(v)[:, None]
