"""How fast LIBSVM text is read: `python -m benchmarks.reading [FILE]`.

Every reader turns the same plain file, warm in the page cache, into its own in-memory form, in turn, several
times over; medians are printed. Each is asked for the number of entries it found, and must agree.

LIBLINEAR's own reading is timed on its `train` program (Debian: liblinear-tools), called with `-c 0`: it
reads the whole file, then refuses the parameter and ends: start-up and reading, nothing else. The same call
on a one-line file gives the start-up, which is subtracted. Readers that are not installed are left out.
"""

import argparse
import importlib.util
import json
import lzma
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from widemargin.data.svmlight import read_svmlight, write_svmlight

GOALS = {"LIBLINEAR train (C)": 6.0, "scikit-learn": 20.0, "XGBoost": 1.5}


@dataclass(frozen=True)
class Reader:
    """A way to read a file: returns the seconds it took and the entries it found, None if it cannot say."""

    name: str
    read: Callable[[Path], tuple[float, int | None]]


def widemargin_reader(n_jobs: int, dtype: str = "float64") -> Reader:
    def read(path: Path) -> tuple[float, int]:
        start = time.perf_counter()
        X, _ = read_svmlight(path, n_jobs=n_jobs, dtype=dtype)
        return time.perf_counter() - start, X.nnz

    return Reader(f"widemargin, {n_jobs} thread{'s' * (n_jobs > 1)}, {dtype}", read)


def sklearn_reader() -> Reader:
    from sklearn.datasets import load_svmlight_file

    def read(path: Path) -> tuple[float, int]:
        start = time.perf_counter()
        X, _ = load_svmlight_file(str(path))
        return time.perf_counter() - start, X.nnz

    return Reader("scikit-learn", read)


def liblinear_reader(program: str) -> Reader:
    def seconds(path: str) -> float:
        start = time.perf_counter()
        done = subprocess.run([program, "-c", "0", path], capture_output=True, text=True, check=False)
        elapsed = time.perf_counter() - start
        if "C <= 0" not in done.stdout + done.stderr:
            raise RuntimeError(f"{program} did not end after reading: {done.stderr}")
        return elapsed

    def read(path: Path) -> tuple[float, None]:
        with tempfile.NamedTemporaryFile("w", suffix=".svm") as tiny:
            tiny.write("1 1:1\n")
            tiny.flush()
            return seconds(str(path)) - seconds(tiny.name), None

    return Reader("LIBLINEAR train (C)", read)


def liblinear_python_reader() -> Reader:
    from liblinear.commonutil import svm_read_problem

    def read(path: Path) -> tuple[float, int]:
        start = time.perf_counter()
        _, rows = svm_read_problem(str(path))
        return time.perf_counter() - start, sum(map(len, rows))

    return Reader("LIBLINEAR Python", read)


def xgboost_reader() -> Reader:
    import xgboost

    def read(path: Path) -> tuple[float, int]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            matrix = xgboost.DMatrix(f"{path}?format=libsvm", nthread=1)
            return time.perf_counter() - start, matrix.num_nonmissing()

    return Reader("XGBoost", read)


def readers() -> Iterator[Reader]:
    yield widemargin_reader(1)
    yield widemargin_reader(2)
    yield widemargin_reader(1, "float32")
    program = shutil.which("liblinear-train") or shutil.which("train")
    if program:
        yield liblinear_reader(program)
    for module, make in {
        "sklearn": sklearn_reader,
        "xgboost": xgboost_reader,
        "liblinear": liblinear_python_reader,
    }.items():
        if importlib.util.find_spec(module):
            yield make()


def text_like(path: Path, n_rows: int = 84_000, seed: int = 0) -> None:
    """About 90 MB: rows of some 70 words, Zipf-like over 50,000, values of six digits with norm about one."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(20, 130, n_rows)
    rows = np.repeat(np.arange(n_rows), lengths)
    columns = (50_000 * rng.random(len(rows)) ** 3).astype(np.int32)
    pairs = np.unique(rows * 50_000 + columns)
    rows, columns = pairs // 50_000, pairs % 50_000
    sizes = rng.lognormal(size=len(pairs))
    norms = np.sqrt(np.bincount(rows, sizes**2))
    values = sizes / norms[rows]
    scale = 10.0 ** (5 - np.floor(np.log10(values)))
    X = sp.csr_array((np.round(values * scale) / scale, (rows, columns)), shape=(n_rows, 50_000))
    write_svmlight(path, X, rng.choice([-1, 1], n_rows))


def plain_copy(source: Path | None, folder: Path) -> Path:
    """The file to read, plain, under a name that every reader accepts."""
    path = folder / "data.svm"
    if source is None:
        text_like(path)
    elif source.suffix == ".xz":
        path.write_bytes(lzma.decompress(source.read_bytes()))
    else:
        shutil.copyfile(source, path)
    return path


def measure(path: Path, repeat: int) -> dict[str, list[float]]:
    chosen = list(readers())
    seconds: dict[str, list[float]] = {reader.name: [] for reader in chosen}
    found = set()
    for _ in range(repeat):
        for reader in chosen:
            elapsed, entries = reader.read(path)
            seconds[reader.name].append(elapsed)
            found.add(entries)
    if len(found - {None}) > 1:
        raise RuntimeError(f"the readers found different numbers of entries: {found}")
    return seconds


def report(seconds: dict[str, list[float]], size: int) -> list[dict[str, object]]:
    """One row per reader; its ratio is the median over rounds of its time over ours in the same round."""
    ours = next(iter(seconds.values()))
    return [
        {
            "reader": name,
            "seconds": statistics.median(times),
            "MB/s": size / 1e6 / statistics.median(times),
            "ratio": statistics.median(t / o for t, o in zip(times, ours, strict=True)),
            "goal": GOALS.get(name),
        }
        for name, times in seconds.items()
    ]


def main(arguments: list[str] | None = None) -> None:
    """Measure and print; the command line of this module."""
    parser = argparse.ArgumentParser(description="Time the reading of LIBSVM text.")
    parser.add_argument("file", nargs="?", type=Path, help="LIBSVM text, plain or .xz (default: generated, 90 MB)")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = plain_copy(options.file, Path(folder))
        size = path.stat().st_size
        rows = report(measure(path, options.repeat), size)
    print(f"{options.file or 'generated text-like rows'}: {size / 1e6:.1f} MB, medians of {options.repeat}")
    print(f"{'reader':36}{'seconds':>10}{'MB/s':>10}{'ratio':>9}{'goal':>7}")
    for row in rows:
        goal = f"{row['goal']:.1f}" if row["goal"] else ""
        print(f"{row['reader']:36}{row['seconds']:10.4f}{row['MB/s']:10.1f}{row['ratio']:9.2f}{goal:>7}")
    if options.json:
        options.json.write_text(json.dumps({"bytes": size, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
