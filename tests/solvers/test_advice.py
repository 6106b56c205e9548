"""A run that did not converge is told with what is known: who, where, which columns, and what would help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from plain_rows import PlainRows
from support import random_problem
from widemargin import Certificate, LinearOneClassSVM, LinearSVC, Matrix, OrdinalSVC, Problem, Status, solve
from widemargin.cli import main
from widemargin.data.column_scales import wild_columns
from widemargin.objective.any_problem import AnyProblem
from widemargin.outside import warn_outside
from widemargin.solvers import table
from widemargin.solvers.advice import another_solver, explain_end, remedies
from widemargin.solvers.run.solution import Solution


def ended(problem: AnyProblem, status: Status, solver: str = "dual_cd", gap: float = 0.25) -> Solution:
    found = solve(problem, "auto", tol=0.9, max_iter=1)
    proof = Certificate(1.0, 1.0 - gap)
    return replace(found, status=status, solver=solver, n_iter=312, seconds=1.5, certificate=proof)


# The columns.


def test_columns_much_alike_are_not_wild():
    rng = np.random.default_rng(0)
    assert wild_columns(Matrix(rng.uniform(-1, 1, (50, 8)))) == []
    assert wild_columns(Matrix(rng.uniform(-1, 1, (50, 8)) * 10.0 ** np.arange(-1, 2).repeat(3)[:8])) == []
    one_hot = sp.csr_array(np.eye(100)[rng.integers(0, 100, 500)])  # rare is not small
    assert wild_columns(Matrix(one_hot)) == []
    assert wild_columns(Matrix(np.zeros((3, 2)))) == []
    assert wild_columns(Matrix(1e9 * rng.uniform(-1, 1, (50, 8)))) == []  # all of them large


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_the_wild_columns_are_named_with_their_ranges(convert):
    X = np.random.default_rng(1).uniform(0, 1, (40, 6))
    X[:, 2] *= -4e6
    X[:, 4] *= 1e-8
    X[0, 2], X[1, 2], X[0, 4], X[1, 4] = -4e6, 0.0, 0.0, 1e-8
    found = wild_columns(Matrix(convert(X)), list("abcdef"))
    assert [str(one) for one in found] == ["column 4 'e' (0 to 1e-08)", "column 2 'c' (-4e+06 to 0)"]
    assert str(wild_columns(Matrix(convert(X)))[0]) == "column 4 (0 to 1e-08)"


def test_many_wild_columns_are_not_all_named_and_rows_elsewhere_are_not_read():
    X = np.ones((5, 40)) * 10.0 ** np.linspace(-9, 9, 40)
    assert len(wild_columns(Matrix(X))) == 3
    assert wild_columns(PlainRows(X)) == []


# The sentence.


def test_a_run_that_stalled_on_features_in_minus_one_to_one_is_not_told_to_scale_or_to_lower_C():
    problem = Problem(np.random.default_rng(2).uniform(-1, 1, (60, 5)), np.arange(60) % 2, "hinge", C=1e3)
    said = explain_end(problem, ended(problem, Status.STALLED), 1e-3, who="LinearSVC")
    assert "scal" not in said and "lower" not in said and " C" not in said
    assert said.startswith(
        "LinearSVC ended with status 'stalled': dual_cd made no more progress after 312 steps and 1.5 s, at a relative "
        "gap of 0.25, above tol=0.001"
    )
    assert "try solver='" in said and said.endswith("or accept a larger tol.")


def test_wild_columns_are_told_with_the_solver_and_the_limit():
    X = np.random.default_rng(3).uniform(-1, 1, (60, 5)) * [1, 1, 1e7, 1, 1]
    problem = Problem(X, np.arange(60) % 2)
    said = explain_end(problem, ended(problem, Status.TIME_LIMIT), 1e-3, names=["a", "b", "income", "d", "e"])
    assert "dual_cd ran out of time" in said and "give it more time" in said
    assert "scale the features, whose ranges differ by decades: column 2 'income' (-" in said


def test_a_gap_that_is_not_known_is_said_to_be_so():
    problem = random_problem(0, "hinge")
    assert "at an unknown relative gap" in explain_end(problem, ended(problem, Status.STALLED, gap=np.inf), 1e-3)


def test_another_solver_can_solve_it_and_has_not_tried():
    for loss in ("hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive"):
        for penalty in ("l2", "l1", "elasticnet"):
            problem = random_problem(1, loss, penalty, "free")
            for cls in table().values():
                if cls.solves(problem):
                    solution = ended(problem, Status.STALLED, cls.name)
                    assert another_solver(problem, solution, cls.name) == "auto"
                    other = another_solver(problem, solution, "auto")
                    assert other is None or (other != cls.name and table()[other].solves(problem))


def test_where_there_is_no_choice_none_is_offered():
    problem = random_problem(1, "hinge")
    assert remedies(problem, ended(problem, Status.STALLED), None) == ["accept a larger tol"]
    assert remedies(problem, ended(problem, Status.ITERATION_LIMIT)) == ["raise max_iter", "accept a larger tol"]
    assert remedies(problem, ended(problem, Status.STALLED), None, ("pray",)) == ["pray", "accept a larger tol"]


# Where it is said.


def test_estimators_say_it_where_fit_was_called():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (60, 4))
    y = rng.integers(0, 3, 60)
    for model in (LinearSVC(solver="dual_cd", C=100.0), OrdinalSVC(C=100.0), LinearOneClassSVM(nu=0.1)):
        model.set_params(tol=1e-15, max_iter=1)
        with pytest.warns(ConvergenceWarning) as told:
            model.fit(X + 2, y)
        assert told[0].filename == __file__
        assert "raise max_iter" in str(told[0].message) and "scale the features" not in str(told[0].message)
    with pytest.warns(ConvergenceWarning, match=r"scale the features.*column 3 \("):
        LinearSVC(tol=1e-15, max_iter=1, solver="dual_cd").fit(X * [1, 1, 1, 1e8], y)


def test_the_command_line_says_it_too(tmp_path, capsys):
    (tmp_path / "data.svm").write_text("".join(f"{1 - 2 * (k % 2)} 1:{k % 3} 2:{1e6 * (k % 5)}\n" for k in range(20)))
    words = ["train", "-s", "3", "-e", "1e-14", "--max-iter", "1", str(tmp_path / "data.svm"), str(tmp_path / "m.wm")]
    main(words)
    said = capsys.readouterr().err
    assert "warning: the training ended with status 'iteration_limit'" in said and "column 1 (0 to 4e+06)" in said


def test_a_warning_points_outside_of_the_package():
    with pytest.warns(UserWarning, match="look here") as told:
        warn_outside("look here")
    assert told[0].filename == __file__
