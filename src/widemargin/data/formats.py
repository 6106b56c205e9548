"""Which format a data file has."""

from __future__ import annotations

import os

_SUFFIXES = {
    ".npz": "npz",
    ".wmb": "blocks",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}


def format_of(path: str, asked: str | None = None) -> str:
    """The format that was asked for, or else the one that the name tells; LIBSVM text for any other name."""
    if asked:
        return asked
    base, suffix = os.path.splitext(path.lower())
    if suffix in (".gz", ".bz2", ".xz"):
        suffix = os.path.splitext(base)[1]
    return _SUFFIXES.get(suffix, "svm")
