"""Data larger than memory: passes, time and memory of fits from disk, beside those in memory and the published method.

    python -m benchmarks.disk [--gigabytes 5] [--folder DIR] [--data FOLDER NAME ...]

A text-like file of LIBSVM text of that size is generated and made into a file of blocks; its fits get a twentieth of
what its rows take in memory, each in a process of its own whose peak memory is read from outside. Real data sets, from
`FOLDER/NAME.svm.xz`, are treated likewise. The table is written as JSON and printed as Markdown.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from widemargin import BlockFile, Problem, read_svmlight, solve, write_blocks
from widemargin.solvers import BlockDualCD, DualCD
from widemargin.solvers.dual.block_state import fixed_bytes

SHARE = 20  # the memory for blocks is this part of the rows
TOL = 1e-3
ENTRIES_PER_BYTE = 1 / 14  # of LIBSVM text


def text_batches(n_bytes: float, seed: int = 0, columns: int = 1 << 18, length: int = 80) -> Any:
    """Unit rows of words whose frequencies follow Zipf's law, with labels that words tell."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(columns)
    left = n_bytes * ENTRIES_PER_BYTE
    while left > 0:
        rows = 20_000
        words = np.minimum(rng.zipf(1.25, (rows, length)) - 1, columns - 1).astype(np.int32)
        values = rng.uniform(0.5, 1.5, rows * length)
        X = sp.csr_array((values, words.ravel(), np.arange(rows + 1) * length), shape=(rows, columns))
        X.sum_duplicates()
        X = sp.csr_array(sp.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1))) @ X).astype(np.float32)
        score = X @ truth + 0.3 * rng.standard_normal(rows)
        yield X, np.where(score > 0, 1.0, -1.0)
        left -= X.nnz


def real_batches(path: Path) -> Any:
    """A data set with rows of unit length and two classes."""
    X, y = read_svmlight(path, dtype=np.float32)
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(np.maximum(X.multiply(X).sum(axis=1), 1e-9))) @ X).astype(np.float32)
    yield X, np.where(y == y.max(), 1.0, -1.0)


def budget(file: BlockFile) -> int:
    """Two blocks of a twentieth of the rows together, and what the run keeps beside them."""
    problem = Problem(file, file.y)
    return int(fixed_bytes(problem) + max(file.chunk_sizes.sum() / SHARE, 10.01 * file.chunk_sizes.max()))


def peak_memory() -> int:
    """The most memory that this process has had, in bytes; what `getrusage` tells is inherited from the parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


METHODS = {
    "memory": lambda: DualCD(order="permuted"),
    "mixed": BlockDualCD,
    "mixed, 3 inner passes": lambda: BlockDualCD(inner_passes=3),
    "fixed": lambda: BlockDualCD(mixing="fixed"),
}


def one_fit(path: str, loss: str, method: str, most: int) -> dict[str, Any]:
    """A fit in this process: passes, seconds per pass, peak memory over what was there before the rows came."""
    solve(Problem(np.eye(3), [1, -1, 1]))
    before = peak_memory()
    file = BlockFile(path)
    file = file.with_memory(budget(file))
    rows: Any = file.load() if method == "memory" else file
    read, began, processor = file.reader.bytes_read, time.perf_counter(), time.process_time()
    found = solve(Problem(rows, file.y, loss), METHODS[method](), tol=TOL, max_iter=most)
    return {
        "method": method,
        "loss": loss,
        "passes": found.n_iter if found.converged else None,
        "relative_gap": found.certificate.relative_gap,
        "objective": found.certificate.primal,
        "seconds_per_pass": (time.perf_counter() - began) / found.n_iter,
        "processor_per_pass": (time.process_time() - processor) / found.n_iter,
        "megabytes_read": (file.reader.bytes_read - read) / 1e6,
        "peak": peak_memory() - before,
        "budget": file.memory,
    }


def in_a_process(path: str, loss: str, method: str, most: int) -> dict[str, Any]:
    """The fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.disk", "--fit", path, loss, method, str(most)]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result


def about(file: BlockFile) -> dict[str, Any]:
    """Sizes of a file, beside compressed sparse rows of int32 and float32."""
    return {
        "rows": file.shape[0],
        "features": file.shape[1],
        "nonzeros": file.nnz,
        "chunks": file.n_chunks,
        "bytes_per_entry": file.n_bytes / file.nnz,
        "share_of_raw": file.n_bytes / (8 * file.nnz + 8 * file.shape[0]),
    }


def as_markdown(results: dict[str, Any]) -> str:
    """One table for all data sets."""
    lines = ["| data | loss | method | passes to 1e-3 | s/pass | peak / budget |", "|---|---|---|---|---|---|"]
    for name, result in results.items():
        for fit in result["fits"]:
            share = "" if fit["method"] == "memory" else f"{fit['peak'] / fit['budget']:.2f}"
            passes = fit["passes"] or f"- ({fit['relative_gap']:.1e})"
            row = [name, fit["loss"], fit["method"], passes, f"{fit['seconds_per_pass']:.2f}", share]
            lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(lines)


def run(sources: dict[str, Any], folder: str, losses: list[str], most: int) -> dict[str, Any]:
    """Everything, one data set after another."""
    results = {}
    for name, batches in sources.items():
        file = write_blocks(Path(folder) / f"{name}.wmb", batches)
        fits = [in_a_process(file.path, loss, method, most) for loss in losses for method in METHODS]
        results[name] = {"file": about(file), "fits": fits}
        print(f"{name}: {results[name]['file']}", file=sys.stderr)
    return results


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=5.0, help="of generated LIBSVM text (5)")
    parser.add_argument("--folder", help="where files are made; by default a temporary one")
    parser.add_argument("--data", nargs="+", default=[], metavar=("FOLDER", "NAME"))
    parser.add_argument("--losses", nargs="+", default=["squared_hinge", "hinge"])
    parser.add_argument("--max-iter", type=int, default=60)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--fit", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit:
        path, loss, method, most = arguments.fit
        print(json.dumps(one_fit(path, loss, method, int(most))))
        return
    sources = {"text": text_batches(arguments.gigabytes * 1e9)} if arguments.gigabytes else {}
    sources |= {name: real_batches(Path(arguments.data[0]) / f"{name}.svm.xz") for name in arguments.data[1:]}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        results = run(sources, folder, arguments.losses, arguments.max_iter)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1))
    print(as_markdown(results))


if __name__ == "__main__":
    main()
