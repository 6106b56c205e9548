"""The tables of Keerthi and DeCoste (2005) again: seeding along C, the two heuristics, cross-validation errors.

    WIDEMARGIN_DATA=... python -m benchmarks.finite_newton [a9a w8a ...]

Their C is twice ours. Seconds are theirs on a 2.4 GHz Xeon of 2004 and ours here, so only the pattern compares: which
variant saves how much. Conjugate gradient iterations do not depend on the machine.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from widemargin import Problem, Solution, read_svmlight, solve
from widemargin.solvers import FiniteNewton

from .datasets import data_file

# The paper's own method: neither a preconditioner nor a forcing term.
PAPER = FiniteNewton(precondition=False, crude_forcing=0.0)
VARIANTS = {
    "No heuristics": replace(PAPER, first_cg_limit=0, two_rounds=False),
    "Heuristic 1": replace(PAPER, two_rounds=False),
    "Heuristic 2": replace(PAPER, first_cg_limit=0),
    "Both heuristics": PAPER,
    "(this library's default)": FiniteNewton(),
}
THEIR_SECONDS_3 = {
    "a9a": {"No heuristics": 7.28, "Heuristic 1": 5.12, "Heuristic 2": 3.57, "Both heuristics": 3.00},
    "w8a": {"No heuristics": 11.79, "Heuristic 1": 9.24, "Heuristic 2": 4.17, "Both heuristics": 3.90},
}
THEIR_SECONDS_1 = {"a9a": (60.26, 36.80), "w8a": (105.16, 24.43)}
THEIR_ERRORS = {
    "a9a": {-4.0: 15.26, -3.0: 15.21, -2.0: 15.23, -1.0: 15.22, 0.0: 15.23, 1.0: 15.23},
    "w8a": {0.0: 1.34, 1.0: 1.33, 2.0: 1.33, 3.0: 1.34, 4.0: 1.34},
}
PATH = np.sqrt(2.0) ** np.arange(-10, 11)
TOL = 1e-8
PATH_TOLS = (1e-3, 1e-6, 1e-8)


class CountingProblem(Problem):
    """A problem that counts its Hessian products, one per conjugate gradient iteration."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.counted = [0]

    def hess_vec(self, *arguments: Any) -> Any:
        self.counted[0] += 1
        return super().hess_vec(*arguments)


@dataclass(frozen=True)
class Fit:
    """One fit with what it cost."""

    solution: Solution
    cg_iterations: int
    seconds: float


def fit(X: Any, y: Any, C_paper: float, solver: FiniteNewton, start: Solution | None = None, tol: float = TOL) -> Fit:
    """Fits at the paper's C."""
    problem = CountingProblem(X, y, C=C_paper / 2, intercept="regularized")
    began = time.perf_counter()
    solution = solve(problem, solver, tol=tol, warm_start=start)
    assert solution.converged, solution
    return Fit(solution, problem.counted[0], time.perf_counter() - began)


def heuristics_table(name: str, X: Any, y: Any) -> None:
    """Table 3."""
    print(f"\n**{name}**: heuristics at C_paper = 1, relative gap {TOL:g} (Table 3)\n")
    print("| | CG iterations | Newton steps | passes | seconds | theirs |\n|---|---|---|---|---|---|")
    for title, solver in VARIANTS.items():
        got = fit(X, y, 1.0, solver)
        theirs = THEIR_SECONDS_3.get(name, {}).get(title)
        print(
            f"| {title} | {got.cg_iterations} | {got.solution.n_iter} | {got.solution.trace[-1].passes:.0f} "
            f"| {got.seconds:.2f} | {'' if theirs is None else f'{theirs:.2f}'} |",
            flush=True,
        )
    support = np.count_nonzero(got.solution.dual) / len(y)
    print(f"\nShare of support vectors {support:.3f} (theirs: a9a 0.605, w8a 0.219)")


def seeding_table(name: str, X: Any, y: Any) -> None:
    """Table 1 with the paper's settings, and the same with this library's default settings at several accuracies."""
    print(f"\n**{name}**: a path over C_paper = sqrt(2)^k, k = -10 .. 10 (Table 1)\n")
    print("| settings | gap | | CG iterations | passes | seconds |\n|---|---|---|---|---|---|")
    settings = [("the paper's", PAPER, TOL)] + [("this library's", FiniteNewton(), tol) for tol in PATH_TOLS]
    for title, solver, tol in settings:
        apart, along = (path_cost(X, y, solver, tol, seeded) for seeded in (False, True))
        for label, (cg, passes, seconds) in (("separate", apart), ("seeded", along)):
            print(f"| {title} | {tol:.0e} | {label} | {cg:.0f} | {passes:.0f} | {seconds:.2f} |")
        cg, passes, seconds = (b / a for a, b in zip(apart, along, strict=True))
        print(f"| {title} | {tol:.0e} | seeded / separate | {cg:.2f} | {passes:.2f} | {seconds:.2f} |", flush=True)
    if name in THEIR_SECONDS_1:
        apart_s, along_s = THEIR_SECONDS_1[name]
        print(f"| theirs | | seeded / separate | | | {along_s / apart_s:.2f} ({apart_s} s and {along_s} s) |")


def path_cost(X: Any, y: Any, solver: FiniteNewton, tol: float, seeded: bool) -> tuple[float, float, float]:
    """Conjugate gradient iterations, passes and seconds of the 21 fits."""
    fits: list[Fit] = []
    for C_paper in PATH:
        fits.append(fit(X, y, C_paper, solver, fits[-1].solution if seeded and fits else None, tol))
    return (
        sum(f.cg_iterations for f in fits),
        sum(f.solution.trace[-1].passes for f in fits),
        sum(f.seconds for f in fits),
    )


def error_table(name: str, X: Any, y: Any) -> None:
    """Tables 4 and 5: 10-fold cross-validation errors."""
    print(f"\n**{name}**: 10-fold cross-validation error in percent (Tables 4 and 5)\n")
    print("| log2 C_paper | ours | theirs |\n|---|---|---|")
    fold = np.random.default_rng(0).permutation(len(y)) % 10
    for log2_C, theirs in THEIR_ERRORS.get(name, {}).items():
        wrong, before = 0, None
        for k in range(10):
            held, rest = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
            before = fit(X[rest], y[rest], 2.0**log2_C, FiniteNewton(), before).solution
            wrong += np.count_nonzero(np.sign(X[held] @ before.coef + before.intercept) != np.sign(y[held]))
        print(f"| {log2_C:.1f} | {100 * wrong / len(y):.2f} | {theirs:.2f} |", flush=True)


def main(names: list[str]) -> None:
    """Prints all tables for the named data sets."""
    for name in names or ["a9a", "w8a"]:
        X, y = read_svmlight(data_file(name))
        heuristics_table(name, X, y)
        seeding_table(name, X, y)
        error_table(name, X, y)


if __name__ == "__main__":
    main(sys.argv[1:])
