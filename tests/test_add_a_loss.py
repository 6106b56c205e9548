"""CONTRIBUTING's recipe for a loss, followed: what is added to the table is solved by every solver that can take it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from block_rows import where_it_runs
from reference import solve_reference
from support import random_problem
from widemargin import Problem, cli, find_C, load_model, read_svmlight, solve, write_svmlight
from widemargin.objective import loss_table
from widemargin.objective.loss_table import Family, piecewise
from widemargin.objective.losses import LOSSES, Loss
from widemargin.solvers.registry import table

RECIPE = Path(__file__).parent.parent / "CONTRIBUTING.md"
OWN_TOLERANCE = {"svm_sgd": 3e-2}


def recipe() -> Family:
    """The function and the entry, as they stand in the recipe."""
    section = RECIPE.read_text(encoding="utf-8").partition("## Add a loss")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    function, entry = ("\n".join(line.removeprefix("   ") for line in block.splitlines()) for block in blocks)
    names = dict(vars(loss_table))
    exec(function, names)
    family: Family = eval(entry.strip(), names)
    return family


def steep_hinge() -> Loss:
    """3 max(0, 1 - y z)"""
    return piecewise("steep_hinge", classification=True, lower=0.0, upper=3.0)


def margin_square() -> Loss:
    """2 (1 - y z)^2"""
    return piecewise("margin_square", classification=True, bend=0.125)


def either_side() -> Loss:
    """|1 - y z|, half as steep beyond the margin"""
    return piecewise("either_side", classification=True, lower=-0.5, upper=1.0)


def one_sided() -> Loss:
    """max(0, |z - y| - 1/4)^2 above the target, flat at slope 1 below"""
    return piecewise("one_sided", classification=False, bend=0.25, zone=0.25, upper=1.0)


ADDED = {
    family.name: family for family in (recipe(), *map(Family, (steep_hinge, margin_square, either_side, one_sided)))
}


@pytest.fixture(params=ADDED)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A loss that is in the table as long as the test runs."""
    monkeypatch.setitem(LOSSES, request.param, ADDED[request.param])
    return str(request.param)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_every_solver_that_declares_it_solves_it(name: str, intercept: str) -> None:
    declared = [cls for cls in table().values() if cls.can_take(Problem) and name in cls.losses]
    assert len(declared) >= 4, declared
    for penalty in ("l2", "l1", "elasticnet"):
        weights = np.random.default_rng(1).integers(0, 3, 60) + (np.arange(60) < 2)
        problem = random_problem(5, name, penalty, intercept, C=0.3, sample_weight=weights)
        assert solve(problem, tol=1e-6).converged
        best = solve_reference(problem, problem.X.to_scipy().toarray())
        for solver in (cls.name for cls in declared if cls.supports(name, penalty, intercept)):
            tol = OWN_TOLERANCE.get(solver, 1e-6)
            found = solve(where_it_runs(problem, solver), solver, tol=tol, max_iter=50_000)
            assert found.converged, (solver, problem, found)
            assert found.certificate.primal == pytest.approx(best.value, rel=tol + 1e-7), solver


def test_it_is_searched_and_trained_from_the_command_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    problem = random_problem(6, name, intercept="free")
    given: dict[str, Any] = {key: 2 * known.default for key, known in LOSSES[name].parameters.items()}
    X, y = problem.X.to_scipy(), problem.y
    found = find_C(X, y, name, Cs=[0.1, 1.0], cv=3, **given)
    assert found.solution.converged
    write_svmlight("data", X, y)
    words = [word for key, value in given.items() for word in (f"--{key}", str(value))]
    assert cli.main(["train", "--loss", name, *words, "data", "model"]) == 0
    model = load_model("model")
    assert {key: model.settings[key] for key in given} == given
    again = type(problem)(*read_svmlight("data"), name, **given)
    (facts,) = model.certificates
    assert facts["status"] == "converged"
    assert facts["objective"] == pytest.approx(again.objective(model.weights[0]), rel=1e-12)


def test_the_table_is_as_before() -> None:
    assert not set(ADDED) & set(LOSSES)
