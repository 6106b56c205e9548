"""How it is minimised: a folder per family of algorithms, one driver for all.

The solver classes are names of this package, loaded on first use; `table` lists them with what each solves.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Solver as Solver
    from .chains.chain_bcfw import ChainBCFW as ChainBCFW
    from .chains.chain_cutting_plane import ChainCuttingPlane as ChainCuttingPlane
    from .chains.chain_eg import ChainEG as ChainEG
    from .chains.chain_sgd import ChainSGD as ChainSGD
    from .chains.owlqn import OwlQn as OwlQn
    from .cutting_plane.cutting_plane import Ocas as Ocas
    from .cutting_plane.cutting_plane import SvmPerf as SvmPerf
    from .dual.block_dual_cd import BlockDualCD as BlockDualCD
    from .dual.crammer_singer import CrammerSinger as CrammerSinger
    from .dual.dual_cd import DualCD as DualCD
    from .dual.multinomial_dual_cd import MultinomialDualCD as MultinomialDualCD
    from .dual.one_class import OneClassCD as OneClassCD
    from .finite_newton.finite_newton import FiniteNewton as FiniteNewton
    from .finite_newton.ordinal_newton import OrdinalNewton as OrdinalNewton
    from .interior.interior_point import InteriorPoint as InteriorPoint
    from .joint.joint_interior import ClassInterior as ClassInterior
    from .joint.joint_interior import OrdinalInterior as OrdinalInterior
    from .newton.lbfgs import LBFGS as LBFGS
    from .newton.newton_cholesky import NewtonCholesky as NewtonCholesky
    from .newton.tron import TRON as TRON
    from .registry import table as table
    from .run.hand_over import HandOver as HandOver
    from .sparse.cmls import CMLS as CMLS
    from .sparse.lasso_cd import LassoCD as LassoCD
    from .sparse.multipliers import Multipliers as Multipliers
    from .sparse.newglmnet import NewGLMNET as NewGLMNET
    from .sparse.primal_cd import PrimalCD as PrimalCD
    from .sparse.prox_newton import ProxNewton as ProxNewton
    from .stochastic.pegasos import Pegasos as Pegasos
    from .stochastic.sgd import SgdM as SgdM
    from .stochastic.sgd import SgdR as SgdR
    from .stochastic.sgd import SgdS as SgdS
    from .stochastic.sgd_qn import SgdQN as SgdQN
    from .stochastic.svm_sgd import SvmSgd as SvmSgd

_TOOLS = {"table": "registry", "Solver": "base", "HandOver": "run.hand_over"}


def _homes() -> dict[str, str]:
    from .registry import HOMES

    return _TOOLS | {attribute: module for module, attribute in HOMES.values()}


def __getattr__(name: str) -> Any:
    home = None if name.startswith("_") else _homes().get(name)
    if home is None:
        raise AttributeError(f"module 'widemargin.solvers' has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_homes())
