"""The clock cuts native calls into slices; where it cuts must decide nothing."""

from __future__ import annotations

import numpy as np
import pytest

from block_rows import where_it_runs
from support import random_data, random_problem
from widemargin import (
    ChainCRFProblem,
    ChainSVMProblem,
    CrammerSingerProblem,
    MaximumEntropyProblem,
    OneClassProblem,
    OrdinalProblem,
    Solution,
    solve,
)
from widemargin.objective.losses import LOSSES
from widemargin.solvers import FiniteNewton, Solver, table
from widemargin.solvers.base import Run
from widemargin.solvers.finite_newton import rounds as newton_rounds

STOCHASTIC = (
    "sgd_s",
    "sgd_m",
    "sgd_r",
    "svm_sgd",
    "sgd_qn",
    "pegasos",
    "svm_perf",
    "ocas",
    "chain_cutting_plane",
    "chain_sgd",
)


def one_class_problem() -> OneClassProblem:
    X, _ = random_data(3, rows=300, columns=20)
    X.data = np.abs(X.data)
    return OneClassProblem(X, nu=0.2)


def ordinal_problem() -> OrdinalProblem:
    X, response = random_data(3, rows=200, columns=20)
    return OrdinalProblem(X, np.digitize(response, [-0.5, 0.5]))


def linear_problem(solver: type[Solver]):
    """The hardest of what the solver declares: the last loss and penalty by name."""
    loss, penalty = max(solver.losses & set(LOSSES)), min(solver.penalties)
    return random_problem(3, loss, penalty, max(solver.intercepts), rows=300, columns=40, C=5.0)


def multiclass_problem(kind: type) -> object:
    X, response = random_data(3, rows=200, columns=20)
    return kind(X, np.digitize(response, [-0.5, 0.5]))


def chain_problem(kind: type, solver: type[Solver]) -> object:
    X, response = random_data(3, rows=200, columns=20)
    return kind(X, np.digitize(response, [-0.5, 0.5]), [5] * 40, penalty=min(solver.penalties))


PROBLEMS = {
    "chain_eg": lambda solver: chain_problem(ChainCRFProblem, solver),
    "owlqn": lambda solver: chain_problem(ChainCRFProblem, solver),
    "chain_bcfw": lambda solver: chain_problem(ChainSVMProblem, solver),
    "chain_cutting_plane": lambda solver: chain_problem(ChainSVMProblem, solver),
    "chain_sgd": lambda solver: chain_problem(ChainSVMProblem, solver),
    "one_class": lambda solver: one_class_problem(),
    "ordinal_newton": lambda solver: ordinal_problem(),
    "ordinal_interior": lambda solver: ordinal_problem(),
    "class_interior": lambda solver: multiclass_problem(CrammerSingerProblem),
    "crammer_singer": lambda solver: multiclass_problem(CrammerSingerProblem),
    "multinomial_dual_cd": lambda solver: multiclass_problem(MaximumEntropyProblem),
}


def ends(solver: Solver, monkeypatch: pytest.MonkeyPatch, pulse: float, seconds: float) -> Solution:
    monkeypatch.setattr(Run, "slice", lambda self: seconds)
    monkeypatch.setattr(newton_rounds, "PULSE", pulse)
    problem = where_it_runs(PROBLEMS.get(solver.name, linear_problem)(type(solver)), solver.name)
    stochastic = solver.name in STOCHASTIC
    return solve(problem, solver, tol=1e-2 if stochastic else 1e-9, max_iter=300 if stochastic else 5000)


CASES = [*(cls() for cls in table().values()), FiniteNewton(subset=0.3)]


@pytest.mark.parametrize(
    "solver", CASES, ids=lambda solver: f"{solver.name}{'-subset' * bool(getattr(solver, 'subset', 0))}"
)
def test_the_result_is_the_same_wherever_the_clock_cuts(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    rarely = ends(solver, monkeypatch, pulse=np.inf, seconds=1e6)
    always = ends(solver, monkeypatch, pulse=0.0, seconds=0.0)
    np.testing.assert_array_equal(always.coef, rarely.coef)
    assert (always.intercept, always.n_iter, always.status) == (rarely.intercept, rarely.n_iter, rarely.status)
