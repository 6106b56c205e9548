"""Rows that occur many times, solved as one each."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import MaximumEntropyProblem, OrdinalProblem, Problem, solve
from widemargin.solvers.run.merged import FEWEST_ROWS, Merging

ROWS = FEWEST_ROWS + 7


def repeated(seed: int = 0, kinds: int = 300, columns: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of few kinds, a response with three values of its own for each kind, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(kinds, columns)).round(2)[rng.integers(kinds, size=ROWS)]
    return X, np.round(X @ rng.normal(size=columns)) + rng.integers(-1, 2, ROWS), rng.uniform(0, 2, ROWS)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("loss", "penalty"), [("logistic", "l2"), ("hinge", "l2"), ("squared_hinge", "l1")])
def test_the_merged_problem_is_the_same_problem(convert, loss, penalty):
    X, response, weight = repeated()
    problem = Problem(convert(X), response > 0, loss, penalty, C=0.1, intercept="free", sample_weight=weight)
    merging = Merging.of(problem)
    assert merging.problem.X.shape[0] <= 600
    rng = np.random.default_rng(1)
    for _ in range(3):
        w, b = rng.normal(size=6), rng.normal()
        assert merging.problem.objective(w, b) == pytest.approx(problem.objective(w, b), rel=1e-12)
    found = solve(problem, tol=1e-7)
    assert found.converged
    assert found.dual.shape == (ROWS,)
    exact = problem.certificate(found.coef, found.intercept, found.dual)
    assert exact.relative_gap <= 1.01e-7


def test_a_warm_start_finds_its_way_there_and_back():
    X, response, weight = repeated()
    problem = Problem(X, response > 0, "hinge", C=0.1, sample_weight=weight)
    first = solve(problem, tol=1e-6)
    again = solve(problem, tol=1e-5, warm_start=first)
    assert again.converged and again.n_iter == 0


@pytest.mark.parametrize("kind", [MaximumEntropyProblem, OrdinalProblem])
def test_classes_are_merged_too(kind):
    X, response, weight = repeated()
    problem = kind(X, np.clip(response, -1, 1), C=0.01, sample_weight=weight)
    assert Merging.of(problem).problem.X.shape[0] <= 900
    found = solve(problem, tol=1e-5)
    assert problem.certificate(found.coef, dual=found.dual).relative_gap <= 1.01e-5


def test_rows_of_many_kinds_and_few_rows_stay_as_they_are():
    rng = np.random.default_rng(0)
    many = Problem(rng.normal(size=(ROWS, 3)), rng.random(ROWS) < 0.5)
    assert Merging.of(many).kinds is None
    few = Problem(np.ones((100, 3)), np.arange(100) % 2)
    assert Merging.of(few).kinds is None
