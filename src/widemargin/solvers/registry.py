"""The solvers by name, each loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..data.rows import IN_ORDER
from .base import Solver

if TYPE_CHECKING:
    from ..objective.any_problem import AnyProblem

# name -> the module of this package that holds it, and its class there
HOMES = {
    "dual_cd": ("dual.dual_cd", "DualCD"),
    "block_dual_cd": ("dual.block_dual_cd", "BlockDualCD"),
    "sgd_s": ("stochastic.sgd", "SgdS"),
    "sgd_m": ("stochastic.sgd", "SgdM"),
    "sgd_r": ("stochastic.sgd", "SgdR"),
    "svm_sgd": ("stochastic.svm_sgd", "SvmSgd"),
    "sgd_qn": ("stochastic.sgd_qn", "SgdQN"),
    "pegasos": ("stochastic.pegasos", "Pegasos"),
    "svm_perf": ("cutting_plane.cutting_plane", "SvmPerf"),
    "ocas": ("cutting_plane.cutting_plane", "Ocas"),
    "finite_newton": ("finite_newton.finite_newton", "FiniteNewton"),
    "ordinal_newton": ("finite_newton.ordinal_newton", "OrdinalNewton"),
    "primal_cd": ("sparse.primal_cd", "PrimalCD"),
    "cmls": ("sparse.cmls", "CMLS"),
    "newglmnet": ("sparse.newglmnet", "NewGLMNET"),
    "newton_cholesky": ("newton.newton_cholesky", "NewtonCholesky"),
    "tron": ("newton.tron", "TRON"),
    "lbfgs": ("newton.lbfgs", "LBFGS"),
    "lasso_cd": ("sparse.lasso_cd", "LassoCD"),
    "prox_newton": ("sparse.prox_newton", "ProxNewton"),
    "multipliers": ("sparse.multipliers", "Multipliers"),
    "interior_point": ("interior.interior_point", "InteriorPoint"),
    "class_interior": ("joint.joint_interior", "ClassInterior"),
    "ordinal_interior": ("joint.joint_interior", "OrdinalInterior"),
    "one_class": ("dual.one_class", "OneClassCD"),
    "crammer_singer": ("dual.crammer_singer", "CrammerSinger"),
    "multinomial_dual_cd": ("dual.multinomial_dual_cd", "MultinomialDualCD"),
    "chain_eg": ("chains.chain_eg", "ChainEG"),
    "chain_bcfw": ("chains.chain_bcfw", "ChainBCFW"),
    "chain_cutting_plane": ("chains.chain_cutting_plane", "ChainCuttingPlane"),
    "chain_sgd": ("chains.chain_sgd", "ChainSGD"),
    "owlqn": ("chains.owlqn", "OwlQn"),
}


def solver_class(name: str) -> type[Solver]:
    """The solver class of that name."""
    if name not in HOMES:
        raise ValueError(f"unknown solver {name!r}: use 'auto' or one of {', '.join(HOMES)}")
    module, attribute = HOMES[name]
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


def table() -> SolverTable:
    """The registered solvers by name, with what each solves.

    Examples
    --------
    >>> import widemargin
    >>> "hinge" in widemargin.solvers.table()["dual_cd"].losses
    True
    """
    return SolverTable((name, solver_class(name)) for name in HOMES)


def make_solver(solver: str | Solver) -> Solver:
    """A solver with its settings, from its name or as given."""
    if isinstance(solver, Solver):
        return solver
    if isinstance(solver, str):
        return solver_class(solver)()
    raise TypeError(f"solver must be a name or a Solver such as DualCD(), got {type(solver).__name__}")


def in_memory(problem: AnyProblem) -> str:
    """Which solvers would take the problem if its rows were in memory, as the end of a refusal."""
    if IN_ORDER in problem.X.offers:
        return ""
    able = [name for name, cls in table().items() if cls.declares(problem)]
    return f"; with all rows in memory (X.load() of a file) use: {', '.join(able)}" if able else ""


def require(solver: Solver, problem: AnyProblem) -> None:
    """Refuses a problem that the solver does not declare, or rows that it cannot use, naming the solvers which do."""
    if solver.accepts(problem):
        return
    able = [name for name, cls in table().items() if cls.solves(problem)]
    advice = f"use one of: {', '.join(able)}" if able else f"no solver of this version does{in_memory(problem)}"
    lacks = solver.lacks(problem)
    if lacks:
        found = type(problem.X).__name__
        raise ValueError(f"solver {solver.title!r} needs {', '.join(sorted(lacks))}, which {found} lacks; {advice}")
    raise ValueError(f"solver {solver.title!r} does not solve {problem.describe()}; {advice}")
