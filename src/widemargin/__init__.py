"""Large-scale linear classification with a proof of accuracy for every fit.

The public names below are loaded on first use, so that `import widemargin` stays as light as NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .data.matrix import Matrix as Matrix
    from .data.svmlight import read_svmlight as read_svmlight
    from .data.svmlight import write_svmlight as write_svmlight
    from .estimators.cv import LassoCV as LassoCV
    from .estimators.cv import LinearSVCCV as LinearSVCCV
    from .estimators.cv import LogisticRegressionCV as LogisticRegressionCV
    from .estimators.least_squares import ElasticNet as ElasticNet
    from .estimators.least_squares import Lasso as Lasso
    from .estimators.least_squares import Ridge as Ridge
    from .estimators.linear_svc import LinearSVC as LinearSVC
    from .estimators.linear_svr import LinearSVR as LinearSVR
    from .estimators.logistic_regression import LogisticRegression as LogisticRegression
    from .estimators.one_class import LinearOneClassSVM as LinearOneClassSVM
    from .estimators.online import OnlineClassifier as OnlineClassifier
    from .estimators.online import OnlineRegressor as OnlineRegressor
    from .estimators.ordinal_svc import OrdinalSVC as OrdinalSVC
    from .model.model import Model as Model
    from .model.open import load_model as load_model
    from .multiclass.base import MulticlassModel as MulticlassModel
    from .multiclass.dag import fit_dag as fit_dag
    from .multiclass.joint import fit_joint as fit_joint
    from .multiclass.one_vs_one import fit_one_vs_one as fit_one_vs_one
    from .objective.certificate import Certificate as Certificate
    from .objective.crammer_singer import CrammerSingerProblem as CrammerSingerProblem
    from .objective.kkt import kkt_violation as kkt_violation
    from .objective.maximum_entropy import MaximumEntropyProblem as MaximumEntropyProblem
    from .objective.one_class import OneClassProblem as OneClassProblem
    from .objective.ordinal import OrdinalProblem as OrdinalProblem
    from .objective.problem import Problem as Problem
    from .selection.path import RegularizationPath as RegularizationPath
    from .selection.path import path as path
    from .selection.result import SearchResult as SearchResult
    from .selection.search import find_C as find_C
    from .selection.stopping import EarlyStopping as EarlyStopping
    from .solvers.base import Solver as Solver
    from .solvers.cmls import CMLS as CMLS
    from .solvers.crammer_singer import CrammerSinger as CrammerSinger
    from .solvers.cutting_plane import Ocas as Ocas
    from .solvers.cutting_plane import SvmPerf as SvmPerf
    from .solvers.dual_cd import DualCD as DualCD
    from .solvers.finite_newton import FiniteNewton as FiniteNewton
    from .solvers.hand_over import HandOver as HandOver
    from .solvers.interior_point import InteriorPoint as InteriorPoint
    from .solvers.lasso_cd import LassoCD as LassoCD
    from .solvers.lbfgs import LBFGS as LBFGS
    from .solvers.multinomial_dual_cd import MultinomialDualCD as MultinomialDualCD
    from .solvers.multinomial_lbfgs import MultinomialLBFGS as MultinomialLBFGS
    from .solvers.multinomial_newton import MultinomialNewton as MultinomialNewton
    from .solvers.multipliers import Multipliers as Multipliers
    from .solvers.newglmnet import NewGLMNET as NewGLMNET
    from .solvers.newton_cholesky import NewtonCholesky as NewtonCholesky
    from .solvers.one_class import OneClassCD as OneClassCD
    from .solvers.ordinal_newton import OrdinalNewton as OrdinalNewton
    from .solvers.pegasos import Pegasos as Pegasos
    from .solvers.primal_cd import PrimalCD as PrimalCD
    from .solvers.prox_newton import ProxNewton as ProxNewton
    from .solvers.registry import solvers as solvers
    from .solvers.sgd import SgdM as SgdM
    from .solvers.sgd import SgdR as SgdR
    from .solvers.sgd import SgdS as SgdS
    from .solvers.sgd_qn import SgdQN as SgdQN
    from .solvers.solution import Solution as Solution
    from .solvers.solution import Status as Status
    from .solvers.solve import solve as solve
    from .solvers.svm_sgd import SvmSgd as SvmSgd
    from .solvers.trace import Trace as Trace
    from .solvers.tron import TRON as TRON

_HOME = {
    "Matrix": "data.matrix",
    "read_svmlight": "data.svmlight",
    "write_svmlight": "data.svmlight",
    "Model": "model.model",
    "load_model": "model.open",
    "Problem": "objective.problem",
    "Certificate": "objective.certificate",
    "solve": "solvers.solve",
    "solvers": "solvers",
    "Solver": "solvers.base",
    "Solution": "solvers.solution",
    "Status": "solvers.solution",
    "Trace": "solvers.trace",
    "DualCD": "solvers.dual_cd",
    "SgdS": "solvers.sgd",
    "SgdM": "solvers.sgd",
    "SgdR": "solvers.sgd",
    "SvmSgd": "solvers.svm_sgd",
    "SgdQN": "solvers.sgd_qn",
    "Pegasos": "solvers.pegasos",
    "SvmPerf": "solvers.cutting_plane",
    "Ocas": "solvers.cutting_plane",
    "FiniteNewton": "solvers.finite_newton",
    "OrdinalNewton": "solvers.ordinal_newton",
    "OrdinalProblem": "objective.ordinal",
    "OrdinalSVC": "estimators.ordinal_svc",
    "kkt_violation": "objective.kkt",
    "PrimalCD": "solvers.primal_cd",
    "CMLS": "solvers.cmls",
    "NewGLMNET": "solvers.newglmnet",
    "InteriorPoint": "solvers.interior_point",
    "NewtonCholesky": "solvers.newton_cholesky",
    "TRON": "solvers.tron",
    "LBFGS": "solvers.lbfgs",
    "HandOver": "solvers.hand_over",
    "LassoCD": "solvers.lasso_cd",
    "ProxNewton": "solvers.prox_newton",
    "Multipliers": "solvers.multipliers",
    "OneClassCD": "solvers.one_class",
    "OneClassProblem": "objective.one_class",
    "LinearOneClassSVM": "estimators.one_class",
    "CrammerSinger": "solvers.crammer_singer",
    "CrammerSingerProblem": "objective.crammer_singer",
    "MaximumEntropyProblem": "objective.maximum_entropy",
    "MultinomialNewton": "solvers.multinomial_newton",
    "MultinomialDualCD": "solvers.multinomial_dual_cd",
    "MultinomialLBFGS": "solvers.multinomial_lbfgs",
    "MulticlassModel": "multiclass.base",
    "fit_one_vs_one": "multiclass.one_vs_one",
    "fit_dag": "multiclass.dag",
    "fit_joint": "multiclass.joint",
    "LinearSVC": "estimators.linear_svc",
    "LinearSVR": "estimators.linear_svr",
    "LogisticRegression": "estimators.logistic_regression",
    "Ridge": "estimators.least_squares",
    "Lasso": "estimators.least_squares",
    "ElasticNet": "estimators.least_squares",
    "OnlineClassifier": "estimators.online",
    "OnlineRegressor": "estimators.online",
    "LinearSVCCV": "estimators.cv",
    "LogisticRegressionCV": "estimators.cv",
    "LassoCV": "estimators.cv",
    "path": "selection.path",
    "RegularizationPath": "selection.path",
    "find_C": "selection.search",
    "SearchResult": "selection.result",
    "EarlyStopping": "selection.stopping",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'widemargin' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
