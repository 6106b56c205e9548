"""Crammer and Singer's multi-class SVM: one problem for all classes.

    min over W, b   1/2 |W|^2 + sum_i C_i max_m (z_im + 1[m != y_i] - z_iy)
    dual            -1/2 |X^T v|^2 + sum_i v_iy      with the feasible set of multiclass.py

Survey section V-B, formula (33); Crammer and Singer 2001. A row costs nothing when its own class scores at least one
more than every other. With two classes w_1 = -w_2 = w / 2: the hinge problem with penalty 1/4 |w|^2.
"""

from __future__ import annotations

import numpy as np

from ..vectors import Vector
from .losses import Loss
from .multiclass import MulticlassProblem


class MulticlassHinge(Loss):
    """max_m (z_m + 1[m != y]) - z_y"""

    name = "crammer_singer"
    smooth = False


class CrammerSingerProblem(MulticlassProblem):
    """Crammer and Singer's SVM to be fitted.

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
    >>> from widemargin import CrammerSingerProblem, solve
    >>> problem = CrammerSingerProblem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["a", "b", "c"])
    >>> solution = solve(problem, "crammer_singer", tol=1e-8)
    >>> W, intercepts = problem.decode(solution.coef)
    >>> W.round(3)
    array([[ 0.667, -0.333],
           [-0.333,  0.667],
           [-0.333, -0.333]])
    """

    loss: Loss = MulticlassHinge()

    def _slopes_per_class(self, z: Vector) -> Vector:
        """z_m + 1[m != y]"""
        raised = z + 1.0
        raised[np.arange(len(z)), self.codes] -= 1.0
        return raised

    def _best_intercepts(self) -> Vector:
        """All the same or, where one class weighs more than all others, the one in its favour."""
        weights = self._class_weights()
        favoured = 2 * weights > weights.sum()
        return np.where(favoured, 1.0, 0.0)

    def loss_sum(self, z: Vector) -> float:
        own = z[np.arange(len(z)), self.codes]
        return float((self.weights * (self._slopes_per_class(z).max(axis=1) - own)).sum())

    def loss_slopes(self, z: Vector) -> Vector:
        rows = np.arange(len(z))
        u = np.zeros_like(z)
        u[rows, self._slopes_per_class(z).argmax(axis=1)] += self.weights
        u[rows, self.codes] -= self.weights
        return u

    def conjugate_sum(self, v: Vector) -> float:
        return -float(v[np.arange(len(v)), self.codes].sum())
