"""The convergence picture: its axes, its curves, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from widemargin import Problem, Solution, Trace, solve
from widemargin.plots import plot_convergence


@pytest.fixture(scope="module")
def solution() -> Solution:
    problem = Problem([[0.0, 1.0], [1.0, 0.5], [3.0, 2.0], [2.5, -1.0]], [-1, -1, 1, 1], C=10, intercept="free")
    return solve(problem, tol=1e-8)


def test_one_panel_per_axis_on_a_logarithmic_scale(solution: Solution, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    figure = plot_convergence(solution, path, tol=1e-8, title="a title")
    assert [panel.get_xlabel() for panel in figure.axes] == ["seconds", "passes over the data"]
    assert {panel.get_yscale() for panel in figure.axes} == {"log"}
    assert path.read_bytes().startswith(b"\x89PNG")


def test_curves_hold_the_trace(solution: Solution) -> None:
    figure = plot_convergence({"ours": solution}, against=["passes"])
    drawn = figure.axes[0].lines[0]
    rows = [row for row in solution.trace if row.relative_gap > 0]
    assert drawn.get_xdata().tolist() == [row.passes for row in rows]
    assert drawn.get_ydata().tolist() == [row.relative_gap for row in rows]


def test_suboptimality_is_measured_from_the_best(solution: Solution) -> None:
    best = solution.certificate.dual
    figure = plot_convergence([solution.trace], against=["iteration"], measure="suboptimality", best=best)
    heights = figure.axes[0].lines[0].get_ydata()
    assert heights[0] == pytest.approx((solution.trace[0].objective - best) / best)


def test_several_runs_have_a_legend(solution: Solution) -> None:
    figure = plot_convergence({"first": solution, "second": solution.trace})
    assert [text.get_text() for text in figure.axes[-1].get_legend().get_texts()] == ["first", "second"]


def test_what_cannot_be_drawn_is_refused(solution: Solution) -> None:
    with pytest.raises(ValueError, match="unknown against 'days'"):
        plot_convergence(solution, against=["days"])
    with pytest.raises(ValueError, match="unknown measure 'luck'"):
        plot_convergence(solution, measure="luck")
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_convergence(Trace())


def test_without_matplotlib_the_error_says_what_to_install(solution: Solution, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'widemargin\[plots\]'"):
        plot_convergence(solution)
