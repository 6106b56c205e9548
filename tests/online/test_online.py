"""Online learning: its updates against literal NumPy, exact continuation, and one pass against the batch model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from support import random_data, real_data
from widemargin import Matrix, OnlineClassifier, OnlineRegressor, Problem, solve
from widemargin.objective.losses import LOSSES, make_loss
from widemargin.online.learner import OnlineLearner, OnlineSpec

MARGIN_LOSSES = [name for name, loss in LOSSES.items() if loss.classification]
REGRESSION_LOSSES = [name for name, loss in LOSSES.items() if not loss.classification]


@parametrize_with_checks(
    [
        OnlineClassifier(),
        OnlineClassifier("hinge", average=True),
        OnlineClassifier("modified_huber", method="ftrl", l1=0.01, l2=0.01),
        OnlineRegressor(),
        OnlineRegressor("epsilon_insensitive", epsilon=0.01),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def scalar(loss, f, z, y):
    return float(getattr(loss, f)(np.array([z]), np.array([y]))[0])


def implicit_step(loss, z, y, weight, S):
    """h = weight loss'(z - h S) by bisection: the left side rises, the right one falls."""
    low, high = sorted((0.0, weight * scalar(loss, "derivative", z, y)))
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle - weight * scalar(loss, "derivative", z - middle * S, y) > 0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def naive_adagrad(X, y, weight, loss, eta):
    """The method as it is written down, on dense rows with the constant feature; returns the last and the mean w."""
    X = np.hstack([X, np.ones((len(X), 1))])
    w, G, s = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(X.shape[1])
    N, total, iterates = 0.0, 0.0, []
    for t, (x, target, c) in enumerate(zip(X, y, weight, strict=True), start=1):
        size = np.abs(x)
        grown = size > s
        w[grown] *= s[grown] / size[grown]
        s = np.maximum(s, size)
        seen = size > 0
        N += float(((x[seen] / s[seen]) ** 2).sum())
        z = float(w @ x)
        total += c * scalar(loss, "value", z, target)
        g = c * scalar(loss, "derivative", z, target)
        if g != 0:
            G += (g * x) ** 2
            rate = np.zeros_like(w)
            rate[seen] = eta * np.sqrt(t / N) / (s[seen] * np.sqrt(G[seen]))
            w = w - implicit_step(loss, z, target, c, float(rate @ x**2)) * rate * x
        iterates.append(w.copy())
    return w, np.mean(iterates, axis=0), total / weight.sum()


def naive_ftrl(X, y, weight, loss, alpha, beta, l1, l2):
    """McMahan et al. 2013, Algorithm 1, the intercept without penalty."""
    X = np.hstack([X, np.ones((len(X), 1))])
    d = X.shape[1]
    z, n = np.zeros(d), np.zeros(d)
    l1s, l2s = np.full(d, l1), np.full(d, l2)
    l1s[-1] = l2s[-1] = 0

    def weights():
        shrunk = np.sign(z) * np.maximum(0, np.abs(z) - l1s)
        return -shrunk / ((beta + np.sqrt(n)) / alpha + l2s)

    for x, target, c in zip(X, y, weight, strict=True):
        w = weights()
        g = c * scalar(loss, "derivative", float(w @ x), target) * x
        sigma = (np.sqrt(n + g**2) - np.sqrt(n)) / alpha
        z += g - sigma * w
        n += g**2
    return weights()


def stream(seed, loss):
    X, response = random_data(seed, rows=50, columns=6)
    y = np.where(response > 0, 1.0, -1.0) if LOSSES[loss].classification else response
    weight = np.random.default_rng(seed).integers(1, 4, 50) / 2
    return X, y, weight


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_adagrad_is_what_is_written_down(loss, seed):
    X, y, weight = stream(seed, loss)
    codes = (y > 0).astype(float) if LOSSES[loss].classification else y
    learner = OnlineLearner(OnlineSpec(loss=loss, n_outputs=1, width=6, average=True))
    learner.learn(Matrix(X), codes, weight)
    last, mean, average_loss = naive_adagrad(X.toarray(), y, weight, make_loss(loss), 0.5)
    np.testing.assert_allclose(learner.cells.reshape(7, 4)[:, 0], last, rtol=1e-7, atol=1e-9)
    w, b = learner.weights()
    np.testing.assert_allclose(np.append(w[0], b), mean, rtol=1e-7, atol=1e-9)
    assert learner.progressive_loss == pytest.approx(average_loss, rel=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), l1=st.sampled_from([0.0, 0.5, 3.0]), l2=st.sampled_from([0.0, 1.0]))
