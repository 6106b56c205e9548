"""Accuracies printed in the survey (Yuan, Ho, Lin 2012, Table I, linear SVM) on its own splits of the data."""

from __future__ import annotations

import numpy as np
import pytest

from support import real_data
from widemargin import LinearSVC


def accuracy(train: tuple, test: tuple, C: float) -> float:
    (X, y), (held_out, truth) = train, test
    width = max(X.shape[1], held_out.shape[1])
    X.resize((X.shape[0], width))
    held_out.resize((held_out.shape[0], width))
    return 100 * LinearSVC(loss="hinge", C=C).fit(X, y).score(held_out, truth)


def test_ijcnn1() -> None:
    found = accuracy(real_data("ijcnn1"), real_data("ijcnn1.t"), C=32.0)
    assert found == pytest.approx(92.21, abs=0.3)


def test_mnist38() -> None:
    """Digits 3 and 8, grey values divided by their largest."""

    def digits(X, y):
        chosen = (y == 3) | (y == 8)
        return X[chosen] / 255, y[chosen]

    train, test = digits(*real_data("mnist")), digits(*real_data("mnist.t"))
    assert (train[0].shape[0], test[0].shape[0]) == (11_982, 1_984)  # as printed
    assert accuracy(train, test, C=0.1) == pytest.approx(96.82, abs=0.3)
    assert np.unique(train[1]).tolist() == [3.0, 8.0]
