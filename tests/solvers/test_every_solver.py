"""Every registered solver on everything it declares: drawn losses, penalties, intercepts, weights, storages and dtypes,
from zero and from warm starts, end within the gap asked for and at the objective that another solver finds.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drawn import EXACT, OWN_TOLERANCE, Draw, crawls, drawn_problem, drawn_start, tolerance
from widemargin import solve
from widemargin.solvers.registry import table


@pytest.mark.parametrize("name", list(table()))
@settings(max_examples=25)
@given(data=st.data())
def test_reaches_the_gap_and_the_objective_of_another_solver(name: str, data: Draw) -> None:
    problem = drawn_problem(name, data)
    assume(not crawls(name, problem))
    tol = tolerance(name)
    found = solve(problem, name, tol=tol, warm_start=drawn_start(problem, data), max_iter=50_000)
    assert found.converged, (problem, found)
    exact = problem.certificate(found.coef, found.intercept, found.dual)
    assert exact.relative_gap <= tol * (1 + 1e-6)
    able = [
        n for n, cls in table().items() if n not in OWN_TOLERANCE and cls.solves(problem) and not crawls(n, problem)
    ]
    other = solve(problem, data.draw(st.sampled_from(able), label="other"), tol=EXACT, max_iter=50_000)
    assert other.converged, (problem, other)
    # Both lie above the optimum, neither by more than its own gap.
    largest_gap = max(found.certificate.gap, other.certificate.gap)
    assert abs(found.certificate.primal - other.certificate.primal) <= largest_gap + 1e-14 * abs(exact.primal)