def test_ftrl_is_algorithm_1(loss, seed, l1, l2):
    X, y, weight = stream(seed, loss)
    codes = (y > 0).astype(float) if LOSSES[loss].classification else y
    spec = OnlineSpec(loss=loss, n_outputs=1, width=6, method="ftrl", learning_rate=0.3, l1=l1, l2=l2)
    learner = OnlineLearner(spec)
    learner.learn(Matrix(X), codes, weight)
    w, b = learner.weights()
    expected = naive_ftrl(X.toarray(), y, weight, make_loss(loss), 0.3, 1.0, l1, l2)
    np.testing.assert_allclose(np.append(w[0], b), expected, rtol=1e-9, atol=1e-12)
    assert np.array_equal(w[0] == 0, expected[:-1] == 0)


@pytest.mark.parametrize("settings_", [{}, {"average": True}, {"method": "ftrl", "l1": 0.1}, {"hash_bits": 3}])
@pytest.mark.parametrize("save", ["pickle", "state"])
def test_saved_and_continued_equals_uninterrupted_bit_for_bit(settings_, save):
    X, response = random_data(1, rows=300)
    y = np.digitize(response, [-1, 1])
    whole = OnlineClassifier(**settings_).partial_fit(X, y, classes=[0, 1, 2])
    part = OnlineClassifier(**settings_).partial_fit(X[:123], y[:123], classes=[0, 1, 2])
    if save == "pickle":
        part = pickle.loads(pickle.dumps(part))
    else:
        state = pickle.loads(pickle.dumps(part.get_state()))
        part.partial_fit(X[:50], y[:50])  # the state was copied: this must not reach it
        part = OnlineClassifier(**settings_).set_state(state)
    part.partial_fit(X[123:], y[123:])
    np.testing.assert_array_equal(part.coef_, whole.coef_)
    np.testing.assert_array_equal(part.intercept_, whole.intercept_)
    assert part.progressive_loss_ == whole.progressive_loss_
    assert part.progressive_error_ == whole.progressive_error_
    assert part.n_seen_ == whole.n_seen_ == 300
    np.testing.assert_array_equal(part.predict(X), whole.predict(X))


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
def test_more_classes_are_one_against_the_rest(loss):
    X, response = random_data(2, rows=80)
    y = np.digitize(response, [-1, 1])
    model = OnlineClassifier(loss).partial_fit(X, y, classes=[0, 1, 2])
    for c in range(3):
        single = OnlineClassifier(loss).partial_fit(X, y == c, classes=[False, True])
        np.testing.assert_allclose(model.coef_[c], single.coef_[0], rtol=1e-12)
        np.testing.assert_allclose(model.decision_function(X)[:, c], single.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("loss", [*MARGIN_LOSSES, *REGRESSION_LOSSES])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_steps_never_explode_and_the_scale_of_a_feature_does_not_matter(loss, scale):
    X, response = random_data(3, rows=200)
    factors = np.ones(12)
    factors[::2] = scale
    kind = OnlineClassifier if LOSSES[loss].classification else OnlineRegressor
    y = response > 0 if LOSSES[loss].classification else response
    plain, scaled = kind(loss).fit(X, y), kind(loss).fit(X * factors, y)
    np.testing.assert_allclose(scaled.predict(X * factors), plain.predict(X), rtol=1e-5, atol=1e-7)
    heavy = kind(loss).partial_fit(X, y, **({"classes": [False, True]} if kind is OnlineClassifier else {}))
    heavy.partial_fit(X, y, sample_weight=np.full(200, 1e9))
    assert np.all(np.isfinite(heavy.coef_)) and np.abs(heavy.coef_).max() < 1e4


def test_weight_zero_is_skipped_and_batches_do_not_matter():
    X, response = random_data(4, rows=100)
    y = response > 0
    weight = np.arange(100) % 3
    kept = weight > 0
    model = OnlineClassifier().partial_fit(X, y, classes=[False, True], sample_weight=weight)
    other = OnlineClassifier()
    for batch in np.array_split(np.flatnonzero(kept), 7):
        other.partial_fit(X[batch], y[batch], classes=[False, True], sample_weight=weight[batch])
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_sparse_dense_and_float32_agree():
    X, response = random_data(5, rows=100)
    models = [OnlineClassifier().fit(convert(X), response > 0) for convert in (sp.csc_array, lambda A: A.toarray())]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-12)
    single = OnlineClassifier().fit(X.astype(np.float32), response > 0)
    np.testing.assert_allclose(single.coef_, models[0].coef_, rtol=1e-3, atol=1e-4)


