"""solver="auto": which solver for which problem.

| problem | solver |
|---|---|
| ordinal regression, one-class SVM, Crammer and Singer's SVM | the one that solves it |
| maximum entropy | multinomial_newton |
| l1 or elastic net, hinge or epsilon-insensitive loss | multipliers |
| l1 or elastic net, other losses, very few features | prox_newton |
| l1 or elastic net, squared loss, more features | lasso_cd |
| l1 or elastic net, other losses, up to a thousand features | newglmnet; when it is slow, prox_newton from there |
| l1 or elastic net, other losses, more features | newglmnet |
| l2, smooth loss, few features: ten Newton steps cost less than some two hundred passes | newton_cholesky |
| l2, smooth loss, otherwise | dual_cd; when it is slow, newton_cholesky or tron from there |
| l2, hinge or epsilon-insensitive loss, few features | dual_cd; when it is slow, multipliers from there |
| l2, hinge or epsilon-insensitive loss, many features | dual_cd |

Costs are counted in passes over the data, see `newton_passes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import Solver
from .registry import require, solver_class

if TYPE_CHECKING:
    from ..objective.problem import Problem

# So many passes are spent on Newton steps without trying anything cheaper first.
NEWTON_AT_ONCE = 200.0
# What a truncated Newton method is expected to need on a problem that is hard for coordinate descent.
TRON_PASSES = 1000.0
# The same for the method of multipliers.
MULTIPLIER_PASSES = 300.0
# Up to so many features a dense model of all of them is cheap.
FEW_FOR_DENSE_MODELS = 1000
# Up to so many, Newton's method is not worth an approach by cheaper steps.
VERY_FEW_FEATURES = 64
FEW_FEATURES = 5000
NEWTON_STEPS = 10

OTHER_KINDS = {
    "ordinal": "ordinal_newton",
    "one_class": "one_class",
    "crammer_singer": "crammer_singer",
    "maximum_entropy": "multinomial_newton",
}
NONSMOOTH_CHOICE = {"hinge": "multipliers", "epsilon_insensitive": "multipliers"}


def choose(problem: Problem) -> Solver:
    """The solver that suits the shape of the problem."""
    if problem.kind in OTHER_KINDS:
        return solver_class(OTHER_KINDS[problem.kind])()
    if problem.penalty.name != "l2":
        named = NONSMOOTH_CHOICE.get(problem.loss.name)
        solver = _columns_choice(problem) if named is None else solver_class(named)()
    elif problem.loss.smooth:
        solver = _smooth_choice(problem)
    else:
        solver = _nonsmooth_choice(problem)
    require(solver, problem)
    return solver


def _columns_choice(problem: Problem) -> Solver:
    from .hand_over import HandOver

    newglmnet, prox_newton = solver_class("newglmnet")(), solver_class("prox_newton")()
    if problem.X.shape[1] <= VERY_FEW_FEATURES:
        return prox_newton
    if problem.loss.name == "squared":
        return solver_class("lasso_cd")()
    if problem.X.shape[1] > FEW_FOR_DENSE_MODELS:
        return newglmnet
    return HandOver(newglmnet, prox_newton, budget=newton_passes(problem))


def _smooth_choice(problem: Problem) -> Solver:
    from .hand_over import HandOver

    cost = newton_passes(problem)
    newton = solver_class("newton_cholesky")()
    if cost <= NEWTON_AT_ONCE:
        return newton
    dual_cd, tron = solver_class("dual_cd")(), solver_class("tron")()
    second, budget = (newton, cost) if cost <= TRON_PASSES else (tron, TRON_PASSES)
    return HandOver(dual_cd, second, budget=budget)


def _nonsmooth_choice(problem: Problem) -> Solver:
    from .hand_over import HandOver

    dual_cd = solver_class("dual_cd")()
    if problem.X.shape[1] > FEW_FOR_DENSE_MODELS:
        return dual_cd
    return HandOver(dual_cd, solver_class("multipliers")(), budget=MULTIPLIER_PASSES)


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
