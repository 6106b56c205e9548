"""A line on the terminal while a run goes on: passes, objective, gap and time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .solvers.run.trace import TraceRow

Callback = Callable[["TraceRow"], Any]


@contextmanager
def show_progress(tol: float, callback: Callback | None = None) -> Iterator[Callback]:
    """Shows a progress line on standard error; yields a callback that feeds it and then asks `callback`.

    Parameters
    ----------
    tol : float
        The relative gap at which the bar is full. The bar moves with the logarithm of the gap, because that is
        what falls steadily.
    callback : callable, optional
        Is shown each trace row as well; its result is passed on.

    Examples
    --------
    >>> from widemargin import Problem, solve
    >>> problem = Problem([[0.0], [1.0], [3.0]], [-1, -1, 1])
    >>> with show_progress(tol=1e-3) as shown:
    ...     solution = solve(problem, callback=shown)
    >>> str(solution.status)
    'converged'
    """
    line = _progress_line()
    with line:
        task = line.add_task("starting", total=1.0 if tol > 0 else None)
        share = LogScale(tol)

        def shown(row: TraceRow) -> Any:
            line.update(task, completed=share(row.relative_gap), description=describe(row, tol))
            return callback(row) if callback is not None else None

        yield shown


class LogScale:
    """How far the gap has come on the way from its first value to tol, from 0 to 1; it never goes back."""

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._first = math.nan
        self._reached = 0.0

    def __call__(self, gap: float) -> float:
        if math.isnan(self._first) and math.isfinite(gap) and gap > self.tol:
            self._first = gap
        if 0 < self.tol < self._first and not math.isnan(gap):
            share = math.log(self._first / max(gap, self.tol)) / math.log(self._first / self.tol)
            self._reached = max(self._reached, share)
        elif 0 <= gap <= self.tol:
            self._reached = 1.0
        return self._reached


def describe(row: TraceRow, tol: float) -> str:
    """The text of the line."""
    read = f"   read {row.bytes_read / 1e6:,.1f} MB" if row.bytes_read else ""
    return f"{row.passes:7.1f} passes   objective {row.objective:.6g}   gap {row.relative_gap:.1e} of {tol:.0e}{read}"


def _progress_line() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError as error:
        raise ImportError("showing progress needs rich: pip install 'widemargin[progress]'") from error
    return Progress(
        TextColumn("{task.description}"), BarColumn(bar_width=30), TimeElapsedColumn(), console=Console(stderr=True)
    )


@contextmanager
def show_steps(total: int) -> Iterator[Callable[[str], None]]:
    """Shows a progress line for so many steps; yields a function that takes the next step and its text.

    Examples
    --------
    >>> with show_steps(2) as step:
    ...     step("first")
    ...     step("second")
    """
    line = _progress_line()
    with line:
        task = line.add_task("starting", total=total)

        def step(description: str) -> None:
            line.update(task, advance=1, description=description)

        yield step
