"""solver="auto": which solver for which problem.

| problem | solver |
|---|---|
| smooth loss, l2, few features: ten Newton steps cost less than some ninety passes | newton_cholesky |
| smooth loss, l2, otherwise | dual_cd; when it is slow, newton_cholesky or tron from there |
| Crammer and Singer's SVM, maximum entropy | crammer_singer, multinomial_newton |
| the rest | dual_cd |

Costs are counted in passes over the data, see `newton_passes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import Solver
from .registry import require, solver_class

if TYPE_CHECKING:
    from ..objective.problem import Problem

# So many passes are spent on Newton steps without trying anything cheaper first.
NEWTON_AT_ONCE = 90.0
# What a truncated Newton method is expected to need on a problem that is hard for coordinate descent.
TRON_PASSES = 1000.0
FEW_FEATURES = 5000
NEWTON_STEPS = 10


# Problems of another kind than `Problem`, by their loss.
OWN_SOLVER = {"crammer_singer": "crammer_singer", "multinomial": "multinomial_newton"}


def choose(problem: Problem) -> Solver:
    """The solver that suits the shape of the problem."""
    if problem.loss.name in OWN_SOLVER:
        return solver_class(OWN_SOLVER[problem.loss.name])()
    solver = _smooth_choice(problem) if problem.loss.smooth and problem.penalty.smooth else solver_class("dual_cd")()
    require(solver, problem)
    return solver


def _smooth_choice(problem: Problem) -> Solver:
    from .hand_over import HandOver

    cost = newton_passes(problem)
    newton = solver_class("newton_cholesky")()
    if cost <= NEWTON_AT_ONCE:
        return newton
    dual_cd, tron = solver_class("dual_cd")(), solver_class("tron")()
    second, budget = (newton, cost) if cost <= TRON_PASSES else (tron, TRON_PASSES)
    return HandOver(dual_cd, second, budget=budget) if dual_cd.solves(problem) else second


def newton_passes(problem: Problem) -> float:
    """What Newton's method with a factorisation costs, in passes over the data; infinite if the matrix is too large.

    Per entry of the data, measured: a pass takes about 1.5 ns, a sparse outer product 0.45 ns per entry of the row,
    BLAS 0.05 ns per feature; the factorisation 0.1 ns per operation.
    """
    rows, features = problem.X.shape
    if features > FEW_FEATURES:
        return float("inf")
    entries = max(1, problem.X.nnz)
    row_length = entries / rows
    hessian = min(0.45 * row_length, 0.05 * features * features / max(row_length, 1.0)) / 1.5
    factor = features**3 / 3 * 0.1 / (1.5 * entries)
    return NEWTON_STEPS * (2 + hessian + factor)
