"""The penalties: their conjugates, shortest subgradients and the scaling into the dual domain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from widemargin.objective.penalties import PENALTIES, make_penalty

RATIOS = [("l2", 0.5), ("l1", 0.5), ("elasticnet", 0.0), ("elasticnet", 0.3), ("elasticnet", 0.9), ("elasticnet", 1.0)]
vectors = hnp.arrays(np.float64, 5, elements=st.one_of(st.just(0.0), st.floats(-20, 20)))


@pytest.mark.parametrize(
    ("name", "ratio", "expected"), [("l2", 0.5, 12.5), ("l1", 0.5, 7.0), ("elasticnet", 0.4, 10.3)]
)
def test_values(name, ratio, expected):
    assert make_penalty(name, ratio).value(np.array([3.0, -4.0, 0.0])) == pytest.approx(expected)


@given(st.sampled_from(RATIOS), vectors, vectors)
def test_fenchel_young(which, w, g):
    penalty = make_penalty(*which)
    g = g * penalty.dual_scale(g)
    assert penalty.value(w) + penalty.conjugate(g) - w @ g >= -1e-11 * (1 + abs(w @ g))


@given(st.sampled_from(RATIOS), vectors)
def test_conjugate_is_reached(which, g):
    """R*(g) = g w - R(w) at w = soft(g, rho) / (1 - rho); for rho = 1 at w = 0."""
    penalty = make_penalty(*which)
    g = g * penalty.dual_scale(g)
    soft = np.sign(g) * np.maximum(0.0, np.abs(g) - penalty.rho)
    w = soft / (1 - penalty.rho) if penalty.rho < 1 else np.zeros_like(g)
    np.testing.assert_allclose(penalty.conjugate(g), g @ w - penalty.value(w), rtol=1e-9, atol=1e-10)


@given(st.sampled_from(RATIOS), vectors)
def test_dual_scale_is_the_largest_that_is_finite(which, g):
    penalty = make_penalty(*which)
    scale = penalty.dual_scale(g)
    assert 0 < scale <= 1
    assert np.isfinite(penalty.conjugate(scale * g))
    if scale < 1:
        assert penalty.conjugate(scale * g * (1 + 1e-9)) == np.inf


@given(st.sampled_from(RATIOS), vectors, vectors)
def test_subgradient_is_the_shortest(which, w, g):
    """Per coordinate, the slope of g w + R(w) to both sides: zero if they enclose it, else the nearer one."""
    penalty = make_penalty(*which)
    curve = (1 - penalty.rho) * w + g
    up = curve + penalty.rho * np.where(w >= 0, 1.0, -1.0)
    down = curve + penalty.rho * np.where(w > 0, 1.0, -1.0)
    shortest = np.where((down <= 0) & (up >= 0), 0.0, np.where(np.abs(up) < np.abs(down), up, down))
    np.testing.assert_allclose(penalty.subgradient(w, g), shortest, rtol=1e-12, atol=1e-12)


def test_smooth_only_without_l1():
    assert [make_penalty(*which).smooth for which in RATIOS] == [True, False, True, False, False, False]


def test_errors():
    with pytest.raises(ValueError, match="unknown penalty 'l0': use one of l2, l1, elasticnet"):
        make_penalty("l0", 0.5)
    for ratio in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="l1_ratio must be between 0 and 1"):
            make_penalty("elasticnet", ratio)
    assert set(PENALTIES) == {"l2", "l1", "elasticnet"}
