"""Points carry their products: what a certificate finds there it does not compute again, and its proof stays true."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from multiclass_data import class_data
from support import COMBINATIONS, random_problem
from widemargin import MaximumEntropyProblem, _core, solve
from widemargin.objective.points import Point
from widemargin.selection.walk import Effort, Walk


def point_of(problem, seed=0):
    rng = np.random.default_rng(seed)
    b = 0.0 if problem.intercept == "none" else 0.3
    return Point(0.1 * rng.standard_normal(problem.size), b)


@pytest.mark.parametrize(("loss", "penalty", "intercept"), COMBINATIONS)
def test_a_certified_point_carries_its_products(loss, penalty, intercept):
    problem = random_problem(1, loss, penalty, intercept)
    point = problem.certify(point_of(problem)).point
    np.testing.assert_allclose(point.z, problem.X.matvec(point.w, point.intercept), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(point.pull, problem.X.rmatvec(point.dual), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_known_products_are_not_made_again(loss, intercept, monkeypatch):
    problem = random_problem(2, loss, "l2", intercept)
    first = problem.certify(point_of(problem))

    def refused(*arguments):
        raise AssertionError("this product was known")

    monkeypatch.setattr(_core, "matvec", refused)
    monkeypatch.setattr(_core, "rmatvec", refused)
    again = problem.certify(first.point)
    assert again.certificate.primal == pytest.approx(first.certificate.primal, rel=1e-13)
    assert again.certificate.dual == pytest.approx(first.certificate.dual, rel=1e-13)


def test_scores_of_several_classes_travel_too(monkeypatch):
    X, y = class_data(3)
    problem = MaximumEntropyProblem(X, y, intercept="free")
    first = problem.certify(Point(np.random.default_rng(0).standard_normal(problem.size)))
    np.testing.assert_allclose(first.point.z, problem.scores(first.point.w), rtol=1e-13)
    monkeypatch.setattr(_core, "class_scores", None)
    assert problem.certify(first.point).certificate.primal == first.certificate.primal


@pytest.mark.parametrize("solver", ["tron", "lbfgs", "newton_cholesky"])
def test_a_product_to_which_many_steps_were_added_is_made_anew(solver):
    problem = random_problem(4, "logistic", intercept="free", C=100.0)
    f = problem.smooth()
    at = f.start(None)
    for steps in range(4):
        assert (f.point(at).z is None) == (steps > 1)
        at = f.ray(at, -1e-3 * at.gradient).moved(1.0)
    found = solve(problem, solver, tol=1e-9)
    exact = problem.certificate(found.coef, found.intercept, found.dual)
    assert found.certificate.primal == pytest.approx(exact.primal, rel=1e-13)


def test_a_solution_that_was_changed_does_not_bring_old_products_along():
    """A warm start is what the user sees of it: products that belong to other coefficients are no part of it."""
    problem = random_problem(5, "squared_hinge", intercept="regularized")
    found = solve(problem, tol=1e-8)
    changed = replace(found, coef=found.coef + 1.0)
    again = solve(problem, tol=1e-8, warm_start=changed)
    first = again.trace[0]
    assert first.objective == pytest.approx(problem.objective(changed.coef, changed.intercept), rel=1e-12)
    assert again.converged


def test_a_pickled_solution_leaves_its_products_behind():
    problem = random_problem(7, "logistic", intercept="free")
    found = solve(problem, tol=1e-6)
    again = pickle.loads(pickle.dumps(found))
    assert found.point.z is not None and again.point.z is None and again.point.pull is None
    np.testing.assert_array_equal(again.coef, found.coef)
    assert again.point.w is again.coef


def products_made(monkeypatch, walk, Cs):
    made = []
    for name in ("matvec", "rmatvec"):
        native = getattr(_core, name)
        monkeypatch.setattr(_core, name, lambda *a, native=native: (made.append(1), native(*a))[1])
    for C in Cs:
        walk.to(C)
    monkeypatch.undo()
    return len(made)


def test_a_walk_along_C_makes_fewer_products_than_fits_apart(monkeypatch):
    problem = random_problem(6, "squared_hinge", rows=300, intercept="regularized")
    Cs = [2.0**k for k in range(-6, 4)]
    along = products_made(monkeypatch, Walk(problem.kept_along(), Effort(tol=1e-6)), Cs)
    apart = sum(products_made(monkeypatch, Walk(problem, Effort(tol=1e-6)), [C]) for C in Cs)
    assert along < apart
