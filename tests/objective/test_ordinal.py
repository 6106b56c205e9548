"""Ordinal regression: its gradient and dual, an explicit expansion, ordered thresholds, the estimator."""

from __future__ import annotations

import lzma
import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, mean_absolute_error
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from support import random_data
from widemargin import OrdinalProblem, OrdinalSVC, Problem, solve
from widemargin.solvers import OrdinalNewton

LOSS_NAMES = sorted(OrdinalNewton.losses)
THRESHOLDS = ("free", "regularized")
TOL = {"hinge": 1e-8}


def ordinal_data(seed: int, classes: int = 4, rows: int = 90) -> tuple[sp.csr_array, np.ndarray]:
    X, response = random_data(seed, rows=rows)
    cuts = np.quantile(response, np.arange(1, classes) / classes)
    return X, np.searchsorted(cuts, response)


def tol_of(loss: str) -> float:
    return TOL.get(loss, 1e-8)


@pytest.mark.parametrize(("loss", "thresholds", "C"), list(product(LOSS_NAMES, THRESHOLDS, [0.01, 1.0, 100.0])))
def test_every_declared_combination_is_solved_with_ordered_thresholds(loss: str, thresholds: str, C: float) -> None:
    problem = OrdinalProblem(*ordinal_data(1), loss=loss, C=C, thresholds=thresholds)
    solution = solve(problem, "ordinal_newton", tol=tol_of(loss))
    assert solution.converged
    assert problem.certificate(solution.coef, dual=solution.dual).relative_gap <= tol_of(loss)
    assert (np.diff(problem.split(solution.coef)[1]) >= 0).all()


@pytest.mark.parametrize(("loss", "thresholds"), list(product(["squared_hinge", "modified_huber"], THRESHOLDS)))
def test_gradient_by_finite_differences(loss: str, thresholds: str) -> None:
    problem = OrdinalProblem(*ordinal_data(2), loss=loss, thresholds=thresholds, sample_weight=np.arange(90) % 4)
    beta = np.random.default_rng(0).standard_normal(problem.size)
    step = 1e-6
    differences = [
        (problem.objective(beta + step * e) - problem.objective(beta - step * e)) / (2 * step)
        for e in np.eye(problem.size)
    ]
    np.testing.assert_allclose(problem.gradient(beta)[0], differences, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("loss", "thresholds"), list(product(LOSS_NAMES, THRESHOLDS)))
def test_weak_duality_against_an_independent_optimiser(loss: str, thresholds: str) -> None:
    problem = OrdinalProblem(*ordinal_data(3), loss=loss, thresholds=thresholds)
    start = np.append(np.zeros(12), [-0.5, 0.0, 0.5])
    method = {"hinge": "Powell"}.get(loss, "L-BFGS-B")
    found = minimize(
        problem.objective,
        start,
        method=method,
        options={"maxiter": 2000, "maxfun": 60000} if method == "L-BFGS-B" else {"maxiter": 30, "maxfev": 20000},
    )
    rng = np.random.default_rng(1)
    for _ in range(20):  # no dual point, however poor, may exceed a primal value
        v = -problem.loss_slopes(rng.standard_normal(problem.size)) * rng.random()
        assert problem.dual_value(v) <= found.fun + 1e-9
    ours = solve(problem, "ordinal_newton", tol=tol_of(loss))
    assert ours.certificate.dual <= found.fun * (1 + 1e-12)
    assert ours.certificate.primal <= found.fun * (1 + tol_of(loss))
    if loss != "hinge":
        assert ours.certificate.primal == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_agrees_with_the_expanded_binary_problem(loss: str) -> None:
    """Regularized thresholds are the weights of p - 1 indicator features, -1 each: an ordinary binary problem."""
    X, y = ordinal_data(4)
    expanded = sp.vstack(
        [
            sp.hstack([X, sp.coo_array((-np.ones(len(y)), (np.arange(len(y)), np.full(len(y), s))), shape=(len(y), 3))])
            for s in range(3)
        ]
    ).tocsr()
    signs = np.concatenate([np.where(y > s, 1, -1) for s in range(3)])
    binary = solve(Problem(expanded, signs, loss=loss, C=0.5), "dual_cd", tol=1e-9)
    ordinal = solve(
        OrdinalProblem(X, y, loss=loss, C=0.5, thresholds="regularized"), "ordinal_newton", tol=tol_of(loss)
    )
    assert binary.converged
    assert ordinal.certificate.primal == pytest.approx(binary.certificate.primal, rel=tol_of(loss) + 1e-9)
    np.testing.assert_allclose(ordinal.coef, binary.coef, atol=1e-4 if loss != "hinge" else 2e-3)


@pytest.mark.parametrize(("loss", "thresholds"), list(product(LOSS_NAMES, THRESHOLDS)))
def test_two_classes_are_the_binary_problem(loss: str, thresholds: str) -> None:
    X, y = ordinal_data(5, classes=2)
    binary = solve(Problem(X, y, loss=loss, intercept=thresholds), "finite_newton", tol=tol_of(loss))
    problem = OrdinalProblem(X, y, loss=loss, thresholds=thresholds)
    ordinal = solve(problem, "ordinal_newton", tol=tol_of(loss))
    assert ordinal.certificate.primal == pytest.approx(binary.certificate.primal, rel=2 * tol_of(loss))
    w, b = problem.split(ordinal.coef)
    np.testing.assert_allclose(w, binary.coef, atol=1e-3)
    assert loss == "hinge" or -b[0] == pytest.approx(binary.intercept, abs=1e-3)


