"""What `fit` was given as rows: arrays as they are, an open file of blocks, or the path of a file."""

from __future__ import annotations

import os
from typing import Any

from ..data.block_file.memory import parse_memory
from ..data.rows import BLOCKS
from ..solvers.base import Solver
from ..solvers.registry import make_solver

Given = tuple[Any, Any, Any]  # rows, labels and weights


def given_rows(X: Any, y: Any, sample_weight: Any, *, memory: Any, solver: str | Solver, n_jobs: int) -> Given:
    """Rows, labels and weights: as given, or those that a file brings along.

    memory: what a fit from disk may use; a path's rows are read into memory if they fit into it. What was given as
    arrays is in memory already.
    """
    amount = None if memory is None else parse_memory(memory)
    if isinstance(X, str | os.PathLike):
        return _of_path(os.fspath(X), y, sample_weight, amount, solver, n_jobs)
    if amount is not None and getattr(X, "memory", amount) != amount:
        X = X.with_memory(amount)
    return X, *with_its_targets(X, y, sample_weight)


def with_its_targets(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Labels and weights as given, or those that a file of blocks brings along."""
    if y is not None or not hasattr(X, "offers"):
        return y, sample_weight
    return getattr(X, "y", None), getattr(X, "sample_weight", None) if sample_weight is None else sample_weight


def _of_path(path: str, y: Any, sample_weight: Any, memory: int | None, solver: str | Solver, n_jobs: int) -> Given:
    from ..data.block_file.path_rows import open_rows  # not needed where data are in memory

    if y is not None:
        raise ValueError(f"{path}: a file brings its labels along: leave y out")
    found = open_rows(path, memory=memory, on_disk=_asks_for_blocks(solver), n_jobs=n_jobs)
    return found.X, found.y, found.sample_weight if sample_weight is None else sample_weight


def _asks_for_blocks(solver: str | Solver) -> bool:
    return solver != "auto" and BLOCKS in make_solver(solver).needs
