"""LIBSVM (svmlight) text: one row a line, `label index:value index:value ...`, read and written.

    line   = [label [qid:N] {index:value}] [# comment]
    label  = number            with multilabel=True: nothing, or numbers separated by commas

Blanks (spaces, tabs, carriage returns) separate the parts; empty lines and lines that hold only a comment are
no rows. Numbers are decimal and finite. The indices of a row may come in any order, each once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .. import _core
from ..threads import thread_count
from .files import Bytes, Source, read_whole, written_whole
from .sparse_rows import CompressedRows, is_sparse

ZeroBased: TypeAlias = bool | Literal["auto"]
_Parsed: TypeAlias = _core.SvmlightFloat32 | _core.SvmlightFloat64

_LARGEST_INDEX = 2**31 - 2
_ENTRIES_PER_BLOCK = 1 << 20

_PARSE: dict[np.dtype[Any], Callable[..., _Parsed]] = {
    np.dtype(np.float32): _core.parse_svmlight_float32,
    np.dtype(np.float64): _core.parse_svmlight_float64,
}
_FORMAT: dict[np.dtype[Any], Callable[..., bytes]] = {
    np.dtype(np.float32): _core.format_svmlight_float32,
    np.dtype(np.float64): _core.format_svmlight_float64,
}
# zero_based -> what is subtracted from an index, and the lowest index accepted. "auto" reads as if counting
# from one, and moves up by one afterwards if an index 0 was seen.
_BASE_AND_LOWEST: dict[ZeroBased, tuple[int, int]] = {True: (0, 0), False: (1, 1), "auto": (1, 0)}


@dataclass(frozen=True)
class _Reader:
    """The settings of one call of read_svmlight."""

    dtype: np.dtype[Any]
    zero_based: ZeroBased
    qid: bool
    multilabel: bool
    n_threads: int

    def parse(self, name: str, content: Bytes, base: int, lowest: int, highest: int) -> _Parsed:
        text = np.frombuffer(content, dtype=np.uint8) if len(content) else np.empty(0, dtype=np.uint8)
        try:
            parsed = _PARSE[self.dtype](
                text,
                base=base,
                lowest=lowest,
                highest=highest,
                queries=self.qid,
                many_labels=self.multilabel,
                n_threads=self.n_threads,
            )
        except ValueError as error:
            raise ValueError(f"{name}:{error}") from None
        if len(parsed.indptr) == 1:
            raise ValueError(f"{name}: no rows: expected lines of the form 'label index:value ...'")
        return parsed

    def result(self, parsed: _Parsed, n_features: int) -> tuple[Any, ...]:
        X = CompressedRows(parsed.indptr, parsed.indices, parsed.values, n_features).to_scipy()
        y = _tuples(parsed.labels, parsed.labels_indptr) if self.multilabel else parsed.labels
        return (X, y, parsed.queries) if self.qid else (X, y)


def _tuples(labels: NDArray[np.float64], indptr: NDArray[np.int64]) -> list[tuple[float, ...]]:
    flat = labels.tolist()
    return [tuple(flat[begin:end]) for begin, end in pairwise(indptr.tolist())]


def read_svmlight(
    source: Source | Sequence[Source],
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: ZeroBased = "auto",
    qid: bool = False,
    multilabel: bool = False,
    n_jobs: int = 1,
) -> Any:
    """Read LIBSVM text and return `(X, y)`, or `(X, y, qid)`.

    A plain file is memory-mapped and must not be cut short by another program meanwhile.

    Parameters
    ----------
    source : path, binary file, or list of them
        ``"-"`` is standard input. gzip, bzip2 and xz are recognised by their first bytes. A list gives a list
        of results that agree on the number of features and on where indices start.
    n_features : int, optional
        The number of columns; by default the largest index seen in any of the files.
    dtype : float64 or float32
        Of the values; labels are always float64.
    zero_based : bool or "auto"
        Whether indices count from 0. "auto": they do if an index 0 appears in any of the files.
    qid : bool
        Also return the `qid:N` of every row, which every row must then have.
    multilabel : bool
        Lines carry any number of labels, separated by commas; `y` is a list of tuples.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.

    Returns
    -------
    X : scipy.sparse.csr_array, rows sorted by index
    y : array of float64, or list of tuples
    qid : array of int64, with ``qid=True``

    Raises
    ------
    ValueError
        ``file:line:column: read 'this', expected that``, for the first line that is wrong.

    Examples
    --------
    >>> import io
    >>> X, y = read_svmlight(io.BytesIO(b"+1 1:0.5 3:2 # a comment\\n-1 2:-1.5e0\\n"))
    >>> X.toarray()
    array([[ 0.5,  0. ,  2. ],
           [ 0. , -1.5,  0. ]])
    >>> y
    array([ 1., -1.])
    >>> read_svmlight(io.BytesIO(b"1 1:0.5\\n0 1:nan\\n"))
    Traceback (most recent call last):
    ...
    ValueError: <stream>:2:5: read 'nan', expected a finite number after the colon
    """
    reader = _Reader(_float_dtype(dtype), _checked_zero_based(zero_based), qid, multilabel, thread_count(n_jobs))
    several = isinstance(source, list | tuple)
    files = [read_whole(one) for one in cast(Sequence[Source], source if several else [source])]
    if not files:
        raise ValueError("no files: the list of sources is empty")
    base, lowest = _BASE_AND_LOWEST[zero_based]
    parsed = [reader.parse(name, content, base, lowest, _LARGEST_INDEX) for name, content in files]
    if base > 0 and min(one.lowest for one in parsed) == 0:
        base = 0
        for one in parsed:
            np.add(one.indices, 1, out=one.indices)
    width = max(one.highest for one in parsed) + 1 - base
    if n_features is not None:
        _check_width(n_features, width, reader, files, base)
        width = n_features
    results = [reader.result(one, max(width, 0)) for one in parsed]
    return results if several else results[0]


def _check_width(n_features: int, width: int, reader: _Reader, files: list[tuple[str, Bytes]], base: int) -> None:
    """Refuse indices beyond n_features; the files are parsed once more, to say where the first one stands."""
    if n_features < 0 or n_features > _LARGEST_INDEX + 1 - base:
        raise ValueError(f"n_features={n_features} must lie between 0 and {_LARGEST_INDEX + 1 - base}")
    if width <= n_features:
        return
    try:
        for name, content in files:
            reader.parse(name, content, base, base, n_features - 1 + base)
    except ValueError as error:
        raise ValueError(f"{error}={n_features}, counting from {base}") from None


def _float_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    result = np.dtype(dtype)
    if result not in _PARSE:
        raise ValueError(f"dtype={result} is not supported: use numpy.float64 or numpy.float32")
    return result


def _checked_zero_based(zero_based: ZeroBased) -> ZeroBased:
    if zero_based not in _BASE_AND_LOWEST:
        raise ValueError(f'zero_based={zero_based!r} must be True, False or "auto"')
    return zero_based


def write_svmlight(
    target: Source,
    X: Any,
    y: Any,
    *,
    zero_based: bool = False,
    qid: ArrayLike | None = None,
    multilabel: bool = False,
    comment: str | None = None,
) -> None:
    """Write rows as LIBSVM text that reads back as the very same numbers.

    Each number takes the fewest digits that give it back (in float32 if X is float32). A file appears under
    its name only when complete. Empty columns at the right leave no trace in the text: give the number of
    columns to `read_svmlight(n_features=...)`.

    Parameters
    ----------
    target : path or binary file
        ``"-"`` is standard output; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
    X : sparse or dense matrix
        Explicitly stored zeros are written; the zeros of a dense matrix are not.
    y : one number per row, or with ``multilabel=True`` a sequence of numbers per row
        A row with neither labels nor entries is written with one explicit zero.
    zero_based : bool
        Count columns from 0.
    qid : one integer per row, optional
    comment : str, optional
        Put before the rows, each line behind a ``#``.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_svmlight(file, [[0.1, 0], [0, 2]], [1, -1], comment="two rows")
    >>> print(file.getvalue().decode(), end="")
    # two rows
    1 1:0.1
    -1 2:2
    """
    rows = _rows(X)
    labels, labels_indptr = _many_labels(y) if multilabel else _one_label_each(y)
    n_rows = rows.shape[0]
    _check_length("y", len(labels_indptr) - 1, n_rows)
    _check_finite_labels(labels, labels_indptr)
    queries = _queries(qid, n_rows)
    indptr = rows.indptr.astype(np.int64, copy=False)
    indices = rows.indices.astype(np.int32, copy=False)
    with written_whole(target) as file:
        file.write("".join(f"# {line}\n" for line in (comment or "").splitlines()).encode())
        for begin, end in _blocks(indptr):
            text = _FORMAT[rows.data.dtype](
                indptr[begin : end + 1],
                indices,
                rows.data,
                labels,
                labels_indptr[begin : end + 1],
                queries[begin:end],
                zero_based=bool(zero_based),
            )
            file.write(text)


def _rows(X: Any) -> Any:
    """X as a canonical, finite CSR array of float32 or float64; a copy only where it is not that already."""
    import scipy.sparse as sp

    X = X if is_sparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, not {X.ndim}")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X has dtype {X.dtype}: expected real numbers")
    if X.shape[1] > _LARGEST_INDEX + 1:
        raise ValueError(f"X has {X.shape[1]} columns: at most {_LARGEST_INDEX + 1} can be written")
    rows = sp.csr_array(X)
    rows = rows.astype(np.float32 if rows.dtype == np.float32 else np.float64, copy=False)
    rows.check_format(full_check=True)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    finite = np.isfinite(rows.data[: rows.nnz])
    if not finite.all():
        at = int(np.argmin(finite))
        row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
        raise ValueError(f"X[{row}, {rows.indices[at]}] is {rows.data[at]}: only finite numbers can be written")
    return rows


def _one_label_each(y: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    labels = np.ascontiguousarray(y, dtype=np.float64)
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension, not {labels.ndim}; for several labels: multilabel=True")
    return labels, np.arange(len(labels) + 1, dtype=np.int64)


def _many_labels(y: Iterable[Iterable[float]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rows = [tuple(labels) for labels in y]
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.array([label for row in rows for label in row], dtype=np.float64), indptr


def _check_finite_labels(labels: NDArray[np.float64], indptr: NDArray[np.int64]) -> None:
    finite = np.isfinite(labels)
    if not finite.all():
        at = int(np.argmin(finite))
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        raise ValueError(f"y[{row}] is {labels[at]}: only finite numbers can be written")


def _queries(qid: ArrayLike | None, n_rows: int) -> NDArray[np.int64]:
    if qid is None:
        return np.empty(0, dtype=np.int64)
    given = np.asarray(qid)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError("qid must be one integer per row")
    _check_length("qid", len(given), n_rows)
    return given.astype(np.int64)


def _check_length(name: str, length: int, n_rows: int) -> None:
    if length != n_rows:
        raise ValueError(f"{name} has {length} elements, X has {n_rows} rows")


def _blocks(indptr: NDArray[np.int64]) -> Iterable[tuple[int, int]]:
    """Ranges of rows of bounded size, so that the text of a large matrix never sits in memory as a whole."""
    n_rows = len(indptr) - 1
    begin = 0
    while begin < n_rows:
        reach = int(np.searchsorted(indptr, indptr[begin] + _ENTRIES_PER_BLOCK, side="right")) - 1
        end = min(max(reach, begin + 1), begin + _ENTRIES_PER_BLOCK)
        yield begin, end
        begin = end
