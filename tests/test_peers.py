"""Agreement with LIBLINEAR and scikit-learn on the objective, and with published optima."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from support import random_data, real_data
from widemargin import Problem, solve

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from liblinear.liblinearutil import train

# More columns than rows, so that LIBLINEAR's coordinate descent comes to its end within its fixed number of passes.
SHAPE = {"rows": 60, "columns": 80}

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
    w = np.linalg.solve(2 * A.T @ A + np.eye(80), 2 * A.T @ response)
    solution = solve(Problem(X, response, loss="squared"), tol=1e-10)
    # The objective is 1-strongly convex: the gap bounds the distance to the optimum, too.
    rounding = 1e-24 * np.sum(w**2)  # of the closed form itself
    assert np.sum((solution.coef - w) ** 2) <= 2 * solution.certificate.gap + rounding


@dataclass(frozen=True)
class Published:
    """Table 1 of the SGD paper: the optimum of the L1-SVM without intercept at C = 0.1 lies between these."""

    low: float
    high: float
    last_digit: float  # the unit in which the paper rounds

    def assert_agrees(self, X, y, tol):
        """Our bounds lie within the paper's, up to its rounding."""
        solution = solve(Problem(X, y, loss="hinge", C=0.1), tol=tol)
        assert solution.converged
        assert solution.certificate.dual >= self.low - self.last_digit / 2
        assert solution.certificate.primal <= self.high + self.last_digit / 2


@pytest.mark.parametrize(
    ("name", "published"),
    [("a9a", Published(1149.893, 1149.904, 1e-3)), ("w8a", Published(755.1064, 755.1139, 1e-4))],
)
def test_published_optimum(name, published):
    published.assert_agrees(*real_data(name), tol=1e-7)


def test_published_optimum_of_covtype():
    """Class 1 against the rest, raw features times 0.001."""
    X, y = real_data("covtype")
    Published(36427.16, 36427.52, 1e-2).assert_agrees(X * 0.001, y == 1, tol=1e-7)