def test_sorting_thresholds_never_costs() -> None:
    X, y = ordinal_data(6)
    rng = np.random.default_rng(3)
    for loss in LOSS_NAMES:
        problem = OrdinalProblem(X, y, loss=loss)
        for _ in range(20):
            beta = rng.standard_normal(15)
            ordered = np.append(beta[:12], np.sort(beta[12:]))
            assert problem.objective(ordered) <= problem.objective(beta) * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_storage_threads_preconditioning_and_warm_start_do_not_matter(loss: str) -> None:
    X, y = ordinal_data(7, rows=1500)
    problem = OrdinalProblem(X, y, loss=loss)
    tol = tol_of(loss)
    one = solve(problem, "ordinal_newton", tol=tol)
    np.testing.assert_array_equal(one.coef, solve(problem, "ordinal_newton", tol=tol, n_jobs=2).coef)
    others = [
        solve(OrdinalProblem(X.toarray(), y, loss=loss), "ordinal_newton", tol=tol),
        solve(OrdinalProblem(X.astype(np.float32), y, loss=loss), "ordinal_newton", tol=tol),
        solve(problem, OrdinalNewton(precondition=False, first_cg_limit=0, two_rounds=False), tol=tol),
        solve(problem, "ordinal_newton", tol=tol, warm_start=solve(problem, "ordinal_newton", tol=1e-2)),
    ]
    for other in others:
        assert other.converged
        assert other.certificate.primal == pytest.approx(one.certificate.primal, rel=max(2 * tol, 1e-6))


def test_what_is_wrong_is_said() -> None:
    X, y = ordinal_data(8)
    with pytest.raises(ValueError, match="thresholds"):
        OrdinalProblem(X, y, thresholds="none")
    with pytest.raises(ValueError, match="regression loss"):
        OrdinalProblem(X, y, loss="squared")
    with pytest.raises(ValueError, match="one class"):
        OrdinalProblem(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="expected \\(15,\\)"):
        OrdinalProblem(X, y).objective(np.zeros(12))
    with pytest.raises(ValueError, match="rows by thresholds"):
        OrdinalProblem(X, y).dual_value(np.zeros((90, 2)))
    with pytest.raises(ValueError, match="ordinal_newton"):
        solve(OrdinalProblem(X, y), "dual_cd")
    with pytest.raises(ValueError, match="does not solve"):
        solve(Problem(X, y > 1), "ordinal_newton")


# The estimator.


@parametrize_with_checks([OrdinalSVC()])
def test_scikit_learn_conventions(estimator: OrdinalSVC, check: object) -> None:
    check(estimator)


def test_estimator_carries_its_proof_and_predicts_by_its_thresholds() -> None:
    X, y = ordinal_data(9, classes=5, rows=200)
    labels = np.array(["e1", "e2", "e3", "e4", "e5"])[y]
    model = OrdinalSVC(C=5.0, tol=1e-6).fit(X, labels)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.coef_.shape == (1, 12)
    assert model.thresholds_.shape == (4,)
    assert len(model.trace_) >= model.n_iter_
    ranks = (model.scores(X)[:, None] > model.thresholds_).sum(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[ranks])
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), ranks)
    assert clone(model).get_params()["C"] == 5.0


def test_estimator_warns_when_it_ends_early() -> None:
    X, y = ordinal_data(10)
    with pytest.warns(ConvergenceWarning, match="iteration_limit"):
        OrdinalSVC(tol=1e-10, max_iter=1).fit(X, y)


# Real ordered labels.


def ordered_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    folder = os.environ.get("WIDEMARGIN_DATA")
    path = Path(folder or ".") / f"{name}.csv.xz"
    if folder is None or not path.exists():
        pytest.skip(f"needs {name}.csv.xz in the folder that WIDEMARGIN_DATA names")
    with lzma.open(path, "rt") as lines:
        rows = [line.replace(";", ",").replace('"', "").split(",") for line in lines if line.strip()]
    has_header = not rows[0][0].replace(".", "", 1).replace("-", "", 1).strip().isdigit()
    table = np.array(rows[has_header:], dtype=float)
    return table[:, :-1], table[:, -1].astype(int)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the peer's
@pytest.mark.parametrize("name", ["winequality-red", "ESL", "LEV", "SWD", "ERA"])
def test_real_labels_against_mord(name: str) -> None:
    """As accurate as mord's all-threshold logistic model in cross-validation, up to a standard error."""
    mord = pytest.importorskip("mord")
    X, y = ordered_table(name)
    folds = KFold(3, shuffle=True, random_state=0)
    ours = cross_val_predict(make_pipeline(StandardScaler(), OrdinalSVC()), X, y, cv=folds)
    theirs = cross_val_predict(make_pipeline(StandardScaler(), mord.LogisticAT(alpha=1.0)), X, y, cv=folds)
    assert mean_absolute_error(y, ours) <= mean_absolute_error(y, theirs) + 0.015
    assert accuracy_score(y, ours) >= accuracy_score(y, theirs) - 0.015


@pytest.mark.parametrize(("name", "loss"), list(product(["winequality-red", "winequality-white"], LOSS_NAMES)))
def test_unscaled_wine_converges(name: str, loss: str) -> None:
    X, y = ordered_table(name)
    model = OrdinalSVC(loss=loss, tol=1e-6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    assert (np.diff(model.thresholds_) >= 0).all()
