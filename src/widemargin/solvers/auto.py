"""solver="auto": which solver for which problem.

`RULES` is the whole truth: the first rule that fits a problem says who solves it. docs/solvers.md prints it, as
`rules_as_markdown` writes it. Costs are counted in passes over the data, see `newton_passes`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .base import Solver
from .costs import (
    FACTOR,
    INTERIOR_ORDER,
    INTERIOR_STEP,
    JOINT_ORDER,
    JOINT_STEPS,
    KEPT_FEATURES,
    PASS,
    gram_cost,
    joint_step_passes,
    system_passes,
)
from .registry import in_memory, solver_class, table

if TYPE_CHECKING:
    from ..objective.any_problem import AnyProblem
    from ..objective.problem import Problem

# So many rows tell how stiff a problem is.
SAMPLE = 2_000
# So many passes are spent on Newton steps without trying anything cheaper first.
NEWTON_AT_ONCE = 200
# What a truncated Newton method is expected to need on a problem that is hard for coordinate descent.
TRON_PASSES = 1000
# What the method of multipliers is expected to need.
MULTIPLIER_PASSES = 300
# What a truncated Newton method is expected to need for maximum entropy; it took 50 to 250 where measured.
ENTROPY_PASSES = 200
# Up to so many, Newton's method is not worth an approach by cheaper steps.
VERY_FEW_FEATURES = 64
# Beyond so many, the matrix of Newton's method is too large.
FEW_FEATURES = 5000
NEWTON_STEPS = 10
# With fewer entries than this coordinate descent is done before the calls of Newton steps are made.
WORTH_A_NEWTON_STEP = 200_000
# A factorisation that costs less than this share of a pass is no matter.
CHEAP_FACTOR = 0.5
# With fewer rows per feature than this the dual is the smaller problem.
MANY_ROWS = 10
# Above this coordinate descent takes long: a hundred passes or more for the squared hinge.
STIFF = 10
# The same for every smooth loss: mnist, logistic, takes 91 passes at a stiffness of 1,000 and more than 300 at 10,000.
VERY_STIFF = 300
# Raw features, for example: coordinate descent is not even tried where Newton steps are affordable.
HOPELESS_STIFFNESS = 100_000
# Up to so many entries times classes either takes a moment, and Newton's method gives the most digits.
FEW_PRODUCTS = 100_000
# From this share of entries on, data count as dense: passes over them are cheap beside steps in single rows.
DENSE = 0.3
# A loss of targets that is curved over less than this share of their spread is all but a corner to Newton's method.
NARROW = 0.1
# Steps of an interior-point method, more of them where many rows stand at a corner.
INTERIOR_STEPS, INTERIOR_STEPS_OF_CORNERS = 20, 40
# Its cost is known: the solver before it has this share of it, however it gets on.
INTERIOR_SHARE = 0.4


def choose(problem: AnyProblem) -> Solver:
    """The solver that suits the problem: that of the first rule which fits, and which the rows offer what it needs."""
    for rule in RULES:
        if rule.fits(problem):
            solver = rule.solver(problem)
            if solver.accepts(problem):
                return solver if LAST_RESORTS.keys() & rule.names else _with_last_resort(solver, problem)
    able = [cls for cls in table().values() if cls.solves(problem)]
    if not able:
        where = f"over {type(problem.X).__name__}{in_memory(problem)}"
        raise ValueError(f"no solver of this version solves {problem.describe()} {where}")
    return able[0]()


def _with_last_resort(solver: Solver, problem: Any) -> Solver:
    """The solver and, where it gets stuck, the one whose cost is known, if that can take the problem."""
    from .run.hand_over import HandOver

    for name, cost in LAST_RESORTS.items():
        last = solver_class(name)()
        if last.accepts(problem):
            budget = cost(problem)
            return HandOver(solver, last, budget, patience=INTERIOR_SHARE * budget, most=budget)
    return solver


def stiffness(problem: Problem) -> float:
    """The mean of C_i |x_i|^2, how hard rows pull against the penalty: much above 1, coordinate descent is slow."""
    rows, some = problem.X.sample(SAMPLE)
    return float(some.column_sqnorms(problem.weights[rows], n_jobs=problem.n_jobs).sum()) / len(rows)


def newton_passes(problem: Problem) -> float:
    """What Newton's method with a factorisation costs, in passes over the data; infinite if the matrix is too large."""
    rows, features = problem.X.shape
    if features > FEW_FEATURES:
        return float("inf")
    entries = max(1, problem.X.nnz)
    return NEWTON_STEPS * (2 + gram_cost(rows, features, entries) / (PASS * entries) + _factor_passes(problem))


