"""Files of any format as rows and labels: whole, for training, or block by block, for prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from .formats import format_of
from .svmlight_file import start_reading

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Reading:
    """How a file is to be read."""

    format: str | None = None
    label: str | None = None
    text: Sequence[str] = ()
    bits: int = 18
    n_jobs: int = 1


@dataclass(frozen=True)
class Dataset:
    """Rows and labels of a file, and how the rows were made, in JSON's types."""

    X: Any
    y: NDArray[Any] | None
    features: dict[str, Any] = field(default_factory=dict)


def read_dataset(path: str, reading: Reading) -> Dataset:
    """The whole file."""
    return start_dataset(path, reading)()


def start_dataset(path: str, reading: Reading) -> Callable[[], Dataset]:
    """Begins to read where that can go on by itself; the function that is returned gives the whole file."""
    kind = format_of(path, reading.format)
    if kind == "svm":
        return _start_svm(path, reading)
    return lambda: _READERS.get(kind, _read_table)(path, reading)


def _start_svm(path: str, reading: Reading) -> Callable[[], Dataset]:
    wait = start_reading(path, reading.n_jobs)

    def dataset() -> Dataset:
        X, y, zero_based = wait()
        return Dataset(X, y, {"format": "svm", "zero_based": zero_based})

    return dataset


def _read_npz(path: str, reading: Reading) -> Dataset:
    if path == "-":
        raise ValueError("an .npz file cannot be read from standard input")
    import numpy as np

    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
            X = _scipy_npz(raw) if "format" in arrays else arrays["X"]
    except KeyError:
        raise ValueError(f"{path}: neither a SciPy sparse matrix nor an array named X") from None
    except (OSError, MemoryError):
        raise
    except Exception as error:  # damage shows in whatever way zipfile, zlib or NumPy stumble over it
        raise ValueError(f"{path}: not an .npz file of arrays: {error}") from error
    y = arrays.get("y")
    if y is not None and y.shape != (X.shape[0],):
        raise ValueError(f"{path}: y has shape {y.shape}, X has {X.shape[0]} rows")
    return Dataset(X, y, {"format": "npz", "zero_based": True})


def _scipy_npz(raw: IO[bytes]) -> Any:
    import scipy.sparse as sp

    raw.seek(0)
    return sp.csr_array(sp.load_npz(raw))


def _read_table(path: str, reading: Reading) -> Dataset:
    from .tables import encode, fit_encoding, labels_of, whole_table

    kind = format_of(path, reading.format)
    table = whole_table(path, kind)
    encoding = fit_encoding(table, reading.label, reading.text, reading.bits, kind)
    return Dataset(encode(table, encoding), labels_of(table, reading.label), encoding)


def _open_blocks(path: str, reading: Reading) -> Dataset:
    from .block_file.dataset import open_dataset

    return open_dataset(path, reading)


_READERS: dict[str, Callable[[str, Reading], Dataset]] = {"npz": _read_npz, "blocks": _open_blocks}


def dataset_blocks(
    path: str, features: Mapping[str, Any], n_features: int, reading: Reading
) -> Iterator[tuple[Any, NDArray[Any] | None]]:
    """Blocks of rows made as a model's training rows were, with their labels where the file has them."""
    kind = format_of(path, reading.format)
    blocks: Iterator[tuple[Any, NDArray[Any] | None]] = _BLOCKS.get(kind, _table_blocks)(
        path, features, n_features, reading
    )
    return blocks


def _svm_blocks(path: str, features: Mapping[str, Any], n_features: int, reading: Reading) -> Any:
    from .svmlight_blocks import svmlight_blocks

    _refuse_columns(path, features)
    zero_based = features.get("format") == "svm" and bool(features.get("zero_based"))
    return svmlight_blocks(path, n_features, zero_based=zero_based, n_jobs=reading.n_jobs)


def _npz_blocks(path: str, features: Mapping[str, Any], n_features: int, reading: Reading) -> Any:
    _refuse_columns(path, features)
    found = _read_npz(path, reading)
    if found.X.shape[1] > n_features:
        yield found.X[:, :n_features], found.y
        return
    import scipy.sparse as sp

    missing = n_features - found.X.shape[1]
    padding = sp.csr_array((found.X.shape[0], missing))
    yield (sp.csr_array(sp.hstack([found.X, padding])) if missing else found.X), found.y


def _file_blocks(path: str, features: Mapping[str, Any], n_features: int, reading: Reading) -> Any:
    from .block_file.block_file import BlockFile

    _refuse_columns(path, features)
    file = BlockFile(path)
    if file.shape[1] > n_features:
        raise ValueError(f"{path}: it has {file.shape[1]:,} features, the model has {n_features:,}")
    y = file.y
    for first, rows in file.blocks():
        X = rows.to_scipy()
        X = X if file.shape[1] == n_features else _widened(X, n_features)
        yield X, y[first : first + rows.shape[0]]


def _widened(X: Any, n_features: int) -> Any:
    import scipy.sparse as sp

    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))


def _refuse_columns(path: str, features: Mapping[str, Any]) -> None:
    if "columns" in features:
        raise ValueError(f"{path}: this model was trained on a table with named columns: give it one (--format csv)")


def _table_blocks(path: str, features: Mapping[str, Any], n_features: int, reading: Reading) -> Any:
    from .tables import BLOCKS, encode, labels_of

    if "columns" not in features:
        raise ValueError(f"{path}: this model was not trained on a table, so it does not know the columns")
    label = reading.label or features.get("label")
    for block in BLOCKS[format_of(path, reading.format)](path):
        X = encode(block, dict(features))
        if X.shape[1] != n_features:
            raise ValueError(f"{path}: the encoding makes {X.shape[1]} features, the model has {n_features}")
        yield X, labels_of(block, label)


_BLOCKS: dict[str, Callable[[str, Mapping[str, Any], int, Reading], Any]] = {
    "svm": _svm_blocks,
    "npz": _npz_blocks,
    "blocks": _file_blocks,
}
