"""The one route from labels to models: parts, weights, warm starts, who is told, and how Ctrl-C ends it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from multiclass_data import class_data
from widemargin import LinearSVC, Matrix, Problem, Status, solve
from widemargin.multiclass import make_strategy
from widemargin.multiclass.binary import Binary
from widemargin.multiclass.labelled import Labelled
from widemargin.multiclass.parts import OneSided
from widemargin.multiclass.solving import Ask, solve_plainly
from widemargin.solvers import effort
from widemargin.solvers.effort import Effort

SETTINGS = {"loss": "hinge", "penalty": "l2", "intercept": "free"}


def data_of(classes: int = 4, **words) -> Labelled:
    X, y = class_data(1, rows=120, classes=classes)
    return Labelled(Matrix(X), y, np.arange(classes), **words)


def test_own_factors_count_in_the_own_rows_of_one_against_the_rest_and_everywhere_else():
    own, weights = np.array([2.0, 1.0, 0.5, 3.0]), np.linspace(1, 2, 120)
    data = data_of(weights=weights, own_factors=own)
    for model, part in enumerate(make_strategy("ovr").parts(data, SETTINGS)):
        expected = weights * np.where(data.codes == model, own[model], 1.0)
        np.testing.assert_array_equal(part.make().weights, expected)
        assert part.side is None  # whose weights differ from model to model cannot begin together
    everywhere = weights * own[data.codes]
    for part in make_strategy("ovo").parts(data, SETTINGS):
        np.testing.assert_array_equal(part.make().weights, everywhere[part.rows()])
    (joint,) = make_strategy("crammer_singer").parts(data, SETTINGS)
    np.testing.assert_array_equal(joint.make().weights, everywhere)
    (both,) = Binary().parts(data_of(2, own_factors=own[:2]), SETTINGS)
    assert set(both.make().weights) == {2.0, 1.0}


def test_fewer_rows_are_the_same_problems_copied_or_not():
    data, rows = data_of(own_factors=np.array([2.0, 1.0, 0.5, 3.0])), np.arange(0, 120, 2)
    w = np.linspace(-1, 1, data.X.shape[1])
    for name in ("ovr", "ovo"):
        method = make_strategy(name)
        copied, shared = (method.parts(some, SETTINGS) for some in (data.taken(rows), data.restricted(rows)))
        for one, other in zip(copied, shared, strict=True):
            assert one.make().objective(w, 0.1) == pytest.approx(other.make().objective(w, 0.1), rel=1e-12)
            assert one.at(3.0).make().C == 3.0


def test_a_side_without_a_row_that_counts_is_no_problem():
    data = data_of()
    for fewer in (data.taken(np.flatnonzero(data.codes != 2)), data.restricted(np.flatnonzero(data.codes != 2))):
        made = [part.make() for part in make_strategy("ovr").parts(fewer, SETTINGS)]
        assert [isinstance(one, OneSided) for one in made] == [False, False, True, False]
        pairs = {part.classes: part.at(2.0).make() for part in make_strategy("ovo").parts(fewer, SETTINGS)}
        assert pairs[0, 2] == pairs[1, 2] == OneSided(False) and pairs[2, 3] == OneSided(True)
        assert isinstance(pairs[0, 1], Problem)


def test_each_model_is_told_of_by_its_title():
    told = []

    @contextmanager
    def watch(title, tol):
        told.append((title, tol))
        yield None

    for name in ("ovr", "ovo", "crammer_singer"):
        make_strategy(name).fit(data_of(3), SETTINGS, Ask(Effort(tol=1e-2), watch=watch))
    classes = [f"class {k} ({k + 1} of 3)" for k in range(3)]
    pairs = ["0 or 1 (1 of 3)", "0 or 2 (2 of 3)", "1 or 2 (3 of 3)"]
    assert told == [(title, 1e-2) for title in [*classes, *pairs, ""]]
    make_strategy("ovr").fit(data_of(3), SETTINGS, Ask(Effort(n_jobs=2), watch=watch))
    assert len(told) == 7  # side by side, nobody has the screen


@pytest.mark.parametrize("name", ["ovr", "ovo"])
def test_ctrl_c_keeps_what_is_there_where_models_are_solved_in_turn(name, monkeypatch):
    def interrupted(*given, **asked):
        runs.append(1)
        solution = solve(*given, **asked)
        return replace(solution, status=Status.INTERRUPTED) if len(runs) == 3 else solution

    monkeypatch.setattr(effort, "solve", interrupted)
    runs = []
    method, data = make_strategy(name), data_of()
    count = len(method.parts(data, SETTINGS))
    found = method.fit(data, SETTINGS, Ask(in_turn=True))
    assert len(found.solutions) == len(found.coef) == len(found.intercept) == 3
    assert found.missing == count - 3
    runs.clear()
    with pytest.raises(KeyboardInterrupt):
        method.fit(data, SETTINGS, Ask())


def test_the_time_is_shared_among_the_models():
    seconds = []

    def noted(model, problem, effort, start):
        seconds.append(effort.max_seconds)
        return solve_plainly(model, problem, effort, start)

    make_strategy("ovr").fit(data_of(3), SETTINGS, Ask(Effort(max_seconds=3e6), solve=noted))
    assert seconds == pytest.approx([1e6, 1.5e6, 3e6], rel=1e-2)


def test_starts_are_taken_where_they_fit():
    data = data_of(3)
    found = make_strategy("ovr").fit(data, SETTINGS, Ask())
    again = make_strategy("ovr").fit(data, SETTINGS, Ask(starts=found.solutions))
    assert [one.n_iter for one in again.solutions] == [0, 0, 0]
    joint = make_strategy("crammer_singer").fit(data, SETTINGS, Ask(starts=found.solutions))  # other coefficients
    assert joint.solutions[0].n_iter > 0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_coefficients_are_held_once(loss, n_jobs):
    X, y = class_data(3, rows=200)
    model = LinearSVC(loss=loss, n_jobs=n_jobs).fit(X, y)
    for row, solution in zip(model.coef_, model.solutions_, strict=True):
        assert np.shares_memory(row, solution.coef)
        np.testing.assert_array_equal(row, solution.coef)


def test_models_of_files_need_no_scipy():
    program = (
        "import sys, numpy as np; from widemargin.model.fit import Recipe, fit_model\n"
        "X, y = np.repeat(np.eye(3), 3, axis=0), np.repeat([1, 2, 3], 3)\n"
        "for words in ({}, {'pairs': True}, {'class_weight': {'1': 2.0}}, {'balanced': True}):\n"
        "    fit_model(X, y, Recipe(loss='hinge', **words))\n"
        "fit_model(X, y > 1, Recipe(loss='hinge'))\n"
        "print([name for name in ('scipy', 'sklearn') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
