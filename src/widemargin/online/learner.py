"""The online learner: a table of cells, what has been counted, and passes over batches of rows.

Stream    rows (x_t, y_t, weight_t); before learning from a row its prediction is judged, so that the running mean of
          the losses estimates the loss on new data without a test set: the progressive validation loss.
adagrad   w_j <- w_j - eta sqrt(t/N) / (s_j sqrt(G_j)) h x_j,   h = weight loss'(prediction after the step)
          Duchi, Hazan, Singer 2011; normalized by s_j = max |x_j| as in Ross, Mineiro, Langford 2013; h is implicit, so
          no step overshoots. With `average` the model is the mean of the weights after each row.
ftrl      FTRL-Proximal (McMahan et al. 2013, Algorithm 1), rates alpha / (beta + sqrt(n_j)):
          w_j = 0 where |z_j| <= l1, else -(z_j - sign(z_j) l1) / ((beta + sqrt(n_j)) / alpha + l2)

Everything that is remembered is in two arrays, `cells` and `totals`; saved and loaded, they continue bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.matrix import Matrix
from ..objective.losses import Loss, make_loss
from ..vectors import Vector

METHODS = ("adagrad", "ftrl")

# Rows per native call: short enough that Ctrl-C is felt at once.
ROWS_PER_CALL = 1 << 15


@dataclass(frozen=True)
class OnlineSpec:
    """How an online learner learns; what does not change while it runs."""

    loss: str
    n_outputs: int
    width: int
    hashed: bool = False
    method: str = "adagrad"
    learning_rate: float = 0.5
    beta: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    average: bool = False
    fit_intercept: bool = True
    parameters: Mapping[str, float] = field(default_factory=dict)  # of the loss

    def __post_init__(self) -> None:
        self.made_loss()
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}: use one of {', '.join(METHODS)}")
        for name in ("learning_rate", "beta"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ValueError(f"{name} must be a finite number > 0, got {getattr(self, name)!r}")
        for name in ("l1", "l2"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise ValueError(f"{name} must be a finite number >= 0, got {getattr(self, name)!r}")
        if self.method == "adagrad" and (self.l1 > 0 or self.l2 > 0):
            raise ValueError("l1 and l2 need method='ftrl': adagrad does not regularise")
        if self.method == "ftrl" and self.average:
            raise ValueError("average needs method='adagrad': the mean of sparse weights is not sparse")

    def made_loss(self) -> Loss:
        """The loss, with its parameters."""
        return make_loss(self.loss, **self.parameters)

    def native(self) -> _core.OnlineSettings:
        """The settings as a native pass takes them."""
        return _core.OnlineSettings(
            self.learning_rate,
            self.beta,
            self.l1,
            self.l2,
            self.fit_intercept,
            self.made_loss().classification,
            self.n_outputs,
            self.width,
            self.hashed,
        )


@dataclass(frozen=True)
class Progress:
    """Where a learner stands after some row: what a line of the progress report shows."""

    average_loss: float  # mean progressive loss so far
    since_last: float  # mean progressive loss of the rows since the last report
    rows: int
    weight: float
    label: float
    prediction: float


class OnlineLearner:
    """Learns a linear model from a stream of rows.

    Parameters
    ----------
    spec : OnlineSpec

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import Matrix
    >>> from widemargin.online.learner import OnlineLearner, OnlineSpec
    >>> learner = OnlineLearner(OnlineSpec(loss="squared", n_outputs=1, width=1))
    >>> x = np.random.default_rng(0).uniform(-1, 1, 2000)
    >>> learner.learn(Matrix(x[:, None]), 2 * x)
    >>> learner.predict(Matrix([[0.5]])).round(1)
    array([[1.]])
    """

    def __init__(self, spec: OnlineSpec) -> None:
        self.spec = spec
        self.cells = np.zeros(4 * spec.n_outputs * (spec.width + 1))
        self.totals = np.zeros(5)  # rows, normalizer, weight, loss, wrong: OnlineTotals of stochastic/online.hpp
        self.reported = np.zeros(2)  # weight and loss at the last report

    def learn(
        self,
        X: Matrix,
        y: Vector,
        weight: Vector | None = None,
        order: NDArray[np.int64] | None = None,
        report: Callable[[Progress], Any] | None = None,
    ) -> None:
        """Learns from the rows of X in that order; `report` is shown every row whose number is a power of two."""
        weight = np.ones(X.shape[0]) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        order = np.arange(X.shape[0], dtype=np.int64) if order is None else np.asarray(order, dtype=np.int64)
        order = order[weight[order] > 0]
        y = np.ascontiguousarray(y, dtype=np.float64)
        settings, loss = self.spec.native(), self.spec.made_loss().native
        for begin, end, is_report in _pieces(int(self.totals[0]), len(order)):
            prediction = _core.online_learn(
                X.native_rows,
                loss,
                self.spec.method,
                settings,
                self.cells,
                self.totals,
                y,
                weight,
                order[begin:end],
            )
            if is_report:
                self._report(report, float(y[order[end - 1]]), prediction)

    def _report(self, report: Callable[[Progress], Any] | None, label: float, prediction: float) -> None:
        rows, _, weight, loss, _ = self.totals.tolist()
        since = (loss - self.reported[1]) / max(weight - self.reported[0], 1e-300)
        self.reported[:] = weight, loss
        if report is not None:
            report(Progress(self.progressive_loss, float(since), int(rows), weight, label, prediction))

    @property
    def progressive_loss(self) -> float:
        """Mean loss of the predictions made before each row was learned."""
        return float(self.totals[3] / self.totals[2]) if self.totals[2] > 0 else float("nan")

    @property
    def progressive_error(self) -> float:
        """Share of wrong guesses before each row was learned; for classification."""
        return float(self.totals[4] / self.totals[2]) if self.totals[2] > 0 else float("nan")

    def weights(self) -> tuple[NDArray[np.float64], Vector]:
        """The model: weights of shape (n_outputs, width), and the intercepts."""
        cells = self.cells.reshape(self.spec.n_outputs, self.spec.width + 1, 4)
        w = cells[:, :, 0].copy()
        if self.spec.average and self.totals[0] > 0:
            w -= cells[:, :, 2] / self.totals[0]
        return np.ascontiguousarray(w[:, :-1]), w[:, -1].copy()

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """X w + b per output, of shape (rows, n_outputs)."""
        w, b = self.weights()
        z = np.empty((self.spec.n_outputs, X.shape[0]))
        for c in range(self.spec.n_outputs):
            if self.spec.hashed:
                _core.hashed_matvec(X.native_rows, w[c], float(b[c]), z[c])
            else:
                z[c] = X.matvec(w[c], float(b[c]))
        return z.T

    def get_state(self) -> dict[str, Any]:
        """All that is needed to continue exactly: plain values and arrays (copied)."""
        return {
            "spec": asdict(self.spec),
            "cells": self.cells.copy(),
            "totals": self.totals.copy(),
            "reported": self.reported.copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> OnlineLearner:
        """A learner that continues where `get_state` was asked."""
        learner = cls(OnlineSpec(**state["spec"]))
        for name in ("cells", "totals", "reported"):
            kept, given = getattr(learner, name), np.asarray(state[name], dtype=np.float64)
            if given.shape != kept.shape:
                raise ValueError(f"{name} of the state has shape {given.shape}, expected {kept.shape}")
            kept[:] = given
        return learner


def _pieces(seen: int, n: int) -> Iterator[tuple[int, int, bool]]:
    """Cuts n rows into native calls; a call ends where the number of rows seen is a power of two, to report there."""
    begin = 0
    while begin < n:
        to_power = (1 << (seen + begin).bit_length()) - (seen + begin)
        end = min(n, begin + ROWS_PER_CALL, begin + to_power)
        yield begin, end, end == begin + to_power
        begin = end
