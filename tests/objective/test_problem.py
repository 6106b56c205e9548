"""The problem: its objective against a naive formula, its derivatives against differences, and its symmetries."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from support import COMBINATIONS, random_data, random_problem
from widemargin import Matrix, Problem
from widemargin.objective.losses import LOSSES
from widemargin.objective.problem import INTERCEPTS

SMOOTH = [(loss, intercept) for loss in LOSSES if LOSSES[loss].smooth for intercept in INTERCEPTS]


def weights(seed: int, rows: int = 60) -> np.ndarray:
    """Weights from 0 to 3, some of them 0."""
    rng = np.random.default_rng(seed)
    return rng.random(rows) * 3 * (rng.random(rows) < 0.8)


def point(seed: int, columns: int = 12) -> tuple[np.ndarray, float]:
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(columns)
    return w, float(rng.standard_normal())


def naive_objective(problem: Problem, A: np.ndarray, w: np.ndarray, b: float) -> float:
    """The formula of the module, word for word."""
    z = A @ w + b
    loss = problem.weights @ problem.loss.value(z, problem.y)
    penalised = np.append(w, b / problem.intercept_scaling) if problem.intercept == "regularized" else w
    rho = problem.penalty.rho
    return float(loss + rho * np.abs(penalised).sum() + (1 - rho) / 2 * penalised @ penalised)


@pytest.mark.parametrize(("loss", "penalty", "intercept"), COMBINATIONS)
def test_objective_is_the_formula(loss, penalty, intercept):
    settings = {"C": 0.7, "intercept_scaling": 2.0, "l1_ratio": 0.3, "sample_weight": weights(1)}
    problem = random_problem(0, loss, penalty, intercept, **settings)
    A = random_data(0)[0].toarray()
    w, b = point(2)
    b = 0.0 if intercept == "none" else b
    expected = naive_objective(problem, A, w, b)
    assert problem.objective(w, b) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(problem.weights, 0.7 * weights(1))


@pytest.mark.parametrize(("loss", "penalty", "intercept"), COMBINATIONS)
def test_gradient_is_that_of_the_objective(loss, penalty, intercept):
    """Central differences; a random point lies away from every kink, and the piecewise linear parts are exact."""
    problem = random_problem(3, loss, penalty, intercept, intercept_scaling=0.5, sample_weight=weights(3))
    w, b = point(4)
    b = 0.0 if intercept == "none" else b
    g, g_b = problem.gradient(w, b)
    step = 1e-6
    for j, unit in enumerate(np.eye(len(w))):
        slope = (problem.objective(w + step * unit, b) - problem.objective(w - step * unit, b)) / (2 * step)
        assert g[j] == pytest.approx(slope, rel=1e-6, abs=1e-5)
    slope = (problem.objective(w, b + step) - problem.objective(w, b - step)) / (2 * step)
    assert g_b == pytest.approx(0.0 if intercept == "none" else slope, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize(("loss", "intercept"), SMOOTH)
def test_hessian_product(loss, intercept):
    """Against the explicit matrix, and against differences of the gradient of the loss part."""
    problem = random_problem(5, loss, "l2", intercept, sample_weight=weights(5))
    A = random_data(5)[0].toarray()
    w, b = point(6)
    v, v_b = point(7)
    z = A @ w + b
    h = problem.loss_derivatives(z)[1]
    product, product_b = problem.hess_vec(h, v, v_b)
    extended = np.column_stack([A, np.ones(len(A))])
    explicit = extended.T @ np.diag(h) @ extended @ np.append(v, v_b)
    np.testing.assert_allclose(np.append(product, product_b), explicit, rtol=1e-10, atol=1e-10)
    step = 1e-6
    ahead, behind = (problem.loss_pass(w + s * v, b + s * v_b) for s in (step, -step))
    np.testing.assert_allclose(product, (ahead.gradient - behind.gradient) / (2 * step), rtol=1e-5, atol=1e-5)
    slope = (ahead.intercept_gradient - behind.intercept_gradient) / (2 * step)
    assert product_b == pytest.approx(slope, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_loss_pass_agrees_with_the_single_verbs(loss):
    problem = random_problem(8, loss, sample_weight=weights(8))
    w, b = point(8)
    at = problem.loss_pass(w, b)
    z = problem.X.matvec(w)
    np.testing.assert_allclose(at.z, z + b, rtol=1e-14, atol=1e-14)
    assert at.value == pytest.approx(problem.loss_sum(z, b), rel=1e-13)
    np.testing.assert_allclose(at.u, problem.loss_derivatives(z, b)[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(at.gradient, problem.X.rmatvec(at.u), rtol=1e-12, atol=1e-12)
    assert at.intercept_gradient == pytest.approx(at.u.sum())


@pytest.mark.parametrize("convert", [sp.csr_array, lambda X: X.toarray(), lambda X: (X != 0).astype(float)])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_passes_do_not_depend_on_the_number_of_threads(loss, convert):
    problem = random_problem(9, loss, rows=5000, columns=30, density=0.3, convert=convert)
    w, b = point(9, 30)
    one, h = problem.loss_pass(w, b), np.random.default_rng(9).random(5000)
    h[::3] = 0
    product = problem.hess_vec(h, w, b)
    for n_jobs in (2, 3, 7):
        other = problem.with_jobs(n_jobs)
        at = other.loss_pass(w, b)
        assert (at.value, at.intercept_gradient) == (one.value, one.intercept_gradient)
        for name in ("z", "u", "gradient"):
            np.testing.assert_array_equal(getattr(at, name), getattr(one, name))
        again = other.hess_vec(h, w, b)
        np.testing.assert_array_equal(again[0], product[0])
        assert again[1] == product[1]
        assert other.objective(w, b) == problem.objective(w, b)


# Symmetries, for every combination.


def measure(problem: Problem) -> tuple[float, float, float]:
    """What a problem says at a fixed point: objective, certified primal, and dual bound."""
    w, b = point(11)
    b = 0.0 if problem.intercept == "none" else b
    certificate = problem.certificate(w, b)
    return problem.objective(w, b), certificate.primal, certificate.dual


def target(loss: str, response: np.ndarray) -> np.ndarray:
    return np.sign(response) if LOSSES[loss].classification else response


@pytest.mark.parametrize(("loss", "penalty", "intercept"), COMBINATIONS)
def test_weights_repetition_order_and_storage(loss, penalty, intercept):
    X, response = random_data(12)
    y = target(loss, response)
    counts = np.random.default_rng(12).integers(0, 4, len(y))
    counts[:2] = 1
    setting = {"loss": loss, "penalty": penalty, "intercept": intercept, "C": 0.5}
    weighted = measure(Problem(X, y, sample_weight=counts, **setting))
    repeated = np.repeat(np.arange(len(y)), counts)
    shuffled = np.random.default_rng(0).permutation(repeated)
    for rows in (repeated, shuffled):
        np.testing.assert_allclose(measure(Problem(X[rows], y[rows], **setting)), weighted, rtol=1e-8)
    np.testing.assert_allclose(measure(Problem(X.toarray(), y, sample_weight=counts, **setting)), weighted, rtol=1e-8)
    np.testing.assert_allclose(measure(Problem(X.tocsc(), y, sample_weight=counts, **setting)), weighted, rtol=1e-8)
    single = measure(Problem(X.astype(np.float32), y, sample_weight=counts, **setting))
    np.testing.assert_allclose(single, weighted, rtol=1e-4)


@pytest.mark.parametrize(("loss", "penalty", "intercept"), COMBINATIONS)
def test_flipping_labels_flips_the_model(loss, penalty, intercept):
    X, response = random_data(13)
    y = target(loss, response)
    setting = {"loss": loss, "penalty": penalty, "intercept": intercept}
    problem, flipped = Problem(X, y, **setting), Problem(X, -y, **setting)
    w, b = point(13)
    b = 0.0 if intercept == "none" else b
    assert flipped.objective(-w, -b) == pytest.approx(problem.objective(w, b), rel=1e-12)
    assert flipped.certificate(-w, -b).dual == pytest.approx(problem.certificate(w, b).dual, rel=1e-9)


@given(st.integers(0, 10_000), st.sampled_from(COMBINATIONS), st.floats(1e-3, 1e3))
def test_objective_of_any_problem(seed, combination, C):
    loss, penalty, intercept = combination
    problem = random_problem(seed, loss, penalty, intercept, C=C, rows=15, columns=4)
    w, b = point(seed, 4)
    b = 0.0 if intercept == "none" else b
    expected = naive_objective(problem, random_data(seed, 15, 4)[0].toarray(), w, b)
    assert problem.objective(w, b) == pytest.approx(expected, rel=1e-11)


# Labels, targets and weights.


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([-1, 1, 1], [-1, 1]),
        ([0, 1, 1], [0, 1]),
        ([3.5, 7.0, 7.0], [3.5, 7.0]),
        ([False, True, True], [False, True]),
        (["no", "yes", "yes"], ["no", "yes"]),
        (np.array(["no", "yes", "yes"], dtype=object), ["no", "yes"]),
        ([b"a", b"b", b"b"], [b"a", b"b"]),
        (np.array([1, 2, 2], dtype=np.uint8), [1, 2]),
        (np.array([[-1], [1], [1]]), [-1, 1]),
        ([10**30, 10**31, 10**31], [10**30, 10**31]),
    ],
)
def test_any_two_labels(y, classes):
    problem = Problem([[1.0], [2.0], [3.0]], y, loss="hinge")
    np.testing.assert_array_equal(problem.y, [-1.0, 1.0, 1.0])
    assert problem.classes.tolist() == classes


def test_targets_are_kept():
    problem = Problem([[1.0], [2.0]], [5, -7], loss="squared")
    np.testing.assert_array_equal(problem.y, [5.0, -7.0])
    assert problem.classes is None


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 1, 1], "y must hold exactly two classes, it holds 1: 1"),
        ([1, 2, 3], "y must hold exactly two classes, it holds 3: 1, 2, 3"),
        (["a", "b", "c"], "it holds 3: 'a', 'b', 'c'"),
        ([1.0, np.nan, 2.0], r"y\[1\] is not finite"),
        ([1.0, np.inf, 2.0], r"y\[1\] is not finite"),
        (np.array(["a", None, "b"], dtype=object), r"y\[1\] is None: every row needs a label"),
        (np.array(["a", np.nan, "b"], dtype=object), r"y\[1\] is nan: every row needs a label"),
        (np.array(["a", 1, "b"], dtype=object), "y mixes labels that have no common order"),
        ([1, 2], "y has 2 entries, X has 3 rows"),
        ([[1, 2], [1, 2], [1, 2]], r"y must be one-dimensional, got shape \(3, 2\)"),
        ([1j, 2, 1], "Complex data not supported: y"),
    ],
)
def test_refused_labels(y, message):
    with pytest.raises(ValueError, match=message):
        Problem([[1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize("y", [["a", None, "b"], [0, None, 1]])
@pytest.mark.parametrize("dtype", ["object", "string", "Int64", "category"])
def test_missing_label_of_pandas(y, dtype):
    if dtype == "Int64" and "a" in y:
        pytest.skip("no integers")
    with pytest.raises(ValueError, match=r"y\[1\] is .*: every row needs a label"):
        Problem([[1.0], [2.0], [3.0]], pd.Series(y, dtype=dtype))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan], r"y\[1\] is nan: every value must be finite"),
        (["a", "b"], "y must hold real numbers"),
        ([1.0], "y has 1 entries, X has 2 rows"),
    ],
)
def test_refused_targets(y, message):
    with pytest.raises(ValueError, match=message):
        Problem([[1.0], [2.0]], y, loss="squared")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0}, "C must be a finite number > 0, got 0"),
        ({"C": -1.0}, "C must be a finite number > 0"),
        ({"C": np.nan}, "C must be a finite number > 0"),
        ({"C": np.inf}, "C must be a finite number > 0"),
        ({"loss": "log"}, "unknown loss 'log': use one of hinge, "),
        ({"penalty": "l0"}, "unknown penalty 'l0': use one of l2, l1, elasticnet"),
        ({"intercept": True}, "unknown intercept True: use one of none, regularized, free"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be a finite number > 0"),
        ({"l1_ratio": 2.0, "penalty": "elasticnet"}, "l1_ratio must be between 0 and 1"),
        ({"loss": "epsilon_insensitive", "epsilon": -1.0}, "epsilon must be a finite number >= 0"),
        ({"loss": "huber", "delta": 0.0}, "delta must be a finite number > 0, got 0.0"),
        ({"loss": "quantile", "q": 1.0}, "q must be a finite number > 0 and < 1, got 1.0"),
        ({"loss": "quantile", "delta": 1.0}, "loss 'quantile' has no parameter 'delta': its parameters are q"),
        ({"epsilon": 0.1}, "loss 'squared_hinge' has no parameter 'epsilon': it has no parameters"),
        ({"sample_weight": [1.0]}, "sample_weight has 1 entries, X has 2 rows"),
        ({"sample_weight": 1.0}, "sample_weight must be one-dimensional"),
        ({"sample_weight": [1.0, -2.0]}, r"sample_weight\[1\] is -2: weights must not be negative"),
        ({"sample_weight": [1.0, np.nan]}, r"sample_weight\[1\] is nan: every value must be finite"),
        ({"sample_weight": ["a", "b"]}, "sample_weight must hold real numbers"),
        ({"sample_weight": [0.0, 0.0]}, "zero everywhere"),
        ({"sample_weight": [1e300, 1.0], "C": 1e300}, r"C \* sample_weight\[0\] is inf"),
        ({"sample_weight": [1e-300, 0.0], "C": 1e-300}, "zero everywhere"),
    ],
)
def test_refused_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Problem([[1.0], [2.0]], [0, 1], **settings)


def test_points_of_the_wrong_length_are_refused():
    problem = random_problem(0, "logistic")
    for call in (problem.objective, problem.gradient, problem.loss_pass, problem.certificate):
        with pytest.raises(ValueError, match="w has length 13, expected 12"):
            call(np.zeros(13))
        with pytest.raises(ValueError, match="w must be one-dimensional"):
            call(np.zeros((12, 1)))
    with pytest.raises(ValueError, match="u has length 59, expected 60"):
        problem.dual_value(np.zeros(59))
    with pytest.raises(ValueError, match="h has length 59, expected 60"):
        problem.hess_vec(np.zeros(59), np.zeros(12))


def test_matrix_is_shared_between_problems():
    X = Matrix(random_data(0)[0])
    columns = X.native_columns
    y = np.sign(random_data(0)[1])
    assert Problem(X, y, C=2.0).X.native_columns is columns


def test_repr():
    problem = Problem([[1.0], [2.0]], [0, 1], loss="logistic", C=0.25, intercept="free")
    expected = "Problem(Matrix(2 x 1, dense float64), loss='logistic', penalty='l2', C=0.25, intercept='free')"
    assert repr(problem) == expected
