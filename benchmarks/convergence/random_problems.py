"""The promise on data nobody has seen: random hard problems, each solved by `auto` in limited time.

    python -m benchmarks.convergence.random_problems 5000 [--first 0] [--file hard.jsonl] [--seconds 20]

Every outcome is appended to the file at once: a run may be stopped, and goes on where it was. A problem counts as
proven where the relative gap is at most 1e-3 within the seconds of processor time; the certificate is computed again
from the coefficients and the dual point that came back, a warning of NumPy's counts as a failure.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded: processor time is counted

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from widemargin import solve  # noqa: E402

from .fits import TOL  # noqa: E402
from .hard import MOST_ENTRIES, hard_problem  # noqa: E402
from .limited import Outcome, limited  # noqa: E402

# What computing a certificate anew may change of it.
ROUNDING = 1.01


def attempt(number: int, entries: int = MOST_ENTRIES, solver: str = "auto") -> Outcome:
    """How `auto` ends on one problem."""
    hard = hard_problem(number, entries)
    warnings.simplefilter("error")
    began = time.process_time()
    found = solve(hard.problem, solver, tol=TOL)
    seconds = time.process_time() - began
    fit = hard.problem.certificate(found.coef, found.intercept, found.dual)
    status = "time_limit" if str(found.status) == "interrupted" else str(found.status)
    if not (np.isfinite(found.coef).all() and np.isfinite(found.intercept)):
        status = "not finite"
    elif status == "converged" and fit.relative_gap > ROUNDING * TOL:
        status = "not proven"
    return {
        "words": hard.words,
        "seconds": seconds,
        "status": status,
        "solver": found.solver,
        "objective": fit.primal,
        "gap": fit.relative_gap,
    }


def read(path: Path) -> dict[int, Outcome]:
    """The outcomes so far, by number."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {row["number"]: row for row in map(json.loads, lines)}


def is_proven(row: Outcome, seconds: float) -> bool:
    """Whether that fit converged in time."""
    return bool(row["status"] == "converged" and row["seconds"] <= 1.05 * seconds)


def summary(rows: dict[int, Outcome], seconds: float) -> str:
    """How many were proven, and each that was not."""
    failures = [row for _, row in sorted(rows.items()) if not is_proven(row, seconds)]
    lines = [f"{len(rows) - len(failures):,} of {len(rows):,} proven within {seconds:g} s"]
    lines += [_line(row) for row in failures]
    return "\n".join(lines)


def _line(row: Outcome) -> str:
    gap = row.get("gap", float("nan"))
    ended = row.get("error") or f"{row['status']} gap {gap:.1e} {row['seconds']:.1f} s {row.get('solver', '')}"
    return f"{row['number']}: {ended}: {row.get('words', '')}"


def main() -> None:
    """Solves what is missing and prints what failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.convergence.random_problems")
    parser.add_argument("count", type=int, help="how many problems")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--every", type=int, default=1, help="take only every k-th")
    parser.add_argument("--entries", type=int, default=MOST_ENTRIES)
    parser.add_argument("--file", type=Path, default=Path("hard.jsonl"))
    parser.add_argument("--seconds", type=float, default=20.0, help="processor time of one fit")
    options = parser.parse_args()
    wanted = range(options.first, options.first + options.count, options.every)
    attempt(0, 1000)  # so that no process has to import anything
    warnings.simplefilter("default")
    done = read(options.file)
    for number in wanted:
        if number not in done:
            fit = partial(attempt, number, options.entries)
            _append(options.file, number, limited(fit, options.seconds, listens=True))
    print(summary({number: row for number, row in read(options.file).items() if number in wanted}, options.seconds))


def _append(path: Path, number: int, outcome: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps({"number": number, **outcome}) + "\n")


if __name__ == "__main__":
    main()
