"""Chain CRFs and structured SVMs against crfsuite: `python -m benchmarks.sequences FOLDER`.

FOLDER holds conll2000-train.txt.xz and -test (CoNLL columns) and ocr_taskar-train.txt.xz (a letter and the ids of its
pixels). Times are of one thread, processor time, features built beforehand on both sides, their building given apart.
crfsuite's own log says when its L-BFGS came within a share of its end; ours is the first certified gap below it.
"""

from __future__ import annotations

import argparse
import json
import lzma
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from widemargin import ChainCRFProblem, ChainSVMProblem, solve
from widemargin.data.sequences import Attributes

SHARES = (1e-3, 1e-5)
Data = tuple[list[list[list[str]]], list[list[str]]]


def blocks(path: Path) -> Iterator[list[list[str]]]:
    """The lines of a file as fields, cut at blank lines."""
    block: list[list[str]] = []
    with lzma.open(path, "rt") as file:
        for line in file:
            if fields := line.split():
                block.append(fields)
            elif block:
                yield block
                block = []
    if block:
        yield block


def chunking_attributes(sentence: list[list[str]], t: int) -> list[str]:
    """The 19 attributes of crfsuite's chunking example: words, tags, and their neighbours."""

    def at(column: int, *places: int) -> str | None:
        inside = all(0 <= t + place < len(sentence) for place in places)
        return "|".join(sentence[t + place][column] for place in places) if inside else None

    words = [(-2,), (-1,), (0,), (1,), (2,), (-1, 0), (0, 1)]
    tags = [(-2,), (-1,), (0,), (1,), (2,), (-2, -1), (-1, 0), (0, 1), (1, 2), (-2, -1, 0), (-1, 0, 1), (0, 1, 2)]
    named = [(f"w{p}", at(0, *p)) for p in words] + [(f"p{p}", at(1, *p)) for p in tags]
    return [f"{name}={value}" for name, value in named if value is not None]


def conll(folder: Path) -> Data:
    """CoNLL-2000 chunking: sentences with attributes, and their labels."""
    sentences = list(blocks(folder / "conll2000-train.txt.xz"))
    X = [[chunking_attributes(sentence, t) for t in range(len(sentence))] for sentence in sentences]
    return X, [[fields[2] for fields in sentence] for sentence in sentences]


def ocr(folder: Path) -> Data:
    """Taskar's OCR words: letters with the names of their pixels."""
    words = list(blocks(folder / "ocr_taskar-train.txt.xz"))
    return [[fields[1:] for fields in word] for word in words], [[fields[0] for fields in word] for word in words]


def crfsuite_seconds(X: Any, y: Any, C: float) -> dict[str, float]:
    """Processor seconds of crfsuite's L-BFGS until its loss is within each share of its end."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    began = time.process_time()
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    building = time.process_time() - began
    trainer.set_params({"c1": 0.0, "c2": 0.5 / C, "max_iterations": 1000})
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        trainer.train(str(Path(folder) / "model"))
        total = time.process_time() - began
    steps = [(float(step["time"]), float(step["loss"])) for step in trainer.logparser.iterations]
    spent, scale = 0.0, total / sum(seconds for seconds, _ in steps)
    found = {"building": building, "in all": total}
    for seconds, loss in steps:
        spent += seconds * scale
        for share in SHARES:
            if loss <= (1 + share) * steps[-1][1]:
                found.setdefault(f"{share:g}", spent)
    return found


def our_seconds(problem: Any, share: float) -> float:
    """Processor seconds until the gap is certified below the share."""
    began = time.process_time()
    if not solve(problem, tol=share).converged:
        return float("nan")
    return time.process_time() - began


def compare(name: str, data: Data, C: float) -> dict[str, Any]:
    """One data set: crfsuite's own problem by both, and the structured SVM."""
    X, y = data
    began = time.process_time()
    read = Attributes().read(X, learn=True)
    building = time.process_time() - began
    labels = [label for part in y for label in part]
    crf = ChainCRFProblem(read.X, labels, read.lengths, C, features="observed", transitions="observed")
    ours = {"building": building} | {f"{share:g}": our_seconds(crf, share) for share in SHARES}
    svm = our_seconds(ChainSVMProblem(read.X, labels, read.lengths, 0.1), 1e-3)
    return {"data": name, "C": C, "widemargin": ours, "crfsuite": crfsuite_seconds(X, y, C), "ChainSVM, C = 0.1": svm}


def main() -> None:
    """Prints a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", choices=("ocr", "conll"), action="append")
    asked = parser.parse_args()
    loaders = {"ocr": ocr, "conll": conll}
    found = [compare(name, loaders[name](asked.folder), 0.5) for name in asked.data or loaders]
    if asked.json:
        print(json.dumps(found, indent=1))
        return
    print("| data | to | widemargin | crfsuite | ratio |\n|---|---|---|---|---|")
    for one in found:
        for share in (f"{share:g}" for share in SHARES):
            ours, theirs = one["widemargin"][share], one["crfsuite"][share]
            print(f"| {one['data']} | {share} | {ours:.2f} s | {theirs:.2f} s | {theirs / ours:.1f} |")
        print(f"| {one['data']} | ChainSVM, C = 0.1, 0.001 | {one['ChainSVM, C = 0.1']:.2f} s | | |")


if __name__ == "__main__":
    main()
