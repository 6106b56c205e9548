"""Compares our solvers on your own file: time and passes to the same proven gap, and a picture of how it fell.

Takes the options of `train`; solvers that do not solve that problem are left out. Data with more than two classes are
compared on the most frequent class against the rest.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

from .options import TYPES_HELP, add_reading, add_training, positive, reading_of, recipe_of
from .watch import tell

if TYPE_CHECKING:
    from ..solvers.run.solution import Solution

SUMMARY = "compare the solvers on a file"
EXAMPLES = f"""{TYPES_HELP}
examples:
  widemargin bench data.svm
  widemargin bench -s 0 -e 1e-6 --plot convergence.png data.svm
  widemargin bench --only dual_cd --only tron --seconds 60 data.svm
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("--only", metavar="SOLVER", action="append", default=[], help="compare these alone; repeatable")
    parser.add_argument("--seconds", type=positive, default=10.0, metavar="S", help="limit for each solver (10)")
    parser.add_argument("--plot", metavar="FILE", help="draw the gap against time and passes")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print the table alone")
    add_training(parser)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    from ..solvers.registry import solver_class
    from ..solvers.registry import table as solver_table

    for name in arguments.only:
        solver_class(name)  # an unknown name is refused before the data are read
    problem = _problem(arguments)
    able = [
        name
        for name, cls in solver_table().items()
        if cls.solves(problem) and (name in arguments.only or not arguments.only)
    ]
    if not able:
        raise ValueError("no solver that was asked for solves this problem: see `widemargin solvers`")
    runs: dict[str, Solution] = {}
    for name in able:
        runs[name] = _solved(problem, name, arguments)
        if not arguments.quiet:
            tell(f"{name}: {runs[name].status}, {runs[name].seconds:.3g} s")
        if str(runs[name].status) == "interrupted":
            break
    table = sorted((_row(name, found) for name, found in runs.items()), key=_rank)
    print(json.dumps([_finite(row) for row in table]) if arguments.json else _text(table))
    if arguments.plot:
        from ..plots.convergence import plot_convergence

        plot_convergence(runs, arguments.plot, tol=arguments.tol, title=repr(problem))


def _solved(problem: Any, name: str, arguments: argparse.Namespace) -> Solution:
    import numpy as np

    from ..solvers.solve import solve

    with np.errstate(all="ignore"):  # a solver that diverges shows it in the table
        return solve(
            problem,
            name,
            tol=arguments.tol,
            max_iter=arguments.max_iter,
            max_seconds=arguments.seconds,
            seed=arguments.seed,
            n_jobs=arguments.n_jobs,
            callback=lambda row: None,  # a trace of every step, for the picture
        )


def _problem(arguments: argparse.Namespace) -> Any:
    import numpy as np

    from ..data.datasets import read_dataset
    from ..data.matrix import Matrix
    from ..model.fit import one_problem

    recipe = recipe_of(arguments)
    data = read_dataset(arguments.data, reading_of(arguments))
    y = data.y
    if recipe.task == "classification" and y is not None:
        found, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        y = codes == int(np.argmax(counts)) if len(found) > 2 else codes
    return one_problem(Matrix(data.X), y, recipe)


def _row(name: str, found: Solution) -> dict[str, Any]:
    return {
        "solver": name,
        "seconds": found.seconds,
        "passes": found.trace[-1].passes,
        "objective": found.certificate.primal,
        "relative_gap": found.certificate.relative_gap,
        "status": str(found.status),
    }


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no word for what is not finite."""
    return {key: None if value in (math.inf, -math.inf) or value != value else value for key, value in row.items()}


def _rank(row: dict[str, Any]) -> tuple[bool, float]:
    """Those that converged first, by time; then the others, by their gap."""
    converged = row["status"] == "converged"
    return not converged, row["seconds"] if converged else row["relative_gap"]


def _text(table: list[dict[str, Any]]) -> str:
    lines = [f"{'solver':<16}{'seconds':>10}{'passes':>10}{'objective':>18}{'gap':>10}  status"]
    lines += [
        f"{r['solver']:<16}{r['seconds']:>10.3f}{r['passes']:>10.1f}{r['objective']:>18.8g}{r['relative_gap']:>10.1e}"
        f"  {r['status']}"
        for r in table
    ]
    return "\n".join(lines)
