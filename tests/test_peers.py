"""Agreement with LIBLINEAR and scikit-learn on the objective, and with published optima."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from support import random_data, real_data
from widemargin import Problem, read_svmlight, solve

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from liblinear.liblinearutil import train

SHAPE = {"rows": 300, "columns": 20}

# LIBLINEAR's -s, and what it solves in our words; with -B 1 the intercept is a constant feature.
LIBLINEAR = {
    0: "logistic",
    1: "squared_hinge",
    2: "squared_hinge",
    3: "hinge",
    7: "logistic",
    11: "squared_epsilon_insensitive",
    12: "squared_epsilon_insensitive",
    13: "epsilon_insensitive",
}


def data_for(loss):
    X, response = random_data(41, **SHAPE)
    return X, (response if "insensitive" in loss else np.sign(response))


def liblinear_model(X, y, solver, C, bias):
    """Coefficients and intercept of LIBLINEAR, trained to a tiny tolerance."""
    options = f"-s {solver} -c {C} -B {1 if bias else -1} -e 1e-9 -p 0.1 -q"
    model = train(y.tolist(), sp.csr_matrix(X), options)
    w, b = model.get_decfun()
    # It takes the first label it meets as the positive one.
    sign = 1.0 if solver >= 11 or model.get_labels()[0] == 1 else -1.0
    return sign * np.array(w), sign * b if bias else 0.0


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("solver", LIBLINEAR)
def test_liblinear_reaches_our_optimum_and_no_less(solver, C, bias):
    loss = LIBLINEAR[solver]
    X, y = data_for(loss)
    problem = Problem(X, y, loss=loss, C=C, intercept="regularized" if bias else "none")
    ours = solve(problem, tol=1e-7)
    assert ours.converged
    theirs = problem.objective(*liblinear_model(X, y, solver, C, bias))
    assert theirs == pytest.approx(ours.certificate.primal, rel=1e-6)
    assert theirs >= ours.certificate.dual * (1 - 1e-12)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_libsvm_agrees_on_a_free_intercept(C):
    from sklearn.svm import SVC

    X, y = data_for("hinge")
    problem = Problem(X, y, loss="hinge", C=C, intercept="free")
    ours = solve(problem, tol=1e-7)
    peer = SVC(kernel="linear", C=C, tol=1e-8).fit(X.toarray(), y)
    theirs = problem.objective(peer.coef_[0], float(peer.intercept_[0]))
    assert theirs == pytest.approx(ours.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_sklearn_linear_svc_agrees(loss):
    from sklearn.svm import LinearSVC

    X, y = data_for(loss)
    problem = Problem(X, y, loss=loss, C=0.1, intercept="regularized", intercept_scaling=2.0)
    peer = LinearSVC(loss=loss, C=0.1, intercept_scaling=2.0, tol=1e-9, max_iter=10**6, dual=True, random_state=0)
    peer.fit(X.toarray(), y)
    theirs = problem.objective(peer.coef_[0], float(peer.intercept_[0]))
    assert theirs == pytest.approx(solve(problem, tol=1e-7).certificate.primal, rel=1e-6)


def test_ridge_has_a_closed_form():
    X, response = random_data(42, **SHAPE)
    A = X.toarray()
    w = np.linalg.solve(2 * A.T @ A + np.eye(20), 2 * A.T @ response)
    solution = solve(Problem(X, response, loss="squared"), tol=1e-10)
    np.testing.assert_allclose(solution.coef, w, rtol=1e-4, atol=1e-6)


def published(name, low, high, tol, X, y):
    """The optimum lies where the paper says: our two bounds, closer together than the paper's, meet its interval."""
    solution = solve(Problem(X, y, loss="hinge", C=0.1), tol=tol)
    assert solution.converged
    certificate = solution.certificate
    assert certificate.dual <= high, f"{name}: {certificate}"
    assert certificate.primal >= low, f"{name}: {certificate}"
    assert certificate.gap <= high - low


@pytest.mark.parametrize(
    ("name", "low", "high", "tol"), [("a9a", 1149.893, 1149.904, 1e-6), ("w8a", 755.1064, 755.1139, 1e-6)]
)
def test_published_optimum(name, low, high, tol):
    """Table 1 of the SGD paper: L1-SVM, no intercept, C = 0.1."""
    X, y = real_data(name)
    published(name, low, high, tol, X, y)


def test_published_optimum_of_covtype():
    """Class 1 against the rest, raw features times 0.001."""
    X, y = real_data("covtype")
    published("covtype", 36427.16, 36427.52, 5e-6, X * 0.001, y == 1)


def test_real_data_are_read_by_our_own_reader():
    assert callable(read_svmlight)