def _factor_passes(problem: Problem) -> float:
    """A Cholesky factorisation in passes over the data."""
    return FACTOR * problem.X.shape[1] ** 3 / (PASS * max(1, problem.X.nnz))


def interior_passes(problem: Problem) -> float:
    """What the interior-point method costs, in passes over the data."""
    rows, columns = problem.X.shape
    small = columns if min(rows, columns) <= INTERIOR_ORDER else INTERIOR_ORDER
    steps = INTERIOR_STEPS if problem.loss.smooth or rows < columns else INTERIOR_STEPS_OF_CORNERS
    return steps * (INTERIOR_STEP + system_passes(rows, small, max(1, problem.X.nnz)))


def joint_passes(problem: Any) -> float:
    """What interior-point or Newton steps over all classes at once cost, in passes over the data."""
    rows, columns = problem.X.shape
    return JOINT_STEPS * joint_step_passes(rows, columns, max(1, problem.X.nnz), problem.per_feature)


# Who takes over where all others are stuck, and at what cost: neither C nor the scales of rows and features slow them
# down.
LAST_RESORTS: dict[str, Callable[[Any], float]] = {
    "interior_point": interior_passes,
    "class_interior": joint_passes,
    "ordinal_interior": joint_passes,
}


@dataclass(frozen=True)
class Rule:
    """Problems, in words and as a test, and who solves them; of two solvers the first hands over where it is slow."""

    words: str
    suits: Callable[[Any], bool]
    names: tuple[str] | tuple[str, str]
    budget: Callable[[Problem], float] = newton_passes  # what the second is expected to need, in passes
    most_share: float = math.inf  # the first one hands over in any case after this share of the budget
    patience: float = 20.0  # passes before the first one is judged

    about: str = "problem.Problem"  # the problems that it is about: a module of `objective` and its class

    def fits(self, problem: AnyProblem) -> bool:
        """Whether the problem is one that the rule is about, and suits it."""
        module, name = self.about.rsplit(".", 1)
        # A class that is not loaded has no problems: nothing is imported only to find that out.
        known = sys.modules.get(f"widemargin.objective.{module}")
        return known is not None and isinstance(problem, getattr(known, name)) and self.suits(problem)

    def solver(self, problem: Any) -> Solver:
        """The solver, or both; no other is loaded."""
        first, *second = (solver_class(name)() for name in self.names)
        if not second:
            return first
        from .run.hand_over import HandOver

        budget = self.budget(problem)
        if math.isinf(self.most_share):
            return HandOver(first, second[0], budget, self.patience)
        # Newton-type methods close the gap with their last steps: they are judged by their share of the time alone.
        most = self.most_share * budget
        return HandOver(first, second[0], budget, patience=max(self.patience, most), most=most)


# What the words of the rules mean, one test each.


def _few_products(problem: AnyProblem) -> bool:
    return problem.work <= FEW_PRODUCTS


def _any(problem: AnyProblem) -> bool:
    return True


def _few(problem: Problem, most: int) -> bool:
    return problem.X.shape[1] <= most


def _cheap_factor(problem: Problem) -> bool:
    return problem.X.nnz >= WORTH_A_NEWTON_STEP and _factor_passes(problem) < CHEAP_FACTOR


def _hinge(problem: Problem) -> bool:
    return not problem.loss.smooth


def _squared(problem: Problem) -> bool:
    return problem.loss.quadratic


def _kinked_slope(problem: Problem) -> bool:
    return problem.loss.piecewise and problem.loss.classification


def _narrow(problem: Problem) -> bool:
    loss = problem.loss
    return loss.piecewise and loss.smooth and 2 * loss.bend * (loss.upper - loss.lower) < NARROW * problem.margin


def _dense(problem: AnyProblem) -> bool:
    rows, columns = problem.X.shape
    return rows >= columns and problem.X.nnz >= DENSE * rows * columns


def _many_rows(problem: Problem) -> bool:
    return problem.X.shape[0] >= MANY_ROWS * problem.X.shape[1]


