"""Training speed: `make bench`, or `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .contestants import PEERS, widemargin
from .datasets import available
from .harness import compete
from .report import plot, table, write_json


def main() -> None:
    """Runs the competition that the command line describes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", nargs="+", help="data sets (default: the generated one and all real ones at hand)")
    parser.add_argument("--loss", nargs="+", default=["squared_hinge", "hinge"])
    parser.add_argument("--C", nargs="+", type=float, default=[1.0])
    parser.add_argument("--solver", nargs="+", default=["auto"], help="our solvers; the first one is the measure")
    parser.add_argument("--float32", action="store_true", help="our first solver in float32 as well")
    parser.add_argument("--peers", nargs="*", default=["liblinear"], choices=list(PEERS))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--patience", type=float, default=10.0, help="seconds after which no tighter run is asked for")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()

    contestants = [widemargin(solver) for solver in arguments.solver]
    if arguments.float32:
        contestants.append(widemargin(arguments.solver[0], "float32"))
    contestants += [PEERS[name] for name in arguments.peers]
    results = []
    for dataset in available(arguments.data):
        X, y = dataset.load()
        for loss in arguments.loss:
            for C in arguments.C:
                result = compete(
                    dataset.name,
                    X,
                    y,
                    loss,
                    C,
                    contestants,
                    repetitions=arguments.repetitions,
                    patience=arguments.patience,
                )
                results.append(result)
                print(table([result]), flush=True)
    if arguments.json:
        write_json(results, arguments.json)
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    sys.exit(main())
