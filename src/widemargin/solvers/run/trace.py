"""The trace: one row per outer step, from which the convergence figures are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, fields
from typing import Any

from ...objective.certificate import measure, relative


@dataclass(frozen=True)
class TraceRow:
    """Where a run stood after one outer step."""

    seconds: float  # since the solver started
    iteration: int  # the solver's own outer steps
    passes: float  # passes over the data, a partial pass counted by its share of coordinates
    objective: float
    dual: float
    gap: float
    n_active: int  # rows or columns still in play after shrinking
    certified: bool  # whether objective, dual and gap are exact, or the solver's estimate during the pass
    at_zero: float = math.inf  # the objective at w = 0 with its best intercept
    bytes_read: int = 0  # from disk, since the run began; of rows in memory none

    @property
    def relative_gap(self) -> float:
        """The gap beside what it is measured by: the objective, or the gain over w = 0 if that is less."""
        return relative(self.gap, measure(self.objective, self.objective - self.gap, self.at_zero))


@dataclass
class Trace:
    """The rows of one run, in order.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> solution = solve(Problem([[0.0], [1.0], [3.0]], [-1, -1, 1]))
    >>> solution.trace[-1].certified
    True
    >>> sorted(solution.trace.to_dict())[:3]
    ['at_zero', 'bytes_read', 'certified']
    """

    rows: list[TraceRow] = field(default_factory=list)

    def add(self, row: TraceRow) -> None:
        """Appends a row."""
        self.rows.append(row)

    def to_dict(self) -> dict[str, list[Any]]:
        """One list per column."""
        names = [f.name for f in fields(TraceRow)]
        columns = list(zip(*(astuple(row) for row in self.rows), strict=True)) or [()] * len(names)
        return {name: list(column) for name, column in zip(names, columns, strict=True)}

    def to_frame(self) -> Any:
        """A pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> TraceRow:
        return self.rows[index]

    def __iter__(self) -> Iterator[TraceRow]:
        return iter(self.rows)
