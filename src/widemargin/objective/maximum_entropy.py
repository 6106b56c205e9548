"""Maximum entropy: multinomial logistic regression.

    min over W, b   1/2 |W|^2 + sum_i C_i (log sum_m exp(z_im) - z_iy)
    dual            -1/2 |X^T v|^2 - sum_im C_i q_im log q_im      q_i = e_y - v_i / C_i, a point of the simplex

Survey section V; Yu, Huang, Lin, "Dual Coordinate Descent Methods for Logistic Regression and
Maximum Entropy Models" (2011). At v_i = C_i (e_y - p_i), p_i = softmax(z_i), the duality gap is 1/2 |gradient|^2.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from ..vectors import Vector
from .entropy_smooth import EntropySmooth
from .losses import Loss
from .multiclass import MulticlassProblem

# Classes without weight get the intercept of this share of all.
LEAST_SHARE = 1e-12


class MultinomialLogistic(Loss):
    """log sum_m exp(z_m) - z_y"""

    name = "multinomial"
    smooth = True
    probabilities = True


class MaximumEntropyProblem(MulticlassProblem):
    """A multinomial logistic regression to be fitted.

    Parameters
    ----------
    X : matrix of shape (rows, features)
        Anything `Matrix` accepts.
    y : array of shape (rows,)
        Two classes or more.
    C : float
        Weight of the losses against the penalty.
    intercept : {"none", "regularized", "free"}
        One per class.
    intercept_scaling : float
        The constant feature behind regularized intercepts.
    sample_weight : array of shape (rows,), optional
        Multiplies C per row; a weight of two counts as the row given twice.

    Examples
    --------
    >>> from widemargin import MaximumEntropyProblem, solve
    >>> problem = MaximumEntropyProblem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["a", "b", "c"])
    >>> solution = solve(problem, "tron", tol=1e-10)
    >>> problem.probabilities(problem.scores(solution.coef)).argmax(axis=1)
    array([0, 1, 2])
    """

    loss: Loss = MultinomialLogistic()

    def _at(self, z: Vector) -> tuple[float, Vector]:
        """The losses and the probabilities at the scores."""
        flat = np.ascontiguousarray(z, dtype=np.float64).reshape(-1)
        p = np.empty_like(flat)
        value, *_ = _core.entropy_ray(
            self.codes, self.weights, self.n_classes, flat, np.zeros_like(flat), 0.0, p, self.n_jobs
        )
        return value, p.reshape(-1, self.n_classes)

    def smooth(self) -> EntropySmooth:
        """The problem as a smooth function of one vector, for Newton-type methods."""
        return EntropySmooth(self)

    def probabilities(self, z: Vector) -> Vector:
        """softmax(z), row by row."""
        return self._at(z)[1]

    def _best_intercepts(self) -> Vector:
        shares = self._class_weights() / self.weights.sum()
        b: Vector = np.log(np.maximum(shares, LEAST_SHARE))
        return b

    def loss_sum(self, z: Vector) -> float:
        return self._at(z)[0]

    def loss_slopes(self, z: Vector) -> Vector:
        u = self.probabilities(z)
        u[np.arange(len(u)), self.codes] -= 1.0
        return self.weights[:, None] * u

    def conjugate_sum(self, v: Vector) -> float:
        counts = self.weights > 0
        q = -v[counts] / self.weights[counts, None]
        own = np.arange(len(q)), self.codes[counts]
        q[own] += 1.0
        q = np.maximum(q, 0.0)
        return float((self.weights[counts, None] * q * np.log(np.where(q > 0, q, 1.0))).sum())
