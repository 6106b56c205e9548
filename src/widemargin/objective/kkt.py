"""The largest violation of the dual's optimality conditions: section 4.7 of Keerthi and DeCoste (2005).

With w^ = X^T v for a dual point v, the dual's gradient in v_i is

    G_i = x_i . w^ + b - y_i + 2 bend v_i / C_i  +  zone sign(v_i)

with the bend and the zone of the loss (losses.py): 1/4 and 0 for the squared hinge, where v_i = y_i alpha_i and y_i G_i
is the paper's g_i. At the optimum G_i = 0 where v_i is inside its bounds, G_i >= 0 at the lower and G_i <= 0 at the
upper one; at v_i = 0 with a zone, 0 lies between the two values that G_i has on either side. What LIBSVM and SVM-light
call their tolerance is a bound on this number; it is not a bound on the objective, which is what a Certificate gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .losses import LossesThat

if TYPE_CHECKING:
    from .problem import Problem

# Dual variables this close to a bound, in units of C_i, are on it: scaling for feasibility moves them that far.
BOUND_SLACK = 1e-9

PIECEWISE = LossesThat(lambda loss: loss.piecewise)


def kkt_violation(problem: Problem, w: Any, intercept: float = 0.0, dual: Any = None) -> float:
    """The largest violation of the dual's optimality conditions at a point.

    Parameters
    ----------
    problem : Problem
        With penalty l2 and any loss but the logistic.
    w : array of shape (features,)
    intercept : float
    dual : array of shape (rows,), optional
        A dual point, `Solution.dual`. Without it the dual variables follow from w: v_i = -C_i loss'(x_i . w + b).

    Examples
    --------
    >>> from widemargin import Problem, kkt_violation, solve
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1])
    >>> solution = solve(problem, "finite_newton", tol=1e-12)
    >>> kkt_violation(problem, solution.coef) < 1e-5
    True
    """
    loss = problem.loss
    if not loss.piecewise or not problem.penalty.smooth:
        raise ValueError(
            f"the KKT violation is defined for penalty l2 and the losses {', '.join(PIECEWISE)}, "
            f"not for penalty={problem.penalty.name!r}, loss={loss.name!r}"
        )
    X, counts = problem.X, problem.weights > 0
    if dual is None:
        v = -problem.loss_derivatives(X.matvec(w, intercept, n_jobs=problem.n_jobs))[0]
    else:
        v = np.ascontiguousarray(dual, dtype=np.float64)
    b = intercept if problem.intercept == "free" else problem.intercept_scale**2 * float(v.sum())
    z = X.matvec(X.rmatvec(v, n_jobs=problem.n_jobs), b, n_jobs=problem.n_jobs)
    C, v = problem.weights[counts], v[counts]
    G = z[counts] - problem.y[counts] + 2 * loss.bend * v / C
    lower, upper = (bound[counts] for bound in problem.dual_domain())
    slack = BOUND_SLACK * C
    growing = G + np.where(v > -slack, loss.zone, -loss.zone)  # the slope on the side of larger v_i
    shrinking = G + np.where(v > slack, loss.zone, -loss.zone)
    too_low = np.where(v < upper - slack, -growing, 0.0)  # v_i could still grow, and should
    too_high = np.where(v > lower + slack, shrinking, 0.0)  # v_i could still shrink, and should
    return float(max(0.0, too_low.max(), too_high.max()))
