"""The solvers by name, each loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .base import Solver

if TYPE_CHECKING:
    from ..objective.problem import Problem

# name -> the module of this package that holds it, and its class there
_HOME = {
    "dual_cd": ("dual_cd", "DualCD"),
    "sgd_s": ("sgd", "SgdS"),
    "sgd_m": ("sgd", "SgdM"),
    "sgd_r": ("sgd", "SgdR"),
    "svm_sgd": ("svm_sgd", "SvmSgd"),
    "sgd_qn": ("sgd_qn", "SgdQN"),
    "pegasos": ("pegasos", "Pegasos"),
    "svm_perf": ("cutting_plane", "SvmPerf"),
    "ocas": ("cutting_plane", "Ocas"),
    "finite_newton": ("finite_newton", "FiniteNewton"),
    "ordinal_newton": ("ordinal_newton", "OrdinalNewton"),
    "primal_cd": ("primal_cd", "PrimalCD"),
    "cmls": ("cmls", "CMLS"),
    "newglmnet": ("newglmnet", "NewGLMNET"),
    "newton_cholesky": ("newton_cholesky", "NewtonCholesky"),
    "tron": ("tron", "TRON"),
    "lbfgs": ("lbfgs", "LBFGS"),
    "lasso_cd": ("lasso_cd", "LassoCD"),
    "prox_newton": ("prox_newton", "ProxNewton"),
    "multipliers": ("multipliers", "Multipliers"),
    "interior_point": ("interior_point", "InteriorPoint"),
    "one_class": ("one_class", "OneClassCD"),
    "crammer_singer": ("crammer_singer", "CrammerSinger"),
    "multinomial_newton": ("multinomial_newton", "MultinomialNewton"),
    "multinomial_dual_cd": ("multinomial_dual_cd", "MultinomialDualCD"),
    "multinomial_lbfgs": ("multinomial_lbfgs", "MultinomialLBFGS"),
}


def solver_class(name: str) -> type[Solver]:
    """The solver class of that name."""
    if name not in _HOME:
        raise ValueError(f"unknown solver {name!r}: use 'auto' or one of {', '.join(_HOME)}")
    module, attribute = _HOME[name]
    found: type[Solver] = getattr(import_module(f".{module}", __package__), attribute)
    return found


class SolverTable(dict[str, type[Solver]]):
    """Solver classes by name; prints as a table of what each solves."""

    def __repr__(self) -> str:
        lines = []
        for name, cls in self.items():
            lines.append(f"{name}: {cls.summary}")
            for title, values in (
                ("losses", cls.losses),
                ("penalties", cls.penalties),
                ("intercepts", cls.intercepts),
            ):
                lines.append(f"    {title:<11}{', '.join(sorted(values))}")
        return "\n".join(lines)


def solvers() -> SolverTable:
    """The registered solvers by name, with what each solves.

    Examples
    --------
    >>> import widemargin
    >>> "hinge" in widemargin.solvers()["dual_cd"].losses
    True
    """
    return SolverTable((name, solver_class(name)) for name in _HOME)


def make_solver(solver: str | Solver) -> Solver:
    """A solver with its settings, from its name or as given."""
    if isinstance(solver, Solver):
        return solver
    if isinstance(solver, str):
        return solver_class(solver)()
    raise TypeError(f"solver must be a name or a Solver such as DualCD(), got {type(solver).__name__}")


def require(solver: Solver, problem: Problem) -> None:
    """Refuses a problem that the solver does not declare, naming the solvers which do."""
    if solver.accepts(problem):
        return
    able = [name for name, cls in solvers().items() if cls.solves(problem)]
    what = f"loss={problem.loss.name!r}, penalty={problem.penalty.name!r}, intercept={problem.intercept!r}"
    advice = f"use one of: {', '.join(able)}" if able else "no solver of this version does"
    raise ValueError(f"solver {solver.name!r} does not solve {what}; {advice}")
