"""What `tol` promises: predictions at the default tolerance beside those of the optimum, at every C.

    python -m benchmarks.tolerance [--fast]

Every classifier over the data sets that ship with scikit-learn and, with WIDEMARGIN_DATA, some of the real ones, C from
1e-6 to 1e6, two thirds of the rows to learn from. For each: the share of held-out rows whose predicted class at the
default tol is that at tol 1e-10 (rows whose two best classes tie there do not count), and the passes that either took.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

from widemargin import LinearSVC, LogisticRegression, read_svmlight

EXACT = 1e-10
WANTED = 0.995
# Scores this near to each other, beside the largest one, are a tie.
TIE = 1e-6
CS = tuple(10.0**k for k in range(-6, 7, 2))
MODELS = {
    "LogisticRegression": lambda C, tol: LogisticRegression(C=C, tol=tol),
    "LogisticRegression, one-vs-rest": lambda C, tol: LogisticRegression(C=C, tol=tol, multi_class="ovr"),
    "LogisticRegression, l1": lambda C, tol: LogisticRegression(C=C, tol=tol, penalty="l1"),
    "LinearSVC": lambda C, tol: LinearSVC(C=C, tol=tol),
    "LinearSVC, hinge": lambda C, tol: LinearSVC(C=C, tol=tol, loss="hinge"),
    "LinearSVC, l1": lambda C, tol: LinearSVC(C=C, tol=tol, penalty="l1"),
    "LinearSVC, one-vs-one": lambda C, tol: LinearSVC(C=C, tol=tol, multi_class="ovo"),
}
REAL = ("a9a", "w8a", "dna.scale", "german.numer", "splice")


def data_sets() -> Iterator[tuple[str, Any, np.ndarray]]:
    """Names, rows and classes."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X / 16 if name == "digits" else X, y
    X, y = datasets.make_classification(3000, 40, n_informative=12, n_classes=4, flip_y=0.2, random_state=0)
    yield "generated", X, y
    folder = os.environ.get("WIDEMARGIN_DATA")
    for name in REAL if folder else ():
        X, y = read_svmlight(Path(folder or "") / f"{name}.svm.xz")
        yield name, X[:6000], y[:6000]


def agreement(make: Any, C: float, parts: list[Any], tol: float = 1e-3) -> tuple[float, float, float]:
    """The share of held-out rows on which both agree, and the passes of the loose fit and of the exact one."""
    X, held, y, _ = parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 1e-10 may be beyond what rounding allows: the best that can be done then
        loose, exact = make(C, tol).fit(X, y), make(C, EXACT).fit(X, y)
    scores = np.atleast_2d(exact.decision_function(held).T).T
    scores = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else np.sort(scores, axis=1)
    clear = np.abs(scores[:, -1] - scores[:, -2]) > TIE * np.abs(scores).max()
    same = loose.predict(held) == exact.predict(held)
    share = float(same[clear].mean()) if clear.any() else 1.0
    return share, *(max(one.trace[-1].passes for one in model.solutions_) for model in (loose, exact))


def main() -> None:
    """Prints the worst agreement of every model on every data set, and every C where it is not enough."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tolerance")
    parser.add_argument("--fast", action="store_true", help="the data sets of scikit-learn alone")
    if parser.parse_args().fast:
        os.environ.pop("WIDEMARGIN_DATA", None)
    print("| data | model | worst agreement | at C | passes there, 1e-3 / 1e-10 |\n|---|---|---|---|---|")
    for name, X, y in data_sets():
        parts = train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)
        for model, make in MODELS.items():
            found = {C: agreement(make, C, parts) for C in CS}
            C = min(found, key=lambda C: found[C][0])
            share, loose, exact = found[C]
            mark = "" if share >= WANTED else " **"
            print(f"| {name} | {model} | {share:.4f}{mark} | {C:g} | {loose:.0f} / {exact:.0f} |", flush=True)


if __name__ == "__main__":
    main()
