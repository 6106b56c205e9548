"""What is drawn for every registered solver: a problem out of all that it declares, and a start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from block_rows import on_disk
from support import drawn_parameters, random_data
from widemargin import (
    CandidatesProblem,
    ChainCRFProblem,
    ChainSVMProblem,
    CrammerSingerProblem,
    MaximumEntropyProblem,
    OneClassProblem,
    OrdinalProblem,
    Problem,
    solve,
)
from widemargin.data.rows import BLOCKS
from widemargin.objective.losses import LOSSES
from widemargin.solvers.registry import solver_class

EXACT = 1e-6
# What a stochastic or cutting-plane method reaches in reasonable time.
OWN_TOLERANCE = {
    "sgd_s": 1e-2,
    "sgd_m": 1e-2,
    "sgd_r": 1e-2,
    "svm_sgd": 3e-2,
    "sgd_qn": 3e-2,
    "pegasos": 5e-2,
    "svm_perf": 1e-3,
    "ocas": 1e-4,
    "chain_cutting_plane": 1e-3,
    "chain_sgd": 5e-2,
}
STORAGES = {
    "csr": lambda X: X,
    "csc": lambda X: X.tocsc(),
    "dense": lambda X: X.toarray(),
    "one value": lambda X: sp.csr_array(X > 0.5, dtype=X.dtype),
}
CHAINS = (ChainCRFProblem, ChainSVMProblem)
PROBLEMS = (
    Problem,
    CrammerSingerProblem,
    MaximumEntropyProblem,
    OneClassProblem,
    OrdinalProblem,
    CandidatesProblem,
    *CHAINS,
)
Draw = st.DataObject


def tolerance(name: str) -> float:
    """The relative gap that the solver is asked for."""
    return OWN_TOLERANCE.get(name, EXACT)


def drawn_problem(name: str, data: Draw, *, sizes: tuple[float, ...] = (0.05, 1.0, 5.0), raw: bool = False) -> Any:
    """A problem that the solver declares, with a C of those sizes; raw: features may have scales of their own."""
    solver = solver_class(name)
    seed = data.draw(st.integers(0, 10**6), label="seed")
    columns = data.draw(st.sampled_from([6, 70]), label="columns")
    X, response = random_data(seed, rows=50, columns=columns)
    if solver.takes is OneClassProblem:
        X.data += 1.5  # rows around the origin have no one-class SVM: w = 0
    if raw and data.draw(st.booleans(), label="raw"):
        X = X @ sp.diags_array(10 ** np.random.default_rng(seed).uniform(-2, 1, X.shape[1]))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]), label="dtype")
    X = STORAGES[data.draw(st.sampled_from(sorted(STORAGES)), label="storage")](X.astype(dtype))
    weight = None
    if data.draw(st.booleans(), label="weighted"):
        weight = np.random.default_rng(seed).integers(0, 3, 50) + (np.arange(50) < 4.0)
    C = data.draw(st.sampled_from(sizes), label="C")
    kinds = [kind for kind in PROBLEMS if solver.can_take(kind)]
    kind = data.draw(st.sampled_from(kinds), label="problem")
    if kind is not Problem:
        return other_problem(kind, name, X, response, C, weight, data)
    loss = data.draw(st.sampled_from(sorted(solver.losses & set(LOSSES))), label="loss")
    penalty = data.draw(st.sampled_from(sorted(solver.penalties)), label="penalty")
    intercept = data.draw(st.sampled_from(sorted(solver.intercepts)), label="intercept")
    y = np.sign(response) if LOSSES[loss].classification else response
    parameters = drawn_parameters(loss, data)
    X = on_disk(X) if BLOCKS in solver.needs else X
    return Problem(X, y, loss, penalty, C, intercept=intercept, sample_weight=weight, **parameters)


def other_problem(kind: type, name: str, X: Any, response: Any, C: float, weight: Any, data: Draw) -> Any:
    """The problems that are not of the form of `Problem`."""
    classes = np.digitize(response, [-0.8, 0.8])
    classes[:3] = [0, 1, 2]
    if kind is CandidatesProblem:
        groups, penalty = np.repeat(np.arange(10), 5), data.draw(st.sampled_from(sorted(solver_class(name).penalties)))
        chosen = np.eye(5)[np.random.default_rng(0).integers(0, 5, 10)].reshape(-1)
        return CandidatesProblem(
            X, chosen, groups, C, penalty=penalty, sample_weight=weight[:10] if weight is not None else None
        )
    if kind in CHAINS:
        return chain_problem(kind, name, X, classes, C, weight, data)
    if kind is OneClassProblem:
        return OneClassProblem(X, min(C, 0.7), sample_weight=weight)
    if kind is OrdinalProblem:
        loss = data.draw(st.sampled_from(sorted(solver_class(name).losses)), label="loss")
        thresholds = data.draw(st.sampled_from(["free", "regularized"]), label="thresholds")
        return OrdinalProblem(X, classes, loss, C, thresholds=thresholds, sample_weight=weight)
    intercept = data.draw(st.sampled_from(sorted(solver_class(name).intercepts)), label="intercept")
    return kind(X, classes, C, intercept=intercept, sample_weight=weight)


def chain_problem(kind: type, name: str, X: Any, classes: Any, C: float, weight: Any, data: Draw) -> Any:
    """Sequences of one to nine tokens, with all pairs or those that were observed."""
    lengths = [1, 9, 4, 6, 2, 8, 3, 7, 5, 5]
    choices = {
        what: data.draw(st.sampled_from(["all", "observed"]), label=what) for what in ("features", "transitions")
    }
    choices["penalty"] = data.draw(st.sampled_from(sorted(solver_class(name).penalties)), label="penalty")
    weight = None if weight is None else weight[: len(lengths)]
    return kind(X, classes, lengths, C, sample_weight=weight, **choices)


def drawn_start(problem: Any, data: Draw) -> Any:
    """None, or a coarse solution of the problem shifted a little: a start that is neither zero nor optimal."""
    if not data.draw(st.booleans(), label="warm"):
        return None
    coarse = solve(problem, tol=0.3, max_iter=3)
    shift = 0.1 * np.random.default_rng(0).standard_normal(coarse.coef.shape)
    return replace(coarse, coef=coarse.coef + shift)


def crawls(name: str, problem: Any) -> bool:
    """Whether single coordinates take 100,000 passes: nearly as many weights as rows, all moving together."""
    rows, columns = problem.X.shape
    return name == "primal_cd" and problem.penalty.rho > 0 and columns > rows and problem.C >= 1
