"""The optimum of small problems by an independent method: a conic solver on the problem written down as it is."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from widemargin import Problem


@dataclass(frozen=True)
class Optimum:
    """What the conic solver found."""

    value: float
    w: np.ndarray
    intercept: float
    dual: np.ndarray  # v with w = X^T v for penalty l2


def _losses(y: np.ndarray, z: cp.Expression, epsilon: float) -> dict[str, cp.Expression]:
    slack = cp.pos(1 - cp.multiply(y, z))
    beyond = cp.pos(cp.abs(z - y) - epsilon)
    return {
        "hinge": slack,
        "squared_hinge": cp.square(slack),
        "logistic": cp.logistic(-cp.multiply(y, z)),
        "modified_huber": cp.huber(slack, 2),
        "squared": cp.square(z - y),
        "epsilon_insensitive": beyond,
        "squared_epsilon_insensitive": cp.square(beyond),
    }


def solve_reference(problem: Problem, A: np.ndarray) -> Optimum:
    """Minimises over w, b and the predictions z = A w + b; the multiplier of that equation is the dual point."""
    rows, columns = A.shape
    w, b, z = cp.Variable(columns), cp.Variable(), cp.Variable(rows)
    penalised = cp.hstack([w, b / problem.intercept_scaling]) if problem.intercept == "regularized" else w
    rho = problem.penalty.rho
    penalty = rho * cp.norm1(penalised) + (1 - rho) / 2 * cp.sum_squares(penalised)
    loss = problem.weights @ _losses(problem.y, z, problem.loss.epsilon)[problem.loss.name]
    predictions = z == A @ w + b
    constraints = [predictions] + ([b == 0] if problem.intercept == "none" else [])
    program = cp.Problem(cp.Minimize(penalty + loss), constraints)
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    intercept = 0.0 if problem.intercept == "none" else float(b.value)
    return Optimum(float(program.value), w.value, intercept, predictions.dual_value)
