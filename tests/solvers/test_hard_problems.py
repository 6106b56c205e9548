"""Random hard problems, a small draw: `auto` ends proven, and never with anything worse than no model."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.convergence.hard import hard_problem

from widemargin import Problem, solve
from widemargin.solvers.auto import choose

ENTRIES = 20_000
# Numbers of draws that end proven in a moment; the benchmark counts thousands, and names those that do not.
NUMBERS = (*range(2000, 2030), *range(2040, 2060))
# Certificates that float64 cannot give: l1 slopes whose terms are more than 1e16 times their bound.
BEYOND = frozenset({2002})


@pytest.mark.parametrize("number", [number for number in NUMBERS if number not in BEYOND])
def test_auto_ends_proven(number):
    hard = hard_problem(number, ENTRIES)
    found = solve(hard.problem, tol=1e-3, max_seconds=60)
    assert found.converged, hard.words
    assert np.isfinite(found.coef).all()
    exact = hard.problem.certificate(found.coef, found.intercept, found.dual)
    assert exact.relative_gap <= 1e-3 * 1.01
    assert exact.primal <= hard.problem.at_zero * (1 + 1e-12)


def wild(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns between 1e-6 and 1e9."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    signal = X @ rng.normal(size=columns)
    return X * 10 ** rng.uniform(-6, 9, columns), signal


@pytest.mark.parametrize("loss", ["squared", "huber", "squared_epsilon_insensitive", "epsilon_insensitive", "quantile"])
@pytest.mark.parametrize("shape", [(133, 555), (555, 133)])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_regression_with_l2_on_columns_ten_decades_apart(loss, shape, intercept):
    X, signal = wild(*shape)
    found = solve(Problem(X, signal, loss, C=1.0, intercept=intercept), tol=1e-3, max_seconds=60)
    assert found.converged


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "modified_huber"])
@pytest.mark.parametrize("penalty", ["l2", "elasticnet"])
@pytest.mark.parametrize("shape", [(60, 200), (300, 40)])
def test_labels_on_columns_ten_decades_apart(loss, penalty, shape):
    X, signal = wild(*shape, seed=1)
    problem = Problem(X, np.sign(signal), loss, penalty, C=10.0, intercept="free")
    assert solve(problem, tol=1e-3, max_seconds=60).converged


@pytest.mark.parametrize("columns", [26, 2000])
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_separable_rows_with_a_large_C_and_a_free_intercept(columns, C):
    rng = np.random.default_rng(4)
    X = 100 * rng.normal(size=(46, columns))
    y = np.sign(X @ rng.normal(size=columns))
    found = solve(Problem(X, y, "hinge", C=C, intercept="free"), tol=1e-6, max_seconds=60)
    assert found.converged


def test_the_last_resort_stands_behind_every_two_class_rule():
    for loss in ("hinge", "squared_hinge", "logistic", "squared", "quantile"):
        for penalty in ("l2", "l1", "elasticnet"):
            problem = Problem(np.eye(5), [0, 1, 0, 1, 0], loss, penalty)
            assert choose(problem).title.endswith("interior_point"), (loss, penalty)
