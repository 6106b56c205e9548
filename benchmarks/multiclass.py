"""Several classes: time to an equal relative suboptimality against LIBLINEAR and scikit-learn, as Markdown tables.

    python -m benchmarks.multiclass [names ...] [--kind ovr crammer_singer multinomial] [--target 1e-3] [--C 1] [--cpu]

- one against rest with three losses against LIBLINEAR's -s 3 and the better of -s 1 and -s 2, -s 7 and -s 0; one thread
  and two
- Crammer and Singer's SVM against LIBLINEAR's -s 4
- multinomial logistic regression against the best of scikit-learn's solvers

Data come from the folder that WIDEMARGIN_DATA names, as they are; `news20/unit` has rows of unit length, `mnist/255`
pixels between 0 and 1. Every contestant runs from loose to tight, each run in a process of its own that is ended after
`--patience` seconds. The objective of what it returns is recomputed here in float64 and compared with a tight lower
bound of our own. The median time at the loosest tolerance that reached the target counts. Without intercept.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from widemargin import (
    CrammerSingerProblem,
    LinearSVC,
    LogisticRegression,
    Matrix,
    MaximumEntropyProblem,
    Problem,
    read_svmlight,
    solve,
)
from widemargin.objective.multiclass import MulticlassProblem

from .datasets import data_file

NAMES = ("dna.scale", "satimage.scale", "usps", "letter.scale", "news20/unit", "news20", "mnist/255", "mnist")
REPETITIONS = 3
LONG_RUN = 2.0  # seconds beyond which noise is small and no run is repeated

OUR_KNOBS = (3e-2, 1e-2, 5e-3, 3e-3, 2e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
LIBLINEAR_KNOBS = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5)
SCIKIT_LEARN_KNOBS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

Table = np.ndarray  # features x classes


@dataclass(frozen=True)
class Contestant:
    """A name, a fit at a tolerance of its own, and these tolerances from loose to tight."""

    name: str
    fit: Callable[[float], Table]
    knobs: tuple[float, ...]


@dataclass(frozen=True)
class Contest:
    """What is minimised: a title, the objective of a table of weights, a lower bound, ours and the peers."""

    title: str
    objective: Callable[[Table], float]
    bound: Callable[[], float]
    ours: list[Contestant]
    peers: list[Contestant]


def load(name: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """A data set by its name, labels as 0, 1, ..."""
    base, _, change = name.partition("/")
    X, y = read_svmlight(data_file(base))
    X = sp.csr_matrix(X)
    if change == "unit":
        X = sp.csr_matrix(sp.diags_array(1 / np.sqrt(np.maximum(X.multiply(X).sum(axis=1).A1, 1e-300))) @ X)
    elif change:
        X = X / float(change)
    return X, np.unique(y, return_inverse=True)[1]


def liblinear(X: sp.csr_matrix, y: np.ndarray, C: float, kind: int) -> Contestant:
    """LIBLINEAR's -s `kind`, its own data structure built beforehand."""
    from liblinear.liblinear import problem as as_problem
    from liblinear.liblinearutil import parameter, train

    prepared = as_problem(y.astype(np.float64), X)

    def fit(eps: float) -> Table:
        model = train(prepared, parameter(f"-s {kind} -c {C} -e {eps} -q"))
        w = np.array(model.w[: model.nr_feature * model.nr_class]).reshape(model.nr_feature, -1)
        return np.ascontiguousarray(w[:, np.argsort(model.get_labels())])

    return Contestant(f"LIBLINEAR -s {kind}", fit, LIBLINEAR_KNOBS)


def scikit_learn(X: sp.csr_matrix, y: np.ndarray, C: float, solver: str) -> Contestant:
    """One of scikit-learn's solvers for the multinomial loss."""
    from sklearn.linear_model import LogisticRegression as Peer

    def fit(tol: float) -> Table:
        model = Peer(C=C, fit_intercept=False, solver=solver, tol=tol, max_iter=10_000)
        return np.ascontiguousarray(model.fit(X, y).coef_.T)

    return Contestant(f"scikit-learn {solver}", fit, SCIKIT_LEARN_KNOBS)


def joint(title: str, problem: MulticlassProblem, peers: list[Contestant]) -> Contest:
    """One problem for all classes."""

    def fit(tol: float) -> Table:
        return solve(problem, tol=tol).coef.reshape(-1, problem.n_classes)  # type: ignore[arg-type]

    return Contest(
        title,
        lambda W: problem.objective(np.ascontiguousarray(W).ravel()),
        lambda: solve(problem, tol=1e-5, max_seconds=60).certificate.dual,  # type: ignore[arg-type]
        [Contestant("widemargin", fit, OUR_KNOBS)],
        peers,
    )


def one_vs_rest(X: sp.csr_matrix, y: np.ndarray, C: float, loss: str, kinds: tuple[int, ...]) -> Contest:
    """One problem per class; their objectives are added up."""
    shared = Matrix(X)
    problems = [Problem(shared, np.where(y == c, 1.0, -1.0), loss=loss, C=C) for c in range(int(y.max()) + 1)]

    def ours(n_jobs: int) -> Contestant:
        settings: dict[str, Any] = {"C": C, "fit_intercept": False, "n_jobs": n_jobs}

        def fit(tol: float) -> Table:
            model = (
                LogisticRegression(tol=tol, multi_class="ovr", **settings)
                if loss == "logistic"
                else LinearSVC(loss=loss, tol=tol, **settings)
            )
            return np.ascontiguousarray(model.fit(X, y).coef_.T)

        return Contestant(f"widemargin, {n_jobs} thread{'s' * (n_jobs > 1)}", fit, OUR_KNOBS)

    return Contest(
        f"one against rest, {loss}",
        lambda W: sum(p.objective(np.ascontiguousarray(W[:, c])) for c, p in enumerate(problems)),
        lambda: sum(solve(p, tol=1e-5, max_seconds=10).certificate.dual for p in problems),
        [ours(1), ours(2)],
        [liblinear(X, y, C, kind) for kind in kinds],
    )


