"""The losses: native ones against their NumPy twins, derivatives against differences, conjugates against their laws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin import _core
from widemargin.objective.losses import LOSSES, LossesThat, make_loss

# Every loss, those with parameters at several values of them.
GIVEN = {"epsilon": (0.3, 0.0), "delta": (1.35, 0.2), "q": (0.5, 0.9, 0.05)}
CASES = {
    " ".join([name, *(f"{value:g}" for value in values)]): make_loss(
        name, **dict(zip(known.parameters, values, strict=True))
    )
    for name, known in LOSSES.items()
    for values in product(*(GIVEN.get(p, (one.default,)) for p, one in known.parameters.items()))
}
EXTREMES = np.array([0.0, 1e-300, 1e-9, 0.5, 1.0, 2.0, 30.0, 40.0, 700.0, 710.0, 745.0, 750.0, 1e4, 1e8, 1e15])


def make(name):
    return CASES[name]


def points(name, seed=0):
    """Predictions, everyday and extreme, with labels or targets."""
    rng = np.random.default_rng(seed)
    z = np.concatenate([3 * rng.standard_normal(200), EXTREMES, -EXTREMES])
    if make(name).classification:
        z = np.concatenate([z, z])
        return z, np.repeat([1.0, -1.0], len(z) // 2)
    return z, rng.standard_normal(len(z))


def native(name, z, y, C=None):
    """Value, derivative and curvature per row, by the native code."""
    C = np.ones_like(z) if C is None else C
    u, h = np.empty_like(z), np.empty_like(z)
    _core.loss_derivatives(make(name).native, z, y, C, 0.0, u, h)
    value = [_core.loss_sum(make(name).native, z[[i]], y[[i]], C[[i]], 0.0) for i in range(len(z))]
    return np.array(value), u, h


def native_conjugate(name, u, y):
    one = np.ones(1)
    return np.array([_core.conjugate_sum(make(name).native, u[[i]], y[[i]], one) for i in range(len(u))])


@pytest.mark.parametrize("name", CASES)
def test_native_equals_its_twin(name):
    loss = make(name)
    z, y = points(name)
    value, slope, curvature = native(name, z, y)
    np.testing.assert_allclose(value, loss.value(z, y), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(slope, loss.derivative(z, y), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(curvature, loss.curvature(z, y), rtol=1e-12, atol=1e-300)
    assert np.isfinite(value).all() and np.isfinite(slope).all() and np.isfinite(curvature).all()


@pytest.mark.parametrize("name", CASES)
def test_sums_weigh_the_rows_and_add_the_intercept(name):
    loss = make(name)
    z, y = points(name)
    z = np.clip(z, -50, 50)
    C = np.random.default_rng(1).random(len(z)) + 0.1
    expected = C @ loss.value(z + 0.7, y)
    np.testing.assert_allclose(_core.loss_sum(make(name).native, z, y, C, 0.7), expected, rtol=1e-12)
    u, h = np.empty_like(z), np.empty_like(z)
    _core.loss_derivatives(make(name).native, z, y, C, 0.7, u, h)
    np.testing.assert_allclose(u, C * loss.derivative(z + 0.7, y), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(h, C * loss.curvature(z + 0.7, y), rtol=1e-12, atol=1e-300)


def kinks(loss):
    """The residuals where pieces meet: the edges of the zone, and where the slanted part beyond it ends."""
    if not loss.piecewise:
        return []
    ends = [(side, 2 * loss.bend * abs(bound)) for side, bound in ((-1, loss.lower), (1, loss.upper))]
    return [side * (loss.zone + far) for side, width in ends for far in (0.0, width) if np.isfinite(far)]


def away_from_kinks(name, z, y, distance=1e-3):
    """Where nothing jumps nearby."""
    loss = make(name)
    r = loss.residual(z, y) if loss.piecewise else z
    return np.all([np.abs(r - kink) > distance for kink in kinks(loss)], axis=0) | (not loss.piecewise)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_the_value(name):
    loss = make(name)
    z, y = points(name)
    keep = away_from_kinks(name, z, y) & (np.abs(z) < 40)
    z, y = z[keep], y[keep]
    step = 1e-5
    slope = (loss.value(z + step, y) - loss.value(z - step, y)) / (2 * step)
    np.testing.assert_allclose(loss.derivative(z, y), slope, rtol=1e-6, atol=1e-7)
    curvature = (loss.derivative(z + step, y) - loss.derivative(z - step, y)) / (2 * step)
    np.testing.assert_allclose(loss.curvature(z, y), curvature, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_derivative_is_a_subgradient_everywhere(name):
    loss = make(name)
    z, y = points(name)
    keep = np.abs(z) <= 1e4
    z, y = z[keep], y[keep]
    for other in (-50.0, -1.0, 0.0, 1.0, 50.0):
        at = np.full_like(z, other)
        line = loss.value(z, y) + loss.derivative(z, y) * (at - z)
        scale = 1 + np.abs(loss.value(z, y)) + np.abs(loss.derivative(z, y) * z)
        assert (loss.value(at, y) - line >= -1e-12 * scale).all()


@pytest.mark.parametrize("name", [n for n in CASES if CASES[n].smooth])
def test_smooth_losses_have_a_continuous_derivative(name):
    loss = make(name)
    for y in (np.array([1.0]), np.array([-1.0])):
        for kink in kinks(loss):
            at = (1 - kink) * y if loss.classification else y - kink
            below, above = loss.derivative(at - 1e-9, y), loss.derivative(at + 1e-9, y)
            np.testing.assert_allclose(below, above, atol=1e-8)


# The conjugate.

SHARES = np.array([0.0, 1e-300, 1e-17, 1e-10, 1e-3, 0.25, 0.5, 0.75, 1 - 1e-10, 1.0])


def dual_points(name):
    """Points u inside the domain of the conjugate, its borders included."""
    loss = make(name)
    y = np.repeat([1.0, -1.0], len(SHARES))
    lower, upper = loss.dual_bounds(y)
    lower, upper = np.maximum(lower, -10.0), np.minimum(upper, 10.0)
    return -np.clip(lower + np.tile(SHARES, 2) * (upper - lower), lower, upper), y


@pytest.mark.parametrize("name", CASES)
def test_native_conjugate_equals_its_twin(name):
    u, y = dual_points(name)
    expected = make(name).conjugate(u, y)
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(native_conjugate(name, u, y), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", CASES)
def test_conjugate_is_the_supremum(name):
    """Against brute force over a fine grid; the supremum lies inside it for the interior of the domain."""
    loss = make(name)
    u, y = dual_points(name)
    z = np.linspace(-40, 40, 320_001)
    for u_i, y_i in zip(u, y, strict=True):
        brute = float(np.max(u_i * z - loss.value(z, np.full_like(z, y_i))))
        found = float(loss.conjugate(np.array([u_i]), np.array([y_i]))[0])
        assert brute <= found + 1e-9
        assert brute >= found - 2e-6


@pytest.mark.parametrize("name", CASES)
def test_fenchel_young_with_equality_at_the_derivative(name):
    loss = make(name)
    z, y = points(name)
    keep = np.abs(z) <= 1e4
    z, y = z[keep], y[keep]
    u = loss.derivative(z, y)
    scale = 1 + np.abs(z * u)
    for conjugate in (loss.conjugate(u, y), native_conjugate(name, u, y)):
        np.testing.assert_allclose((loss.value(z, y) + conjugate - z * u) / scale, 0.0, atol=1e-12)


@given(st.sampled_from(list(CASES)), st.floats(-1e4, 1e4), st.floats(0, 1), st.sampled_from([-1.0, 1.0]))
def test_fenchel_young_inequality(name, z, share, y):
    loss = make(name)
    y = np.array([y])
    lower, upper = (np.clip(bound, -100, 100) for bound in loss.dual_bounds(y))
    u, z = -(lower + share * (upper - lower)), np.array([z])
    slack = loss.value(z, y) + loss.conjugate(u, y) - u * z
    assert slack >= -1e-12 * (1 + np.abs(u * z))


@pytest.mark.parametrize("name", CASES)
def test_conjugate_is_infinite_exactly_outside_the_bounds(name):
    loss = make(name)
    y = np.array([1.0, -1.0])
    lower, upper = loss.dual_bounds(y)
    for bound, outwards in ((lower, -1.0), (upper, 1.0)):
        finite = np.isfinite(bound)
        for conjugate in (loss.conjugate, lambda u, y: native_conjugate(name, u, y)):
            assert np.isfinite(conjugate(-bound[finite], y[finite])).all()
            assert np.isposinf(conjugate(-(bound[finite] + outwards * 1e-6), y[finite])).all()
            # Without a bound any point is allowed.
            assert np.isfinite(conjugate(np.full((~finite).sum(), -outwards * 1e6), y[~finite])).all()


def test_row_of_weight_zero_allows_a_dual_of_zero_only():
    for name in CASES:
        y, nothing = np.ones(1), np.zeros(1)
        assert _core.conjugate_sum(make(name).native, nothing, y, nothing) == 0
        assert _core.conjugate_sum(make(name).native, np.full(1, -1e-3), y, nothing) == np.inf


def test_logistic_keeps_its_digits_where_the_loss_is_tiny():
    """At a margin m the dual point is a = 1/(1 + e^m), and value + conjugate - z u = 0 up to the size of a itself."""
    margin = np.array([20.0, 30.0, 36.0, 50.0])
    y = np.ones_like(margin)
    value, u, _ = native("logistic", margin, y)
    np.testing.assert_allclose(value + native_conjugate("logistic", u, y), margin * u, rtol=1e-12)


# Names.


def test_unknown_loss_is_answered_with_the_list():
    with pytest.raises(ValueError, match="unknown loss 'log': use one of hinge, squared_hinge, logistic"):
        make_loss("log")


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf])
def test_epsilon_must_be_a_width(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a finite number >= 0"):
        make_loss("epsilon_insensitive", epsilon=epsilon)


def test_lengths_are_checked_before_anything_is_read():
    z, short, hinge = np.ones(3), np.ones(2), make_loss("hinge").native
    with pytest.raises(ValueError, match="y has length 2, expected 3"):
        _core.loss_sum(hinge, z, short, z, 0.0)
    with pytest.raises(ValueError, match="C has length 2, expected 3"):
        _core.conjugate_sum(hinge, z, z, short)
    with pytest.raises(ValueError, match="h has length 2, expected 3"):
        _core.loss_derivatives(hinge, z, z, z, 0.0, z.copy(), short)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((True, -0.1, 0.0, 0.0, 1.0), "bend must be finite and >= 0"),
        ((True, np.inf, 0.0, 0.0, 1.0), "bend must be finite and >= 0"),
        ((False, 0.0, np.nan, -1.0, 1.0), "zone must be finite and >= 0"),
        ((True, 0.25, 0.0, 0.5, 1.0), "bounds must enclose 0"),
        ((True, 0.25, 0.0, 0.0, 0.0), "bounds must enclose 0"),
        ((True, 0.25, 0.0, 0.0, np.nan), "bounds must enclose 0"),
        ((False, 0.0, 0.1, -1.0, np.inf), "without a bend needs finite bounds"),
        ((True, 0.25, 0.1, 0.0, 1.0), "a loss of labels has no zone"),
    ],
)
def test_the_core_refuses_what_is_no_loss(numbers, message):
    with pytest.raises(ValueError, match=message):
        _core.Loss(*numbers)


def test_special_cases_of_one_another():
    """The median is half the absolute error, a Huber loss without end the squared one, an empty zone none."""
    z, y = points("squared")
    keep = np.abs(z) < 1e4
    z, y = z[keep], y[keep]
    for one, other, factor in (
        (make_loss("quantile", q=0.5), make_loss("epsilon_insensitive", epsilon=0.0), 0.5),
        (make_loss("huber", delta=1e5), make_loss("squared"), 1.0),
        (make_loss("squared_epsilon_insensitive", epsilon=0.0), make_loss("squared"), 1.0),
    ):
        np.testing.assert_allclose(one.value(z, y), factor * other.value(z, y), rtol=1e-12)
        np.testing.assert_allclose(one.derivative(z, y), factor * other.derivative(z, y), rtol=1e-12)


def test_sets_of_losses_follow_the_table(monkeypatch):
    cornered = LossesThat(lambda loss: not loss.smooth)
    assert set(cornered) == {"hinge", "epsilon_insensitive", "quantile"} and len(cornered) == 3
    assert "squared" not in cornered and "log" not in cornered
    monkeypatch.delitem(LOSSES, "quantile")
    assert cornered == {"hinge", "epsilon_insensitive"}
