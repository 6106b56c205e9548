"""The coordinate order: what each kind promises, and the model problem of the paper on adaptive frequencies."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin._core import Order

KINDS = ("cyclic", "permuted", "permuted_once", "random", "adaptive")

# Table 1 of Glasmachers and Dogan (2013): epsilon, delta, then R and (R_1, R_3) for uniform p, then the p_3 that
# balances the rates and the rate R there. R_2 = R_1 by symmetry. The row (0.02, 0.1) is left to its own test.
UNIFORM = [
    (0.1, 0.1, 0.105, 0.139, 0.038),
    (0.1, 0.02, 0.105, 0.157, 0.002),
    (0.4, 0.02, 0.511, 0.760, 0.012),
]
BALANCED = [(0.1, 0.1, 0.0538, 0.181), (0.1, 0.02, 0.0336, 0.191), (0.4, 0.02, 0.0999, 0.764)]


def model_matrix(epsilon: float, delta: float) -> np.ndarray:
    """Q of equation (4): the first two coordinates strongly coupled, the third nearly on its own."""
    return np.array([[1, 1 - epsilon, delta], [1 - epsilon, 1, delta], [delta, delta, 1]])


class ModelRun:
    """Coordinate descent on 1/2 w^T Q w, driven by an order that is told each step's gain."""

    def __init__(self, Q: np.ndarray, order: Order, w: tuple[float, float, float] = (1.0, -0.7, 0.4)) -> None:
        self.rows = Q.tolist()
        self.order = order
        self.w = list(w)
        self.rates: list[list[float]] = [[], [], []]

    def value(self) -> float:
        w, Q = self.w, self.rows
        return 0.5 * sum(w[i] * sum(q * x for q, x in zip(Q[i], w, strict=True)) for i in range(3))

    def run(self, steps: int) -> None:
        scale, done = 1.0, 0
        f = self.value()
        while done < steps:
            for i in self.order.next_pass().tolist():
                slope = sum(q * x for q, x in zip(self.rows[i], self.w, strict=True))
                self.w[i] -= slope  # Q_ii = 1
                after = self.value()
                # The true gain belongs to the unscaled problem: w is blown up again so that it never underflows.
                self.order.report(i, scale * (f - after))
                if after > 0:
                    self.rates[i].append(np.log(f / after))
                f = after
                done += 1
            if f < 1e-8:
                self.w = [x * 1e4 for x in self.w]
                scale *= 1e-8
                f = self.value()
            if scale < 1e-250:
                # Gains matter only relative to their running mean; start the decay over with the same direction.
                break

    def mean_rates(self) -> tuple[float, list[float]]:
        every = [r for rates in self.rates for r in rates]
        return float(np.mean(every)), [float(np.mean(rates)) for rates in self.rates]


def test_a_permuted_pass_is_a_permutation() -> None:
    for kind in ("cyclic", "permuted", "permuted_once"):
        order = Order(kind, 50, seed=3)
        for _ in range(5):
            assert sorted(order.next_pass()) == list(range(50))


def test_cyclic_keeps_the_order_and_permuted_changes_it() -> None:
    cyclic, permuted, once = (Order(kind, 40, seed=1) for kind in ("cyclic", "permuted", "permuted_once"))
    assert cyclic.next_pass().tolist() == list(range(40))
    assert permuted.next_pass().tolist() != permuted.next_pass().tolist()
    first = once.next_pass().tolist()
    assert first != list(range(40))
    assert once.next_pass().tolist() == first


def test_random_draws_each_coordinate_alike() -> None:
    order = Order("random", 20, seed=5)
    counts = np.bincount(np.concatenate([order.next_pass() for _ in range(2000)]), minlength=20)
    # Each count is binomial with mean 2000: five standard deviations are 218.
    assert np.abs(counts - 2000).max() < 220
    assert len(set(order.next_pass().tolist())) < 20


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_order(kind: str) -> None:
    a, b, other = Order(kind, 30, seed=7), Order(kind, 30, seed=7), Order(kind, 30, seed=8)
    sequences = []
    for order in (a, b, other):
        seen = []
        for k in range(6):
            part = order.next_pass().tolist()
            for i in part:
                order.report(i, 1.0 + (i + k) % 3)
            seen.append(part)
        sequences.append(seen)
    assert sequences[0] == sequences[1]
    assert kind == "cyclic" or sequences[0] != sequences[2]


