"""What files of blocks are made from: each source as batches (X, y) or (X, y, sample_weight) of bounded size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..formats import format_of
from ..sparse_rows import CompressedRows
from ..text_blocks import name_for_messages, placed, text_blocks

Batch = tuple[Any, ...]
_LARGEST_INDEX = 2**31 - 2
NEWLINE = 10
ROWS_PER_BATCH = 16_384
_PARSE: dict[np.dtype[Any], Callable[..., Any]] = {
    np.dtype(np.float32): _core.parse_svmlight_float32,
    np.dtype(np.float64): _core.parse_svmlight_float64,
}


class CountsFromZero(Exception):
    """An index 0 appeared where indices were taken to count from 1."""


@dataclass(frozen=True)
class Reading:
    """How files are read.

    zero_based: whether the indices of LIBSVM text count from 0; "auto": they do if an index 0 appears.
    label, weight: the columns of a table that hold labels and weights.
    """

    dtype: Any = np.float64
    zero_based: bool | str = "auto"
    label: str | None = None
    weight: str | None = None
    kind: str | None = None  # the format, where names do not tell
    n_jobs: int = 1

    def batches(self, paths: list[str]) -> Iterator[Batch]:
        """Batches of all files, one after another."""
        kinds = {format_of(path, self.kind) for path in paths}
        if kinds == {"svm"}:
            return (batch for path in paths for batch in svmlight_batches(path, self))
        if kinds <= set(_ARROW_FORMATS) and len(kinds) == 1:
            return table_batches(paths, kinds.pop(), self)
        raise ValueError(f"cannot make one file of blocks from {', '.join(sorted(kinds))}: give files of one format")


def svmlight_batches(path: str, reading: Reading) -> Iterator[Batch]:
    """LIBSVM text, plain or compressed, in pieces."""
    base = 0 if reading.zero_based is True else 1
    lowest = 0 if reading.zero_based in (True, "auto") else 1
    name, lines_before = name_for_messages(path), 0
    for text in text_blocks(path):
        content = np.frombuffer(text, dtype=np.uint8)
        parsed = _parsed(name, content, lines_before, (base, lowest), reading)
        lines_before += int(np.count_nonzero(content == NEWLINE))
        if base == 1 and parsed.lowest == 0:
            raise CountsFromZero
        if len(parsed.indptr) > 1:
            width = max(1, parsed.highest + 1 - base)
            yield CompressedRows(parsed.indptr, parsed.indices, parsed.values, width), parsed.labels
        del parsed, content  # nothing of this piece is held while the next is read


def _parsed(name: str, content: Any, lines_before: int, indices: tuple[int, int], reading: Reading) -> Any:
    try:
        return _PARSE[np.dtype(reading.dtype)](
            content,
            base=indices[0],
            lowest=indices[1],
            highest=_LARGEST_INDEX,
            queries=False,
            many_labels=False,
            n_threads=reading.n_jobs,
        )
    except ValueError as error:
        raise ValueError(placed(name, str(error), lines_before)) from None


_ARROW_FORMATS = {"csv": "csv", "tsv": "tsv", "parquet": "parquet", "arrow": "ipc"}


def table_batches(paths: list[str], kind: str, reading: Reading) -> Iterator[Batch]:
    """Tables (CSV, TSV, Parquet, Arrow; files, or one directory of them) through pyarrow.dataset."""
    try:
        import pyarrow.csv as csv
        import pyarrow.dataset as dataset
    except ImportError as error:
        raise ImportError("tables need pyarrow: pip install pyarrow") from error
    layout: Any = _ARROW_FORMATS[kind]
    if kind == "tsv":
        layout = dataset.CsvFileFormat(parse_options=csv.ParseOptions(delimiter="\t"))
    table = dataset.dataset(paths[0] if len(paths) == 1 else paths, format=layout)
    yield from arrow_batches(table.to_batches(batch_size=ROWS_PER_BATCH), reading)


def arrow_batches(batches: Iterable[Any], reading: Reading) -> Iterator[Batch]:
    """Arrow record batches: every column but label and weight is a feature, and must hold numbers."""
    if reading.label is None:
        raise ValueError("a table needs the name of its label's column: label=..., or --label on the command line")
    for batch in batches:
        if not batch.num_rows:
            continue
        names = batch.schema.names
        for wanted in (reading.label, reading.weight):
            if wanted is not None and wanted not in names:
                raise ValueError(f"there is no column {wanted!r}: the columns are {', '.join(names)}")
        features = [name for name in names if name not in (reading.label, reading.weight)]
        X = np.column_stack([_numbers(batch, name, reading.dtype) for name in features])
        y = _labels(batch.column(reading.label))
        yield (X, y) if reading.weight is None else (X, y, _numbers(batch, reading.weight, np.float64))


def _numbers(batch: Any, name: str, dtype: Any) -> NDArray[Any]:
    """A column as numbers; a missing one counts as 0, as in `widemargin train`."""
    values = batch.column(name).to_numpy(zero_copy_only=False)
    try:
        numbers = np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} does not hold numbers: encode it first ({error})") from error
    return np.where(np.isnan(numbers), dtype_zero(dtype), numbers)


def dtype_zero(dtype: Any) -> Any:
    """Zero of that type."""
    return np.zeros((), dtype=dtype)[()]


def _labels(column: Any) -> NDArray[Any]:
    if column.null_count:
        raise ValueError("a row has no label: remove it, or give it one")
    values = column.to_numpy(zero_copy_only=False)
    return values if values.dtype.kind in "biuf" else np.asarray(values, dtype=str)


def as_paths(source: Any) -> list[str] | None:
    """The source as a list of paths; None if it is something else."""
    if isinstance(source, str | os.PathLike):
        return [os.fspath(source)]
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | os.PathLike) for one in source):
        return [os.fspath(one) for one in source]
    return None


def is_arrow(source: Any) -> bool:
    """Whether the source is made of Arrow: a table, a dataset or a reader of record batches."""
    return type(source).__module__.partition(".")[0] == "pyarrow"


def arrow_source(source: Any, reading: Reading) -> Iterator[Batch]:
    """Batches of whatever Arrow object hands out record batches."""
    return arrow_batches(source.to_batches() if hasattr(source, "to_batches") else source, reading)
