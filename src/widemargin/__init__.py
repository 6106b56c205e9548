"""Large-scale linear classification with a proof of accuracy for every fit.

The public names below are loaded on first use, so that `import widemargin` stays as light as NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import solvers as solvers
    from .data.block_file.block_file import BlockFile as BlockFile
    from .data.block_file.making import append_blocks as append_blocks
    from .data.block_file.making import write_blocks as write_blocks
    from .data.matrix import Matrix as Matrix
    from .data.svmlight import read_svmlight as read_svmlight
    from .data.svmlight import write_svmlight as write_svmlight
    from .estimators.chain_crf import ChainCRF as ChainCRF
    from .estimators.chain_svm import ChainSVM as ChainSVM
    from .estimators.cv import LassoCV as LassoCV
    from .estimators.cv import LinearSVCCV as LinearSVCCV
    from .estimators.cv import LogisticRegressionCV as LogisticRegressionCV
    from .estimators.huber_regressor import HuberRegressor as HuberRegressor
    from .estimators.least_squares import ElasticNet as ElasticNet
    from .estimators.least_squares import Lasso as Lasso
    from .estimators.least_squares import Ridge as Ridge
    from .estimators.linear_svc import LinearSVC as LinearSVC
    from .estimators.linear_svr import LinearSVR as LinearSVR
    from .estimators.logistic_regression import LogisticRegression as LogisticRegression
    from .estimators.max_ent import MaxEnt as MaxEnt
    from .estimators.one_class import LinearOneClassSVM as LinearOneClassSVM
    from .estimators.online import OnlineClassifier as OnlineClassifier
    from .estimators.online import OnlineRegressor as OnlineRegressor
    from .estimators.ordinal_svc import OrdinalSVC as OrdinalSVC
    from .estimators.quantile_regressor import QuantileRegressor as QuantileRegressor
    from .model.model import Model as Model
    from .model.open import load_model as load_model
    from .multiclass.base import MulticlassModel as MulticlassModel
    from .multiclass.dag import fit_dag as fit_dag
    from .multiclass.joint import fit_joint as fit_joint
    from .multiclass.one_vs_one import fit_one_vs_one as fit_one_vs_one
    from .objective.candidates.problem import CandidatesProblem as CandidatesProblem
    from .objective.certificate import Certificate as Certificate
    from .objective.chains.crf import ChainCRFProblem as ChainCRFProblem
    from .objective.chains.svm import ChainSVMProblem as ChainSVMProblem
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
    from .solvers.run.solution import Solution as Solution
    from .solvers.run.solution import Status as Status
    from .solvers.run.trace import Trace as Trace
    from .solvers.solve import solve as solve

_HOME = {
    "Matrix": "data.matrix",
    "BlockFile": "data.block_file.block_file",
    "write_blocks": "data.block_file.making",
    "append_blocks": "data.block_file.making",
    "read_svmlight": "data.svmlight",
    "write_svmlight": "data.svmlight",
    "Model": "model.model",
    "load_model": "model.open",
    "Problem": "objective.problem",
    "Certificate": "objective.certificate",
    "solve": "solvers.solve",
    "Solution": "solvers.run.solution",
    "Status": "solvers.run.solution",
    "Trace": "solvers.run.trace",
    "OrdinalProblem": "objective.ordinal",
    "OrdinalSVC": "estimators.ordinal_svc",
    "kkt_violation": "objective.kkt",
    "OneClassProblem": "objective.one_class",
    "LinearOneClassSVM": "estimators.one_class",
    "CrammerSingerProblem": "objective.crammer_singer",
    "MaximumEntropyProblem": "objective.maximum_entropy",
    "ChainCRFProblem": "objective.chains.crf",
    "ChainSVMProblem": "objective.chains.svm",
    "MulticlassModel": "multiclass.base",
    "fit_one_vs_one": "multiclass.one_vs_one",
    "fit_dag": "multiclass.dag",
    "fit_joint": "multiclass.joint",
    "LinearSVC": "estimators.linear_svc",
    "MaxEnt": "estimators.max_ent",
    "CandidatesProblem": "objective.candidates.problem",
    "ChainCRF": "estimators.chain_crf",
    "ChainSVM": "estimators.chain_svm",
    "LinearSVR": "estimators.linear_svr",
    "LogisticRegression": "estimators.logistic_regression",
    "Ridge": "estimators.least_squares",
    "Lasso": "estimators.least_squares",
    "ElasticNet": "estimators.least_squares",
    "HuberRegressor": "estimators.huber_regressor",
    "QuantileRegressor": "estimators.quantile_regressor",
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

__all__ = [*_HOME, "__version__", "solvers"]


def __getattr__(name: str) -> Any:
    if name == "solvers":
        return import_module(".solvers", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'widemargin' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