def test_hashing_bounds_the_table_and_takes_any_width():
    rng = np.random.default_rng(0)
    wide = sp.random_array((200, 10**9), density=2e-8, format="csr", rng=rng)
    y = rng.integers(0, 2, 200)
    model = OnlineClassifier(hash_bits=12).partial_fit(wide, y, classes=[0, 1])
    assert model.coef_.shape == (1, 4096)
    narrow = sp.random_array((20, 50), density=0.2, format="csr", rng=rng)
    model.partial_fit(narrow, y[:20])
    assert model.decision_function(narrow).shape == (20,)
    # Without collisions a hashed table holds the same weights at other places.
    X, response = random_data(6)
    plain, hashed = OnlineClassifier().fit(X, response > 0), OnlineClassifier(hash_bits=20).fit(X, response > 0)
    np.testing.assert_allclose(hashed.decision_function(X), plain.decision_function(X), rtol=1e-9)


def test_ftrl_weights_are_truly_sparse_and_l1_governs_how_sparse():
    X, response = random_data(7, rows=500, columns=60)
    counts = [
        np.count_nonzero(OnlineClassifier(method="ftrl", l1=l1).fit(X, response > 0).coef_) for l1 in (0.0, 5.0, 50.0)
    ]
    assert counts[0] == 60 > counts[1] > counts[2]


def test_verbose_reports_the_progressive_loss_at_powers_of_two(capsys):
    X, response = random_data(8, rows=100)
    model = OnlineClassifier(verbose=True)
    for batch in np.array_split(np.arange(100), 3):
        model.partial_fit(X[batch], np.where(response[batch] > 0, "yes", "no"), classes=["no", "yes"])
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[2]) for line in lines[2:]] == [1, 2, 4, 8, 16, 32, 64]
    assert all(line.split()[4] in ("yes", "no") for line in lines[2:])
    # The first row is predicted with zero: its loss is log 2.
    assert float(lines[2].split()[0]) == pytest.approx(np.log(2), abs=1e-6)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"loss": "squared"}, "takes one of the losses"),
        ({"method": "newton"}, "unknown method"),
        ({"l1": 1.0}, "need method='ftrl'"),
        ({"method": "ftrl", "average": True}, "needs method='adagrad'"),
        ({"hash_bits": 40}, "hash_bits must be between"),
        ({"learning_rate": 0.0}, "learning_rate must be"),
        ({"n_passes": 0}, "n_passes must be"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings_, message):
    with pytest.raises(ValueError, match=message):
        OnlineClassifier(**settings_).fit([[0.0], [1.0]], [0, 1])


def test_classes_are_given_up_front():
    model = OnlineClassifier()
    with pytest.raises(ValueError, match="needs `classes`"):
        model.partial_fit([[0.0]], [1])
    model.partial_fit([[0.0]], [1], classes=[0, 1])
    with pytest.raises(ValueError, match="none of the classes"):
        model.partial_fit([[0.0]], [2])
    with pytest.raises(ValueError, match="in the first call"):
        model.partial_fit([[0.0]], [1], classes=[0, 1, 2])


def test_one_pass_reaches_the_batch_model():
    (X, y), (X_new, y_new) = real_data("imdb_bow"), real_data("imdb_bow.t")
    columns = max(X.shape[1], X_new.shape[1])
    X, X_new = (sp.csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], columns)) for A in (X, X_new))
    scores = []
    for C in (1e-3, 1e-2):
        batch = solve(Problem(X, y, loss="squared_hinge", C=C, intercept="free"), "dual_cd", tol=1e-3)
        scores.append(np.mean((X_new @ batch.coef + batch.intercept > 0) == (y_new > 0)))
    # The file is sorted by class, which no stream is: `fit` shuffles.
    assert OnlineClassifier().fit(X, y).score(X_new, y_new) >= 0.99 * max(scores)
