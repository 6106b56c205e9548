"""How a fit ends: every estimator that solves keeps its proof, warns when it falls short, and passes Ctrl-C on."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multiclass_data import class_data
from widemargin import (
    ElasticNet,
    Lasso,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    OrdinalSVC,
    Problem,
    Ridge,
    Solution,
    Status,
    fit_one_vs_one,
    solve,
)
from widemargin.solvers import effort
from widemargin.solvers.run.several import solve_each

SOLVING = [
    LinearSVC(),
    LogisticRegression(),
    LinearSVR(),
    Ridge(solver="tron"),
    Lasso(alpha=1e-3),
    ElasticNet(alpha=1e-3),
    OrdinalSVC(),
    LinearOneClassSVM(),
]


def rows_and_ranks() -> tuple[np.ndarray, np.ndarray]:
    X, y = class_data(1, rows=150)
    return X.toarray() + 1.0, y


@pytest.mark.parametrize("estimator", SOLVING, ids=lambda one: type(one).__name__)
def test_every_model_keeps_its_proof(estimator: Any) -> None:
    model = estimator.fit(*rows_and_ranks())
    assert model.tol == 1e-3
    assert model.max_iter is None
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certificate_ is model.solution_.certificate
    assert model.trace_ is model.solution_.trace
    assert model.solver_ == model.solution_.solver
    assert model.certificates_ == [one.certificate for one in model.solutions_]


@pytest.mark.parametrize("estimator", SOLVING, ids=lambda one: type(one).__name__)
def test_a_limit_warns_where_fit_was_called(estimator: Any) -> None:
    short = type(estimator)(**estimator.get_params() | {"tol": 1e-15, "max_iter": 1})
    with pytest.warns(ConvergenceWarning, match=r"iteration_limit.*above tol=1e-15.*raise max_iter") as told:
        short.fit(*rows_and_ranks())
    assert told[0].filename == __file__
    assert short.solution_.status is Status.ITERATION_LIMIT


@pytest.mark.parametrize("estimator", [OrdinalSVC(), LinearOneClassSVM()], ids=lambda one: type(one).__name__)
def test_ctrl_c_keeps_the_model_and_goes_on(estimator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows_and_ranks()
    home = sys.modules[type(estimator).__module__]
    stopped = {"callback": lambda row: True, "tol": 1e-15}
    monkeypatch.setattr(home, "solve", lambda *given, **asked: solve(*given, **asked | stopped))
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y)
    assert estimator.solution_.status is Status.INTERRUPTED
    assert estimator.predict(X).shape == y.shape


class Interrupted:
    """`solve` whose second run Ctrl-C ends; counts the runs that begin."""

    def __init__(self) -> None:
        self.begun = 0

    def __call__(self, *given: Any, **asked: Any) -> Solution:
        self.begun += 1
        solution = solve(*given, **asked)
        return replace(solution, status=Status.INTERRUPTED) if self.begun == 2 else solution


@pytest.mark.parametrize("method", ["ovr", "ovo", "dag"])
def test_ctrl_c_in_one_model_begins_no_other(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = class_data(2, classes=6)
    monkeypatch.setattr(effort, "solve", run := Interrupted())
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(multi_class=method).fit(X, y)
    assert run.begun == 2


def test_ctrl_c_in_one_output_begins_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = rows_and_ranks()
    monkeypatch.setattr(effort, "solve", run := Interrupted())
    with pytest.raises(KeyboardInterrupt):
        Ridge().fit(X, X[:, :5])
    assert run.begun == 2


def test_ctrl_c_in_one_pair_begins_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = class_data(2, classes=6)
    monkeypatch.setattr(effort, "solve", run := Interrupted())
    with pytest.raises(KeyboardInterrupt):
        fit_one_vs_one(X, y)
    assert run.begun == 2


def test_on_threads_what_has_not_begun_does_not_begin() -> None:
    """Ctrl-C while two of a hundred fits run: these two end, and a few that began before it was noticed."""
    begun, second_runs = [], threading.Event()

    def fit(k: int, seconds: float | None) -> Solution:
        begun.append(k)
        if k == 0:
            assert second_runs.wait(60)
            raise KeyboardInterrupt
        second_runs.set()
        threading.Event().wait(0.05)
        raise AssertionError("nobody asks for this result")

    with pytest.raises(KeyboardInterrupt):
        solve_each(fit, 100, workers=2)
    assert {0, 1} <= set(begun)
    assert len(begun) < 100


def test_on_threads_a_run_that_is_under_way_ends_too() -> None:
    """The second fit would go on for ever; that of Ctrl-C in the first one is what it hears."""
    X, y = class_data(3, classes=2)
    problem = Problem(X, y, loss="hinge", C=1e6)
    runs, ended = threading.Event(), []

    def fit(k: int, seconds: float | None) -> Solution:
        if k == 0:
            assert runs.wait(60)
            raise KeyboardInterrupt
        solution = solve(problem, "sgd_s", tol=0.0, max_seconds=60, callback=lambda row: runs.set())
        ended.append(solution.status)
        return solution

    with pytest.raises(KeyboardInterrupt):
        solve_each(fit, 2, workers=2)
    assert ended == [Status.INTERRUPTED]


def test_time_is_shared_by_the_fits_that_are_left() -> None:
    X, y = class_data(3, classes=2)
    solution = fit_one_vs_one(X, y).solutions[0]
    shares: list[float | None] = []

    def fit(k: int, seconds: float | None) -> Solution:
        shares.append(seconds)
        return solution

    assert solve_each(fit, 3, max_seconds=3e6) == [solution] * 3
    assert shares == pytest.approx([1e6, 1.5e6, 3e6], rel=1e-2)
    shares.clear()
    solve_each(fit, 3)
    assert shares == [None] * 3


@pytest.mark.parametrize("name", ["multinomial_dual_cd", "tron", "lbfgs"])
def test_solvers_of_all_classes_at_once_are_taken_by_name_and_as_objects(name: str) -> None:
    import widemargin

    X, y = class_data(4)
    for solver in (name, widemargin.solvers.table()[name]()):
        model = LogisticRegression(solver=solver).fit(X, y)
        assert model.solver_ == name
        assert len(model.solutions_) == 1
    assert len(LogisticRegression(solver="dual_cd").fit(X, y).solutions_) == 4
