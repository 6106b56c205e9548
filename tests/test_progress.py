"""The progress line: what it shows, that it passes the callback's wish on, and what is said without rich."""

from __future__ import annotations

import math
import sys

import pytest

from widemargin import Problem, Status, solve
from widemargin.progress import LogScale, describe, show_progress
from widemargin.solvers.run.trace import TraceRow


def row(gap: float, objective: float = 10.0) -> TraceRow:
    return TraceRow(0.5, 3, 2.5, objective, objective - gap, gap, 7, False)


def small_problem() -> Problem:
    return Problem([[0.0, 1.0], [1.0, 0.5], [3.0, 2.0], [2.5, -1.0]], [-1, -1, 1, 1], C=10, intercept="free")


def test_solve_shows_passes_objective_and_gap_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    solution = solve(small_problem(), tol=1e-6, progress=True)
    shown = capsys.readouterr()
    assert solution.status is Status.CONVERGED
    assert shown.out == ""
    assert "passes" in shown.err and "objective" in shown.err and "gap" in shown.err


def test_progress_does_not_change_the_result() -> None:
    watched, alone = (solve(small_problem(), tol=1e-6, progress=shown) for shown in (True, False))
    assert watched.certificate.primal == pytest.approx(alone.certificate.primal, rel=1e-6)


def test_the_callback_is_asked_and_obeyed() -> None:
    seen: list[TraceRow] = []

    def stop_at_once(at: TraceRow) -> bool:
        seen.append(at)
        return True

    solution = solve(small_problem(), tol=1e-14, progress=True, callback=stop_at_once)
    assert len(seen) == 1
    assert solution.status is Status.INTERRUPTED


def test_what_the_callback_returns_is_passed_on() -> None:
    with show_progress(1e-3, lambda at: "enough") as shown:
        assert shown(row(1.0)) == "enough"
    with show_progress(1e-3) as shown:
        assert shown(row(1.0)) is None


def test_an_error_of_the_callback_comes_through() -> None:
    def fail(at: TraceRow) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"), show_progress(1e-3, fail) as shown:
        shown(row(1.0))


def test_the_bar_moves_with_the_logarithm_of_the_gap() -> None:
    share = LogScale(1e-4)
    assert [round(share(gap), 6) for gap in (math.nan, 1.0, 1e-1, 1e-2, 1e-1, 1e-4, 1e-9)] == [
        0.0, 0.0, 0.25, 0.5, 0.5, 1.0, 1.0,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tol", "gap", "share"), [(1e-3, 1e-5, 1.0), (0.0, 0.5, 0.0), (0.0, 0.0, 1.0), (1.0, math.inf, 0.0)]
)
def test_the_bar_at_its_ends(tol: float, gap: float, share: float) -> None:
    assert LogScale(tol)(gap) == share


def test_the_line_in_words() -> None:
    assert describe(row(0.02), 1e-3).split() == ["2.5", "passes", "objective", "10", "gap", "2.0e-03", "of", "1e-03"]


def test_without_rich_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rich.console", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'widemargin\[progress\]'"):
        solve(small_problem(), progress=True)