def _sparse(problem: Problem) -> bool:
    return not problem.penalty.smooth


_ENTROPY, _HINGE = "maximum entropy (multinomial)", "loss with a corner (hinge, epsilon-insensitive, quantile)"
_SPARSE, _HINGE_L2, _SMOOTH_L2 = "smooth loss, l1 or elastic net", f"{_HINGE}, l2", "smooth loss, l2"
_NEWTON = f"{_SMOOTH_L2}, up to {FEW_FEATURES:,} features, {NEWTON_STEPS} Newton steps within"

_NARROW = f"squared over less than {NARROW:g} of the targets' spread (narrow Huber loss)"

_CANDIDATES = "candidates.problem.CandidatesProblem"

RULES = (
    Rule("ordinal regression", _any, ("ordinal_newton",), about="ordinal.OrdinalProblem"),
    Rule("one-class SVM", _any, ("one_class",), about="one_class.OneClassProblem"),
    Rule("Crammer and Singer's SVM", _any, ("crammer_singer",), about="crammer_singer.CrammerSingerProblem"),
    Rule(
        f"{_ENTROPY}, entries times classes up to {FEW_PRODUCTS:,}",
        _few_products,
        ("tron",),
        about="maximum_entropy.MaximumEntropyProblem",
    ),
    Rule(
        f"{_ENTROPY}, up to {JOINT_ORDER:,} coefficients, stiffness above {HOPELESS_STIFFNESS:,} (raw features)",
        lambda p: stiffness(p) > HOPELESS_STIFFNESS,
        ("class_interior", "tron"),
        lambda p: ENTROPY_PASSES,
        patience=math.inf,  # its cost is known: it hands over where it can do no more
        about="maximum_entropy.MaximumEntropyProblem",
    ),
    Rule(
        f"{_ENTROPY}, dense, no more features than rows, up to {VERY_FEW_FEATURES} features",
        lambda p: _dense(p) and _few(p, VERY_FEW_FEATURES),
        ("tron",),
        about="maximum_entropy.MaximumEntropyProblem",
    ),
    Rule(
        f"{_ENTROPY}, dense, no more features than rows",
        _dense,
        ("lbfgs", "tron"),
        lambda p: ENTROPY_PASSES,
        about="maximum_entropy.MaximumEntropyProblem",
    ),
    Rule(
        f"{_ENTROPY}, more",
        _any,
        ("multinomial_dual_cd", "tron"),
        lambda p: ENTROPY_PASSES,
        about="maximum_entropy.MaximumEntropyProblem",
    ),
    Rule(
        f"{_HINGE}, l1 or elastic net",
        lambda p: _hinge(p) and _sparse(p),
        ("multipliers", "interior_point"),
        interior_passes,
        INTERIOR_SHARE,
    ),
    Rule(
        f"{_HINGE_L2}, more than {KEPT_FEATURES:,} features",
        lambda p: _hinge(p) and not _few(p, KEPT_FEATURES),
        ("dual_cd",),
    ),
    Rule(
        f"{_HINGE_L2}, more than {KEPT_FEATURES:,} features, rows in a file of blocks",
        lambda p: _hinge(p) and not _few(p, KEPT_FEATURES),
        ("block_dual_cd",),
    ),
    Rule(
        f"{_HINGE_L2}, many rows of few features (from {WORTH_A_NEWTON_STEP:,} entries on, a factorisation within "
        f"{CHEAP_FACTOR:g} passes), stiffness above 1",
        lambda p: _hinge(p) and _cheap_factor(p) and stiffness(p) > 1,
        ("multipliers",),
    ),
    Rule(
        f"{_HINGE_L2}, stiffness above {HOPELESS_STIFFNESS:,} (raw features)",
        lambda p: _hinge(p) and stiffness(p) > HOPELESS_STIFFNESS,
        ("multipliers",),
    ),
    Rule(f"{_HINGE_L2}, other", _hinge, ("dual_cd", "multipliers"), lambda p: MULTIPLIER_PASSES),
    Rule(
        f"{_HINGE_L2}, other, rows in a file of blocks",
        _hinge,
        ("block_dual_cd", "multipliers"),
        lambda p: MULTIPLIER_PASSES,
    ),
    Rule(
        f"{_SPARSE}, up to {VERY_FEW_FEATURES} features",
        lambda p: _sparse(p) and _few(p, VERY_FEW_FEATURES),
        ("prox_newton", "interior_point"),
        interior_passes,
        INTERIOR_SHARE,
    ),
    Rule(
        f"{_SPARSE}, {_NARROW}",
        lambda p: _sparse(p) and _narrow(p),
        ("prox_newton", "interior_point"),
        interior_passes,
        INTERIOR_SHARE,
    ),
    Rule("squared loss, l1 or elastic net", lambda p: _sparse(p) and _squared(p), ("lasso_cd",)),
    Rule(
        f"{_SPARSE}, more than {KEPT_FEATURES:,} features",
        lambda p: _sparse(p) and not _few(p, KEPT_FEATURES),
        ("newglmnet", "interior_point"),
        interior_passes,
        INTERIOR_SHARE,
    ),
    Rule(
        f"{_SPARSE}, stiffness above {HOPELESS_STIFFNESS:,} (raw features)",
        lambda p: _sparse(p) and stiffness(p) > HOPELESS_STIFFNESS,
        ("prox_newton", "interior_point"),
        interior_passes,
        INTERIOR_SHARE,
    ),
    Rule(f"{_SPARSE}, other", _sparse, ("newglmnet", "prox_newton")),
    Rule(
        f"{_SMOOTH_L2}, {_NARROW}",
        _narrow,
        ("finite_newton",),
    ),
    Rule(
        f"{_NEWTON} {NEWTON_AT_ONCE} passes",
        lambda p: newton_passes(p) <= NEWTON_AT_ONCE,
        ("newton_cholesky",),
    ),
    Rule(
        f"{_NEWTON} {TRON_PASSES:,} passes, stiffness above {HOPELESS_STIFFNESS:,} (raw features)",
        lambda p: newton_passes(p) <= TRON_PASSES and stiffness(p) > HOPELESS_STIFFNESS,
        ("newton_cholesky",),
    ),
    Rule(
        f"{_NEWTON} {TRON_PASSES:,} passes, squared hinge or modified Huber, {MANY_ROWS} rows per feature, stiffness "
        f"above {STIFF}",
        lambda p: newton_passes(p) <= TRON_PASSES and _kinked_slope(p) and _many_rows(p) and stiffness(p) > STIFF,
        ("newton_cholesky",),
    ),
    Rule(
        f"{_NEWTON} {TRON_PASSES:,} passes, {MANY_ROWS} rows per feature, stiffness above {VERY_STIFF}",
        lambda p: newton_passes(p) <= TRON_PASSES and _many_rows(p) and stiffness(p) > VERY_STIFF,
        ("newton_cholesky",),
    ),
    Rule(
        f"{_NEWTON} {TRON_PASSES:,} passes",
        lambda p: newton_passes(p) <= TRON_PASSES,
        ("dual_cd", "newton_cholesky"),
    ),
    Rule(
        f"{_NEWTON} {TRON_PASSES:,} passes, rows in a file of blocks",
        lambda p: newton_passes(p) <= TRON_PASSES,
        ("block_dual_cd", "newton_cholesky"),
    ),
    Rule(f"{_SMOOTH_L2}, other", lambda p: True, ("dual_cd", "tron"), lambda p: TRON_PASSES),
    Rule(
        f"{_SMOOTH_L2}, other, rows in a file of blocks",
        lambda p: True,
        ("block_dual_cd", "tron"),
        lambda p: TRON_PASSES,
    ),
    Rule("chain CRF, l1 or elastic net", _sparse, ("owlqn",), about="chains.crf.ChainCRFProblem"),
    Rule("chain CRF, l2", _any, ("chain_eg", "tron"), lambda p: ENTROPY_PASSES, about="chains.crf.ChainCRFProblem"),
    Rule(
        "choice among candidates, l1 or elastic net", _sparse, ("owlqn",), about="candidates.problem.CandidatesProblem"
    ),
    Rule("choice among candidates, l2", _any, ("tron",), about="candidates.problem.CandidatesProblem"),
    Rule("structured SVM over chains", _any, ("chain_bcfw",), about="chains.svm.ChainSVMProblem"),
)


def rules_as_markdown() -> str:
    """The rules as the table of docs/solvers.md."""
    lines = ["| problem | solver |", "|---|---|"]
    lines += [f"| {rule.words} | {', then '.join(rule.names)} |" for rule in RULES]
    return "\n".join(lines) + "\n"