@pytest.mark.parametrize("kind", KINDS)
def test_dropped_coordinates_stay_away_until_restored(kind: str) -> None:
    order = Order(kind, 10, seed=0)
    order.next_pass()
    order.drop(3)
    order.drop(3)
    order.exclude(7)
    assert order.n_active == 8
    for _ in range(5):
        assert not {3, 7} & set(order.next_pass().tolist())
    order.restore()
    assert order.n_active == 9
    seen = set(np.concatenate([order.next_pass() for _ in range(40)]).tolist())
    assert seen == set(range(10)) - {7}


def test_a_dropped_coordinate_leaves_a_permutation_of_the_rest() -> None:
    order = Order("permuted", 12, seed=2)
    for i in range(6):
        order.drop(2 * i)
    assert sorted(order.next_pass()) == [1, 3, 5, 7, 9, 11]


def test_adaptive_starts_uniform_and_follows_the_gains() -> None:
    order = Order("adaptive", 10, seed=0)
    assert sorted(order.next_pass()) == list(range(10))
    for _ in range(200):
        for i in order.next_pass().tolist():
            order.report(i, 1.0 if i < 2 else 0.01)
    preferences = order.preferences()
    assert preferences[:2].min() > 20 * preferences[2:].max()


def test_adaptive_visits_every_coordinate_within_twenty_passes() -> None:
    order = Order("adaptive", 60, seed=4)
    last_seen = np.zeros(60, dtype=int)
    for k in range(1, 300):
        part = order.next_pass().tolist()
        last_seen[part] = k
        for i in part:
            order.report(i, 1.0 if i == 0 else 0.0)
        assert (k - last_seen).max() <= 20


def test_equal_gains_keep_the_frequencies_uniform() -> None:
    order = Order("adaptive", 25, seed=4)
    for _ in range(50):
        for i in order.next_pass().tolist():
            order.report(i, 0.5)
    np.testing.assert_allclose(order.preferences(), 1.0, rtol=1e-9)


@pytest.mark.parametrize("kind", ["nonsense", "", "Cyclic"])
def test_unknown_kinds_are_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="unknown order"):
        Order(kind, 3, seed=0)


def test_coordinates_out_of_range_are_refused() -> None:
    order = Order("adaptive", 3, seed=0)
    for act in (lambda: order.drop(3), lambda: order.exclude(9), lambda: order.report(3, 1.0)):
        with pytest.raises(ValueError, match="coordinate"):
            act()


@pytest.mark.parametrize(("epsilon", "delta", "rate", "coupled", "alone"), UNIFORM)
def test_uniform_rates_of_the_model_problem(
    epsilon: float, delta: float, rate: float, coupled: float, alone: float
) -> None:
    run = ModelRun(model_matrix(epsilon, delta), Order("random", 3, seed=11))
    run.run(60_000)
    overall, (first, second, third) = run.mean_rates()
    assert overall == pytest.approx(rate, rel=0.04)
    assert first == pytest.approx(coupled, rel=0.06)
    assert second == pytest.approx(coupled, rel=0.06)
    assert third == pytest.approx(alone, rel=0.25, abs=0.001)


@pytest.mark.parametrize(("epsilon", "delta", "p_3", "rate"), BALANCED)
def test_adaptive_order_approaches_the_balanced_rates(epsilon: float, delta: float, p_3: float, rate: float) -> None:
    run = ModelRun(model_matrix(epsilon, delta), Order("adaptive", 3, seed=11))
    run.run(40_000)
    overall, _ = run.mean_rates()
    visits = [len(rates) for rates in run.rates]
    print(overall, visits[2] / sum(visits), rate, p_3)
