"""When a search that goes up in C may end before its last value.

Three reasons that the scores give, each looked for over several values in a row:

declined    every fold's score is compared with the same fold's score at the best C so far: the mean loss of score
            exceeds its standard error. Larger C only fits the noise more closely.
faded       the mean score is below the best one, by however little. A plateau at the best score does not count.
settled     no fold's predictions of the rows held out move by more than a hundredth per doubling of C. The distance
            to their limit is of the order of 1/C, so all that is left to come is as small again: the scores stay as
            they are. Coefficients may go on moving where features say the same thing; but they must move by less than
            a tenth, for while the penalty rules they grow by a third or more, and a large intercept hides it.

And one that the clock gives: a limit on time leaves a tenth of it to the fit of all rows with the best value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..deadline import Deadline
from ..numbers import as_number
from ..vectors import Vector

OUT_OF_TIME = "the time ran out"
# Of the time, what the trying of values may use.
TRYING = 0.9
# A change of coefficients counts as so much of a change of predictions.
MILDER = 0.1


def search_deadlines(max_seconds: float | None) -> tuple[Deadline, Deadline]:
    """When the trying of values must end, and when all of the search."""
    if max_seconds is None:
        return Deadline(), Deadline()
    seconds = as_number("max_seconds", max_seconds, above=0)
    return Deadline.after(TRYING * seconds), Deadline.after(seconds)


@dataclass(frozen=True)
class EarlyStopping:
    """How patient a search is.

    Parameters
    ----------
    declines : int
        So many values in a row must score worse than the best one, by more than the standard error.
    fades : int
        So many values in a row must score worse than the best one, by however little.
    settled : int
        So many values in a row must leave the predictions of rows held out as they are.
    movement : float
        The relative change of predictions per doubling of C that counts as none; ten times as much of coefficients.

    Examples
    --------
    >>> from widemargin import EarlyStopping
    >>> EarlyStopping(declines=5)
    EarlyStopping(declines=5, fades=8, settled=3, movement=0.01)
    """

    declines: int = 3
    fades: int = 8
    settled: int = 3
    movement: float = 0.01

    def __post_init__(self) -> None:
        for name in ("declines", "fades", "settled"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        if not self.movement >= 0:
            raise ValueError(f"movement must be at least 0, got {self.movement!r}")


@dataclass
class StopWatch:
    """Sees the folds' scores and coefficients value by value, and says why the search may end."""

    rule: EarlyStopping
    _best: Vector | None = field(default=None, init=False)
    _models: list[list[Vector]] | None = field(default=None, init=False)  # coefficients, predictions: fold by fold
    _C: float = field(default=0.0, init=False)
    _declines: int = field(default=0, init=False)
    _fades: int = field(default=0, init=False)
    _settled: int = field(default=0, init=False)

    def reason_to_end(
        self, C: float, scores: Vector, coefs: list[Vector], predictions: list[Vector] | None = None
    ) -> str | None:
        """Why no larger C need be tried, or None; without predictions the coefficients alone must settle."""
        models = [coefs] if predictions is None else [predictions, coefs]
        below = self._best is not None and scores.mean() < self._best.mean()
        self._fades = self._fades + 1 if below else 0
        self._declines = self._declines + 1 if self._is_clearly_worse(scores) else 0
        self._settled = self._settled + 1 if self._movement(C, models) <= self.rule.movement else 0
        if self._best is None or scores.mean() > self._best.mean():
            self._best = scores
        self._C, self._models = C, models
        if self._declines >= self.rule.declines or self._fades >= self.rule.fades:
            return "the score declined"
        if self._settled >= self.rule.settled:
            return "the models settled"
        return None

    def _is_clearly_worse(self, scores: Vector) -> bool:
        if self._best is None:
            return False
        loss = self._best - scores
        error = loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else 0.0
        return bool(loss.mean() > error)

    def _movement(self, C: float, models: list[list[Vector]]) -> float:
        """The largest relative change among the folds, per doubling of C; of coefficients a tenth if not alone."""
        if self._models is None or C <= self._C:
            return np.inf
        changes = [max(map(_relative_change, new, old)) for new, old in zip(models, self._models, strict=True)]
        return max([changes[0], *(MILDER * change for change in changes[1:])]) / float(np.log2(C / self._C))


def _relative_change(new: Vector, old: Vector) -> float:
    size = float(np.linalg.norm(new))
    return float(np.linalg.norm(new - old)) / size if size > 0 else np.inf
