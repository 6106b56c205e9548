"""Converts data between LIBSVM text, .npz of SciPy and CSV, and models between .wm, LIBLINEAR's format and (to) ONNX.

The names tell the formats; .gz, .bz2 and .xz compress text. Tables (CSV, TSV, Parquet, Arrow) become numbers as `train`
makes them. A CSV file that is written holds the label first, then every feature.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .options import add_reading, reading_of

if TYPE_CHECKING:
    from ..data.datasets import Dataset

SUMMARY = "convert data and models between formats"
EXAMPLES = """\
examples:
  widemargin convert data.svm data.svm.xz
  widemargin convert data.svm data.npz
  widemargin convert --cache train.svm.xz train.wmb   for data larger than memory
  widemargin convert --label income adult.csv adult.svm
  widemargin convert model.wm for-liblinear.model
  widemargin convert model.wm model.onnx
  widemargin convert --dtype float32 --sparse model.wm small.wm
"""

MOST_CELLS = 100_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("source", metavar="FROM")
    parser.add_argument("target", metavar="TO")
    parser.add_argument("--to", choices=("svm", "npz", "csv", "tsv"), help="format of TO; by default its name tells")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of a model's weights")
    parser.add_argument("--sparse", action="store_true", help="store a model's nonzero weights only")
    parser.add_argument("--cache", action="store_true", help="make TO a file of blocks (.wmb), in bounded memory")
    parser.add_argument("--codec", choices=("lz4", "zstd"), default="lz4", help="of a file of blocks (lz4)")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    """Runs the command."""
    from ..model.open import is_model, load_linear

    if is_model(arguments.source):
        model = load_linear(arguments.source)
        model.save(arguments.target, dtype=arguments.dtype, sparse=arguments.sparse)
        return
    from ..data.datasets import read_dataset
    from ..data.formats import format_of

    kind = format_of(arguments.target, arguments.to)
    if arguments.cache or kind == "blocks":
        _write_blocks(arguments)
        return
    if kind not in _WRITERS:
        raise ValueError(f"{arguments.target}: {kind} files are read, not written: use one of {', '.join(_WRITERS)}")
    _WRITERS[kind](arguments.target, read_dataset(arguments.source, reading_of(arguments)))


def _write_blocks(arguments: argparse.Namespace) -> None:
    """A file of blocks; nothing is held in memory as a whole."""
    from ..data.block_file.dataset import options_of
    from ..data.block_file.making import write_blocks
    from .targets import refuse_target

    refuse_target(arguments.target, "the file of blocks", arguments.source)
    options = options_of(reading_of(arguments))
    write_blocks(arguments.target, arguments.source, codec=arguments.codec, **options)


def _labels(data: Dataset) -> Any:
    """The labels as numbers; text is numbered in ascending order."""
    import numpy as np

    if data.y is None:
        return np.zeros(data.X.shape[0])
    return data.y if data.y.dtype.kind in "biuf" else np.unique(data.y, return_inverse=True)[1].astype(np.float64)


def _write_svm(target: str, data: Dataset) -> None:
    from ..data.sparse_rows import as_scipy
    from ..data.svmlight import write_svmlight

    write_svmlight(
        target, as_scipy(data.X), _labels(data), zero_based=bool(data.features.get("zero_based")) and _is_svm(data)
    )


def _is_svm(data: Dataset) -> bool:
    return bool(data.features["format"] == "svm")


def _write_npz(target: str, data: Dataset) -> None:
    import numpy as np

    from ..data.files import written_whole
    from ..data.sparse_rows import as_scipy

    X = as_scipy(data.X)
    arrays = {"indices": X.indices, "indptr": X.indptr, "data": X.data, "format": b"csr", "shape": X.shape}
    labels = {} if data.y is None else {"y": data.y}
    with written_whole(target) as file:
        np.savez_compressed(file, **arrays, _is_array=np.True_, **labels)  # type: ignore[arg-type]


def _write_delimited(delimiter: str) -> Callable[[str, Any], None]:
    def write(target: str, data: Dataset) -> None:
        import csv
        import io

        from ..data.files import written_whole
        from ..data.sparse_rows import as_scipy

        X = as_scipy(data.X)
        rows, columns = X.shape
        if rows * columns > MOST_CELLS:
            raise ValueError(f"{rows:,} x {columns:,} cells are too many for a CSV file: use svm or npz")
        names = data.features.get("names") or [f"f{j + 1}" for j in range(columns)]
        with written_whole(target) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
            writer = csv.writer(text, delimiter=delimiter)
            writer.writerow([data.features.get("label") or "label", *names])
            labels = [""] * rows if data.y is None else data.y.tolist()
            for i in range(rows):
                writer.writerow([labels[i], *map(repr, X[[i]].toarray()[0].tolist())])
            text.detach()

    return write


_WRITERS: dict[str, Callable[[str, Any], None]] = {
    "svm": _write_svm,
    "npz": _write_npz,
    "csv": _write_delimited(","),
    "tsv": _write_delimited("\t"),
}
