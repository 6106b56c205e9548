"""Rows in files of blocks for tests: small chunks, little memory, in a folder that goes with the process."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from widemargin import BlockFile, write_blocks
from widemargin.data.rows import BLOCKS
from widemargin.solvers.registry import solver_class

_FOLDER = tempfile.TemporaryDirectory()
_NUMBERS = itertools.count()


def where_it_runs(problem: Any, name: str) -> Any:
    """The problem over rows that the solver of that name can use: in a file, if it asks for one."""
    return problem.over(on_disk(problem.X.to_scipy())) if BLOCKS in solver_class(name).needs else problem


def on_disk(X: Any, *, chunk_rows: int = 9, memory: Any = None, y: Any = None, chunk_bytes: int = 2000) -> BlockFile:
    """The rows in a new file, a few in each chunk."""
    X = X.tocsr() if hasattr(X, "tocsr") else X
    y = np.zeros(X.shape[0]) if y is None else y
    batches = [(X[k : k + chunk_rows], y[k : k + chunk_rows]) for k in range(0, len(y), chunk_rows)]
    path = Path(_FOLDER.name) / f"{next(_NUMBERS)}.wmb"
    return write_blocks(path, batches, memory=memory, chunk_bytes=chunk_bytes)
