"""Tables with named columns (CSV, TSV, Parquet, Arrow) as sparse rows.

| column | becomes |
|---|---|
| numbers | one feature; a missing number counts as 0 |
| anything else | one feature per level that was seen in training; a level never seen has none |
| named as text | hashed words, pairs of words and runs of four characters |

The encoding is a plain dict, so that a model carries it along and rows of another file are made the same way.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Columns = dict[str, list[Any]]
Encoding = dict[str, Any]

ROWS_PER_BLOCK = 20_000
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


# Reading.


def delimited_blocks(path: str, delimiter: str) -> Iterator[Columns]:
    """Blocks of a CSV or TSV file with a line of names at the top, as lists of str by name."""
    with _text(path) as file:
        try:
            yield from _delimited(path, csv.reader(file, delimiter=delimiter))
        except (csv.Error, EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
            raise ValueError(f"{path}: {error}") from error


@contextmanager
def _text(path: str) -> Iterator[Iterable[str]]:
    if path == "-":
        yield io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", errors="replace", newline="")
        return
    opener = next((found for suffix, found in _OPENERS.items() if path.endswith(suffix)), open)
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as file:
        yield file


def _delimited(path: str, reader: Any) -> Iterator[Columns]:
    names = next(reader, None)
    if not names:
        raise ValueError(f"{path}: empty: expected a line with the names of the columns")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path}:1: the column {twice!r} appears twice")
    rows: list[list[str]] = []
    for row in reader:
        if not row:
            continue
        if len(row) != len(names):
            raise ValueError(f"{path}:{reader.line_num}: {len(row)} fields, the first line names {len(names)}")
        rows.append(row)
        if len(rows) == ROWS_PER_BLOCK:
            yield _by_name(names, rows)
            rows = []
    if rows:
        yield _by_name(names, rows)


def _by_name(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Columns:
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def parquet_blocks(path: str) -> Iterator[Columns]:
    """Blocks of a Parquet file."""
    parquet = _pyarrow("pyarrow.parquet")
    yield from _batches(path, lambda: parquet.ParquetFile(path).iter_batches(ROWS_PER_BLOCK))


def arrow_blocks(path: str) -> Iterator[Columns]:
    """Blocks of an Arrow (Feather) file."""
    ipc = _pyarrow("pyarrow.ipc")

    def batches() -> Iterator[Any]:
        file = ipc.open_file(path)
        return (file.get_batch(i) for i in range(file.num_record_batches))

    yield from _batches(path, batches)


def _pyarrow(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError("Parquet and Arrow files need pyarrow: pip install pyarrow") from error


def _batches(path: str, make: Callable[[], Iterator[Any]]) -> Iterator[Columns]:
    import pyarrow as pa

    try:
        for batch in make():
            yield batch.to_pydict()
    except pa.ArrowException as error:
        raise ValueError(f"{path}: {error}") from error


BLOCKS: dict[str, Callable[[str], Iterator[Columns]]] = {
    "csv": lambda path: delimited_blocks(path, ","),
    "tsv": lambda path: delimited_blocks(path, "\t"),
    "parquet": parquet_blocks,
    "arrow": arrow_blocks,
}


def whole_table(path: str, kind: str) -> Columns:
    """The whole file."""
    whole: Columns = {}
    for block in BLOCKS[kind](path):
        for name, values in block.items():
            whole.setdefault(name, []).extend(values)
    if not whole:
        raise ValueError(f"{path}: no rows")
    return whole


# Encoding.


def fit_encoding(table: Columns, label: str | None, text: Sequence[str], bits: int, kind: str) -> Encoding:
    """How the columns of a training table become features."""
    for name in [*([label] if label else []), *text]:
        if name not in table:
            raise ValueError(f"there is no column {name!r}: the columns are {', '.join(table)}")
    columns = [_fit_column(name, table[name], name in text, bits) for name in table if name != label]
    if not columns:
        raise ValueError("there is no column besides the label")
    names = None if text else [feature for column in columns for feature in _feature_names(column)]
    return {"format": kind, "label": label, "columns": columns} | ({"names": names} if names else {})


def _fit_column(name: str, values: list[Any], is_text: bool, bits: int) -> Encoding:
    if is_text:
        return {"name": name, "kind": "text", "bits": bits}
    if numbers_of(values) is not None:
        return {"name": name, "kind": "number"}
    return {"name": name, "kind": "category", "levels": sorted({str(v) for v in values if not _missing(v)})}


def _feature_names(column: Encoding) -> list[str]:
    return [f"{column['name']}={level}" for level in column["levels"]] if "levels" in column else [column["name"]]


def _missing(value: Any) -> bool:
    return value is None or value == ""


def numbers_of(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """The values as numbers, NaN where one is missing; None where one is no number."""
    try:
        return np.array([math.nan if _missing(v) else float(v) for v in values], dtype=np.float64)
    except (TypeError, ValueError):
        return None


def encode(table: Columns, encoding: Encoding) -> Any:
    """The features of a table, as rows of a sparse array."""
    blocks = []
    for column in encoding["columns"]:
        if column["name"] not in table:
            raise ValueError(f"the data have no column {column['name']!r}, which the model was trained with")
        blocks.append(_ENCODERS[column["kind"]](table[column["name"]], column))
    return sp.csr_array(sp.hstack(blocks, format="csr"))


def _encode_number(values: list[Any], column: Encoding) -> Any:
    numbers = numbers_of(values)
    if numbers is None:
        wrong = next(v for v in values if numbers_of([v]) is None)
        raise ValueError(f"column {column['name']!r} held numbers in training, here it holds {wrong!r}")
    numbers = np.where(np.isnan(numbers), 0.0, numbers)
    return sp.csr_array(numbers[:, np.newaxis])


def _encode_category(values: list[Any], column: Encoding) -> Any:
    place = {level: j for j, level in enumerate(column["levels"])}
    found = [(i, place[str(v)]) for i, v in enumerate(values) if not _missing(v) and str(v) in place]
    rows, columns = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(values), len(place)))


def _encode_text(values: list[Any], column: Encoding) -> Any:
    from .ngrams import NGrams

    lines = [b"" if v is None else str(v).encode("utf-8", "replace").replace(b"\n", b" ") for v in values]
    return NGrams(bits=int(column["bits"])).transform(lines).astype(np.float64)


_ENCODERS: Mapping[str, Callable[[list[Any], Encoding], Any]] = {
    "number": _encode_number,
    "category": _encode_category,
    "text": _encode_text,
}


def labels_of(table: Columns, label: str | None) -> NDArray[Any] | None:
    """The labels as numbers if they all are, else as text; None where the table has no such column."""
    if label is None or label not in table:
        return None
    values = table[label]
    missing = next((i for i, v in enumerate(values) if _missing(v)), None)
    if missing is not None:
        raise ValueError(f"row {missing + 1} has no label in column {label!r}")
    numbers = numbers_of(values)
    return np.array([str(v) for v in values]) if numbers is None else numbers
