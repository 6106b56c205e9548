"""The promise of convergence: solver="auto" over every data set, and scikit-learn and LIBLINEAR over the same grid.

    python -m benchmarks.convergence [names ...] [--file convergence.jsonl] [--seconds 10] [--who widemargin ...]
    python -m benchmarks.convergence --report [--file convergence.jsonl]

Data come from the folder that WIDEMARGIN_DATA names, raw and unscaled. C = 0.001, 0.01, ..., 1000, every loss that
applies, l2, l1 and elastic net, intercept not penalised, tol 1e-3, ten seconds of processor time on one thread for
each fit. Every outcome is appended to the file at once: a run may be stopped, and goes on where it was. Peers run
with their defaults; a fit of theirs counts as finished when it came without a warning and its objective, recomputed
here, is within 1e-3 of ours.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded: processor time is counted

import argparse  # noqa: E402
from pathlib import Path  # noqa: E402

from .data import datasets  # noqa: E402
from .fits import FITS  # noqa: E402
from .report import summary  # noqa: E402
from .run import read, run  # noqa: E402


def main() -> None:
    """Runs what is missing and prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.convergence")
    parser.add_argument("names", nargs="*", help="data sets (default: all at hand, small ones first)")
    parser.add_argument("--file", type=Path, default=Path("convergence.jsonl"))
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of one fit")
    parser.add_argument("--who", nargs="+", default=list(FITS), choices=list(FITS))
    parser.add_argument("--loss", nargs="+", default=[])
    parser.add_argument("--penalty", nargs="+", default=[])
    parser.add_argument("--C", nargs="+", type=float, default=[])
    parser.add_argument("--report", action="store_true", help="only print what is in the file")
    options = parser.parse_args()
    if not options.report:
        only = {"loss": set(options.loss), "penalty": set(options.penalty), "C": set(options.C)}
        run(datasets(options.names), options.file, options.seconds, set(options.who), only)
    print(summary(read(options.file), options.seconds))


if __name__ == "__main__":
    main()