def contests(kinds: list[str], X: sp.csr_matrix, y: np.ndarray, C: float) -> Iterator[Contest]:
    """What was asked for."""
    if "ovr" in kinds:
        yield one_vs_rest(X, y, C, "squared_hinge", (1, 2))
        yield one_vs_rest(X, y, C, "hinge", (3,))
        yield one_vs_rest(X, y, C, "logistic", (7, 0))
    if "crammer_singer" in kinds:
        yield joint("Crammer and Singer", CrammerSingerProblem(X, y, C), [liblinear(X, y, C, 4)])
    if "multinomial" in kinds:
        small = X.shape[1] * (int(y.max()) + 1) <= 2000  # the Hessian of newton-cholesky would not fit otherwise
        names = ["lbfgs", "newton-cg", "saga", *(["newton-cholesky"] if small else [])]
        peers = [scikit_learn(X, y, C, name) for name in names]
        yield joint("multinomial", MaximumEntropyProblem(X, y, C), peers)


def warm_up() -> None:
    """Every kind of fit of ours once on a few rows, so that no run has to import anything."""
    rng = np.random.default_rng(0)
    X, y = sp.csr_matrix(rng.standard_normal((60, 1200)) / 35), np.arange(60) % 3
    for loss in ("squared_hinge", "hinge"):
        LinearSVC(loss=loss, n_jobs=2).fit(X, y)
        LinearSVC(loss=loss).fit(X[:, :5].toarray() * 100, y)
    for strategy in ("ovr", "multinomial"):
        LogisticRegression(multi_class=strategy).fit(X, y)
    LinearSVC(multi_class="crammer_singer").fit(X, y)


@dataclass(frozen=True)
class Spent:
    """Seconds of one run, by the clock that was asked for and on the wall."""

    seconds: float = np.inf
    wall: float = np.inf


def timed(contestant: Contestant, knob: float, clock: Callable[[], float], patience: float) -> tuple[Spent, Any]:
    """One run, in a process that is ended when it takes too long: what it took and found, or infinity and None."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def run() -> None:
        warnings.simplefilter("ignore")
        with threadpool_limits(1):  # of BLAS; a contestant's own threads are its own affair
            began, wall = clock(), time.perf_counter()
            found = contestant.fit(knob)
            there.send((Spent(clock() - began, time.perf_counter() - wall), found))

    child = context.Process(target=run)
    child.start()
    there.close()
    try:
        answer: tuple[Spent, Any] = here.recv() if here.poll(patience) else (Spent(), None)
    except EOFError:
        answer = (Spent(), None)
    child.kill()
    child.join()
    return answer


def time_to(contest: Contest, who: Contestant, wanted: float, clock: Callable[[], float], patience: float) -> Spent:
    """The median of the loosest runs whose objective is at most `wanted`; infinity if there is none."""
    for knob in who.knobs:
        spent, W = timed(who, knob, clock, patience)
        if W is None:
            return Spent()
        if contest.objective(W) > wanted:
            continue
        runs = [spent]
        while len(runs) < REPETITIONS and spent.seconds < LONG_RUN:
            runs.append(timed(who, knob, clock, patience)[0])
        return Spent(statistics.median(r.seconds for r in runs), statistics.median(r.wall for r in runs))
    return Spent()


def compete(name: str, contest: Contest, target: float, clock: Callable[[], float], patience: float) -> str:
    """One row of the table. What two threads gain is read from the clock on the wall."""
    bound = contest.bound()
    wanted = bound + target * abs(bound)
    ours = [time_to(contest, who, wanted, clock, patience) for who in contest.ours]
    theirs = {who.name: time_to(contest, who, wanted, clock, patience).seconds for who in contest.peers}
    best = min(theirs, key=lambda peer: theirs[peer])
    threads = f"{ours[0].wall / ours[1].wall:.2f}x" if len(ours) > 1 else ""
    peer = f"{theirs[best]:.3f} ({best})" if np.isfinite(theirs[best]) else "not within its time"
    ratio = f"{theirs[best] / ours[0].seconds:.1f}x" if np.isfinite(theirs[best]) else ""
    return f"| {name} | {contest.title} | {ours[0].seconds:.3f} | {peer} | {ratio} | {threads} |"


def main() -> None:
    """Runs what the command line describes."""
    warnings.simplefilter("ignore")
    warm_up()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.multiclass", description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    kinds = ["ovr", "crammer_singer", "multinomial"]
    parser.add_argument("--kind", nargs="+", default=kinds, choices=kinds)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--target", type=float, default=1e-3)
    parser.add_argument("--patience", type=float, default=15.0, help="seconds after which a run is ended")
    parser.add_argument("--cpu", action="store_true", help="count processor time: for a machine that does other work")
    asked = parser.parse_args()
    clock = time.process_time if asked.cpu else time.perf_counter
    print(f"Seconds to a relative suboptimality of {asked.target:g}, C = {asked.C:g}\n")
    print("| data | problem | widemargin | best peer | ratio | two threads |\n|---|---|---|---|---|---|", flush=True)
    for name in asked.names:
        X, y = load(name)
        for contest in contests(asked.kind, X, y, asked.C):
            print(compete(name, contest, asked.target, clock, asked.patience), flush=True)


if __name__ == "__main__":
    main()
