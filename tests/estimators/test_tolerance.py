"""What the default tolerance promises: the predictions of the optimum, at every C."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.model_selection import cross_val_score

from widemargin import LinearSVC, LogisticRegression, Problem, solve
from widemargin.objective.certificate import Certificate, Goal, measure

EXACT = 1e-9
MODELS = {
    "multinomial": lambda **words: LogisticRegression(**words),
    "one-vs-rest": lambda **words: LogisticRegression(multi_class="ovr", **words),
    "squared hinge": lambda **words: LinearSVC(**words),
    "hinge": lambda **words: LinearSVC(loss="hinge", **words),
    "l1": lambda **words: LinearSVC(penalty="l1", **words),
}


@pytest.mark.parametrize("C", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("model", sorted(MODELS))
def test_scores_at_the_default_tolerance_are_those_of_the_optimum(model, C):
    """Measured by the objective alone, 0.1 % of it was as much as the whole model: 0.75 instead of 0.58."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    loose = cross_val_score(MODELS[model](C=C), X, y, cv=3).mean()
    exact = cross_val_score(MODELS[model](C=C, tol=EXACT), X, y, cv=3).mean()
    assert loose == pytest.approx(exact, abs=0.005)


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("model", ["one-vs-rest", "squared hinge", "l1"])
def test_predictions_of_raw_data_are_those_of_the_optimum(model, C):
    X, y = load_breast_cancer(return_X_y=True)
    loose, exact = (MODELS[model](C=C, tol=tol).fit(X[::2], y[::2]) for tol in (1e-3, EXACT))
    margins = exact.decision_function(X[1::2])
    clear = np.abs(margins) > 1e-6 * np.abs(margins).max()
    assert np.mean((loose.predict(X[1::2]) == exact.predict(X[1::2]))[clear]) >= 0.995


@pytest.mark.parametrize("solver", ["dual_cd", "newton_cholesky", "tron", "lbfgs", "finite_newton", "prox_newton"])
def test_every_solver_means_the_same_by_tol(solver):
    X, y = make_classification(400, 20, flip_y=0.3, random_state=0)
    problem = Problem(X, y, "squared_hinge", C=1e-4, intercept="free")
    found = solve(problem, solver, tol=1e-3)
    assert found.converged
    exact = solve(problem, tol=1e-12)
    gain = problem.at_zero - exact.certificate.primal
    assert found.certificate.primal - exact.certificate.primal <= 1e-3 * gain
    assert np.linalg.norm(found.coef - exact.coef) <= np.sqrt(2e-3) * 1.01 * np.linalg.norm(exact.coef)


def test_gaps_are_measured_by_the_objective_or_by_the_gain_over_no_model():
    assert measure(100.0, 99.0, np.inf) == 100.0  # nothing is known of w = 0
    assert measure(100.0, 99.0, 500.0) == 100.0  # far better than w = 0
    assert measure(100.0, 99.0, 101.0) == 2.0  # hardly better
    assert measure(100.0, 99.99, 100.0) == pytest.approx(0.1)  # no better: a share of the objective
    assert measure(1e-30, 0.0, 1.0) == pytest.approx(1e-13)  # exact predictions: what rounding leaves
    assert Certificate(100.0, 99.0, 101.0).relative_gap == pytest.approx(0.5)
    assert Goal(0.5, 101.0).is_met(1.0, 100.0)
    assert not Goal(0.4, 101.0).is_met(1.0, 100.0)
