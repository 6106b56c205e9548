"""What `auto` takes, beside what it could have taken: one real problem for each row of its rule table.

    python -m benchmarks.convergence.choices [--seconds 20]

Data from the folder that WIDEMARGIN_DATA names, intercept not penalised, to a relative gap of 1e-3; processor seconds
on one thread. A solver that did not get there shows the gap it reached.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded: processor time is counted

import argparse  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from functools import partial  # noqa: E402

from .data import datasets  # noqa: E402
from .fits import Outcome, Task, ours  # noqa: E402
from .limited import limited  # noqa: E402
from .run import warm_up  # noqa: E402


@dataclass(frozen=True)
class Row:
    """A row of the rule table, a problem that it decides, and who else could solve it."""

    rule: str
    data: str
    task: Task
    others: tuple[str, ...]


ROWS = (
    Row("l1, squared loss", "reuters_moneyfx", Task("squared", "l1", 1.0), ("newglmnet", "primal_cd")),
    Row("l1, hinge", "w8a", Task("hinge", "l1", 1.0), ()),
    Row("l1, few features", "a9a", Task("logistic", "l1", 1.0), ("newglmnet", "primal_cd")),
    Row("l1, many features", "reuters_moneyfx", Task("logistic", "l1", 10.0), ("primal_cd", "prox_newton")),
    Row("l1, far more features than rows", "dorothea", Task("hinge", "l1", 100.0), ("multipliers", "interior_point")),
    Row("l1, raw", "adult-train", Task("squared_hinge", "l1", 10.0), ("newglmnet", "interior_point")),
    Row("l2, smooth, few features", "a9a", Task("squared_hinge", "l2", 1.0), ("dual_cd", "tron", "lbfgs")),
    Row("the same, raw", "adult-train", Task("logistic", "l2", 1.0), ("dual_cd", "tron", "lbfgs")),
    Row("l2, squared hinge, many stiff rows", "mnist", Task("squared_hinge", "l2", 1e-5), ("dual_cd", "tron")),
    Row("l2, smooth, many very stiff rows", "mnist", Task("logistic", "l2", 1e-3), ("dual_cd", "tron")),
    Row("l2, smooth, many features", "reuters_moneyfx", Task("squared_hinge", "l2", 1.0), ("tron", "lbfgs")),
    Row("the same, slow for dual_cd", "madelon", Task("logistic", "l2", 1.0), ("dual_cd", "tron", "newton_cholesky")),
    Row("the same, slow for tron", "imdb_bow", Task("squared_hinge", "l2", 10.0), ("dual_cd", "tron")),
    Row("l2, hinge, few features", "a9a", Task("hinge", "l2", 1.0), ("dual_cd", "multipliers", "finite_newton")),
    Row("the same, raw", "german.numer", Task("hinge", "l2", 100.0), ("dual_cd", "multipliers", "finite_newton")),
    Row("the same, raw, many rows", "mnist", Task("hinge", "l2", 100.0), ("dual_cd",)),
    Row("l2, hinge, many features", "reuters_moneyfx", Task("hinge", "l2", 1.0), ("finite_newton", "multipliers")),
)


def cell(outcome: Outcome) -> str:
    """Seconds, or the gap that was left."""
    if outcome["status"] == "converged":
        return f"{outcome['seconds']:.3f} s"
    return f"{outcome['status'].replace('_', ' ')}, gap {outcome.get('gap', float('inf')):.1e}"


def main() -> None:
    """Prints the table row by row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.convergence.choices")
    parser.add_argument("--seconds", type=float, default=20.0, help="processor time of one fit")
    options = parser.parse_args()
    warm_up({"widemargin"})
    print("| rule | problem | auto | others |\n|---|---|---|---|")
    for row in ROWS:
        found = datasets([row.data])
        if not found:
            continue
        X, y = found[0].load()
        cells = []
        for solver in ("auto", *row.others):
            outcome = limited(partial(ours, row.task, X, y, solver=solver), options.seconds, listens=True)
            name = outcome.get("solver", solver) if solver == "auto" else solver
            cells.append(f"{name} {cell(outcome)}")
        problem = f"{row.data}, {row.task.loss}, C = {row.task.C:g}"
        print(f"| {row.rule} | {problem} | {cells[0]} | {'; '.join(cells[1:])} |", flush=True)


if __name__ == "__main__":
    main()
