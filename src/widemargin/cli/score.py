"""How good predictions are, counted block by block: LIBLINEAR's accuracy, squared error and correlation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..model.model import Model


class Score:
    """Accuracy for classes, mean squared error and squared correlation for numbers."""

    def __init__(self, task: str) -> None:
        self.regression = task == "regression"
        self.rows = 0
        self.correct = 0
        self._sums = [0.0] * 6  # of p, y, pp, yy, py and (p - y)^2

    def add(self, model: Model, scores: NDArray[np.float64], y: NDArray[Any]) -> None:
        """Counts a block in."""
        import numpy as np

        if self.regression:
            p, t = scores[:, 0], np.asarray(y, dtype=np.float64)
            found = [p.sum(), t.sum(), p @ p, t @ t, p @ t, (p - t) @ (p - t)]
            self._sums = [before + float(more) for before, more in zip(self._sums, found, strict=True)]
            self.rows += len(y)
            return
        right = _as_known(model.labels, y)[model.chosen(scores), np.arange(len(y))]
        self.count(len(y), int(np.count_nonzero(right)))

    def count(self, rows: int, correct: int) -> None:
        """Counts rows in, so many of them right."""
        self.rows += rows
        self.correct += correct

    @property
    def name(self) -> str:
        """What `value` is."""
        return "mean_squared_error" if self.regression else "accuracy"

    @property
    def value(self) -> float:
        """Mean squared error, or the share of right predictions."""
        if not self.rows:
            return 0.0
        return float(self._sums[5] / self.rows) if self.regression else self.correct / self.rows

    @property
    def squared_correlation(self) -> float:
        """Of predictions and targets; 0 where either never changes."""
        n = self.rows
        p, y, pp, yy, py = self._sums[:5]
        below = (n * pp - p * p) * (n * yy - y * y)
        return float((n * py - p * y) ** 2 / below) if below > 0 else 0.0

    def line(self) -> str:
        """The lines of LIBLINEAR's predict."""
        if self.regression:
            return (
                f"Mean squared error = {self.value:g} (regression)\n"
                f"Squared correlation coefficient = {self.squared_correlation:g} (regression)"
            )
        return f"Accuracy = {100 * self.value:g}% ({self.correct}/{self.rows})"

    def cross_validation_lines(self) -> str:
        """The lines of LIBLINEAR's train -v."""
        if self.regression:
            return (
                f"Cross Validation Mean squared error = {self.value:g}\n"
                f"Cross Validation Squared correlation coefficient = {self.squared_correlation:g}"
            )
        return f"Cross Validation Accuracy = {100 * self.value:g}%"


def _as_known(labels: list[Any], y: NDArray[Any]) -> NDArray[np.bool_]:
    """For each known label and row, whether the row has that label; text and numbers are compared as written."""
    import numpy as np

    if y.dtype.kind not in "biuf":
        return np.array([y.astype(str) == str(label) for label in labels])
    return np.array([y == _number(label) for label in labels])


def _number(label: Any) -> float:
    try:
        return float(label)
    except ValueError:
        return float("nan")
