"""The optimum of small problems by an independent method: a conic solver on the problem written down as it is."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from widemargin import Problem
from widemargin.objective.losses import Loss


@dataclass(frozen=True)
class Optimum:
    """What the conic solver found."""

    value: float
    w: np.ndarray
    intercept: float
    dual: np.ndarray  # v with w = X^T v for penalty l2


def loss_expression(loss: Loss, y: np.ndarray, z: cp.Expression) -> cp.Expression:
    """The losses of predictions, from the description of the loss; of two unlike sides the sum."""
    if not loss.piecewise:
        return cp.logistic(-cp.multiply(y, z))
    r = 1 - cp.multiply(y, z) if loss.classification else y - z
    if loss.lower == -loss.upper:
        return _side(loss.bend, loss.upper, cp.pos(cp.abs(r) - loss.zone) if loss.zone > 0 else r)
    sides = (loss.upper, cp.pos(r - loss.zone)), (-loss.lower, cp.pos(-r - loss.zone))
    return sum(_side(loss.bend, bound, s) for bound, s in sides if bound > 0)


def _side(bend: float, bound: float, s: cp.Expression) -> cp.Expression:
    """max over |a| <= bound of a s - bend a^2: a parabola, then a line."""
    if bend == 0:
        return bound * cp.abs(s)
    if np.isinf(bound):
        return cp.square(s) / (4 * bend)
    return cp.huber(s, 2 * bend * bound) / (4 * bend)


def solve_reference(problem: Problem, A: np.ndarray) -> Optimum:
    """Minimises over w, b and the predictions z = A w + b; the multiplier of that equation is the dual point."""
    rows, columns = A.shape
    w, b, z = cp.Variable(columns), cp.Variable(), cp.Variable(rows)
    penalised = cp.hstack([w, b / problem.intercept_scaling]) if problem.intercept == "regularized" else w
    rho = problem.penalty.rho
    penalty = rho * cp.norm1(penalised) + (1 - rho) / 2 * cp.sum_squares(penalised)
    loss = problem.weights @ loss_expression(problem.loss, problem.y, z)
    predictions = z == A @ w + b
    constraints = [predictions] + ([b == 0] if problem.intercept == "none" else [])
    program = cp.Problem(cp.Minimize(penalty + loss), constraints)
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    intercept = 0.0 if problem.intercept == "none" else float(b.value)
    return Optimum(float(program.value), w.value, intercept, predictions.dual_value)
