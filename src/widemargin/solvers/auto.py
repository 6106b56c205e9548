"""solver="auto": which solver for which problem.

| problem | solver |
|---|---|
| ordinal regression, one-class SVM, Crammer and Singer's SVM | the one that solves it |
| maximum entropy, few entries | multinomial_newton |
| maximum entropy, otherwise | multinomial_dual_cd; when it is slow, multinomial_newton from there |
| l1 or elastic net, hinge or epsilon-insensitive loss | multipliers |
| l1 or elastic net, other losses, very few features, or up to a thousand raw ones | prox_newton |
| l1 or elastic net, squared loss, more features | lasso_cd |
| l1 or elastic net, other losses, up to a thousand features | newglmnet; when it is slow, prox_newton from there |
| l1 or elastic net, other losses, more features | newglmnet |
| l2, smooth loss, few features: ten Newton steps cost less than some two hundred passes | newton_cholesky |
| l2, smooth loss, otherwise | dual_cd; when it is slow, newton_cholesky or tron from there |
| l2, hinge or epsilon-insensitive loss, many rows of few features, C |x|^2 > 1 | multipliers |
| l2, hinge or epsilon-insensitive loss, few features otherwise | dual_cd; when it is slow, multipliers from there |
| l2, hinge or epsilon-insensitive loss, many features | dual_cd |

Costs are counted in passes over the data, see `newton_passes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .base import Solver
from .gram import FACTOR, PASS, gram_cost
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
# With fewer entries than this coordinate descent is done before the calls of Newton steps are made.
WORTH_A_NEWTON_STEP = 200_000
# Raw features, for example: coordinate descent is not even tried where Newton steps are affordable.
HOPELESS_STIFFNESS = 1e5

OTHER_KINDS = {
    "ordinal": "ordinal_newton",
    "one_class": "one_class",
    "crammer_singer": "crammer_singer",
}
# What the truncated Newton method for maximum entropy is expected to need, in passes; it took 50 to 250 where measured.
ENTROPY_PASSES = 200.0
# Up to so many entries times classes either takes a moment, and Newton's method gives the most digits.
FEW_PRODUCTS = 1e5
NONSMOOTH_CHOICE = {"hinge": "multipliers", "epsilon_insensitive": "multipliers"}


def choose(problem: Problem) -> Solver:
    """The solver that suits the shape of the problem."""
    if problem.kind == "maximum_entropy":
        return _entropy_choice(problem)
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


def _entropy_choice(problem: Problem) -> Solver:
    from .hand_over import HandOver

    newton = solver_class("multinomial_newton")()
    n_classes = problem.n_coefficients // problem.X.shape[1]
    if problem.X.nnz * n_classes <= FEW_PRODUCTS:
        return newton
    return HandOver(solver_class("multinomial_dual_cd")(), newton, budget=ENTROPY_PASSES)


def _columns_choice(problem: Problem) -> Solver:
    from .hand_over import HandOver

    features = problem.X.shape[1]
    newglmnet, prox_newton = solver_class("newglmnet")(), solver_class("prox_newton")()
    if features <= VERY_FEW_FEATURES:
        return prox_newton
    if problem.loss.name == "squared":
        return solver_class("lasso_cd")()
    if features > FEW_FOR_DENSE_MODELS:
        return newglmnet
    if _stiffness(problem) > HOPELESS_STIFFNESS:
        return prox_newton
    return HandOver(newglmnet, prox_newton, budget=newton_passes(problem))


def _smooth_choice(problem: Problem) -> Solver:
    from .hand_over import HandOver

    cost = newton_passes(problem)
    if cost <= NEWTON_AT_ONCE or (cost <= TRON_PASSES and _stiffness(problem) > HOPELESS_STIFFNESS):
        return solver_class("newton_cholesky")()
    second, budget = ("newton_cholesky", cost) if cost <= TRON_PASSES else ("tron", TRON_PASSES)
    return HandOver(solver_class("dual_cd")(), solver_class(second)(), budget=budget)


def _nonsmooth_choice(problem: Problem) -> Solver:
    from .hand_over import HandOver

    dual_cd, multipliers = solver_class("dual_cd")(), solver_class("multipliers")()
    if problem.X.shape[1] > FEW_FOR_DENSE_MODELS:
        return dual_cd
    if problem.X.nnz >= WORTH_A_NEWTON_STEP and _factor_passes(problem) < 0.5 and _stiffness(problem) > 1:
        return multipliers
    return HandOver(dual_cd, multipliers, budget=MULTIPLIER_PASSES)


def _stiffness(problem: Problem) -> float:
    """The mean of C_i |x_i|^2, how hard rows pull against the penalty: much above 1, coordinate descent is slow."""
    lengths = np.empty(problem.X.shape[0])
    _core.row_sqnorms(problem.X.rows, lengths)
    return float(np.mean(problem.weights * lengths))


def _factor_passes(problem: Problem) -> float:
    """A Cholesky factorisation in passes over the data."""
    return FACTOR * problem.X.shape[1] ** 3 / (PASS * max(1, problem.X.nnz))


def newton_passes(problem: Problem) -> float:
    """What Newton's method with a factorisation costs, in passes over the data; infinite if the matrix is too large."""
    rows, features = problem.X.shape
    if features > FEW_FEATURES:
        return float("inf")
    entries = max(1, problem.X.nnz)
    return NEWTON_STEPS * (2 + gram_cost(rows, features, entries) / (PASS * entries) + _factor_passes(problem))
