"""The state of dual coordinate descent over blocks: v, w = X^T v and b, and what a certifying pass gathers.

A certifying pass freezes w, b and v at its beginning. Before the steps of a block its margins are taken at the frozen
w, and X^T v of the frozen v is added up; after the pass both are complete: an exact certificate, one pass late, that no
pass over the disk was spent on. What the sum of the parts differs from w is what rounding has added up since the last
time, and is taken out of w.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...objective.certificate import balanced
from ...vectors import Vector
from ..base import Point, Run
from .row_layout import BLOCK, looks_sorted
from .rules import SINGLE_TOL

if TYPE_CHECKING:
    from ...data.block_file.block_file import BlockFile, Part
    from ...objective.certificate import Certified
    from ...objective.problem import Problem

# So many rows tell how long rows are.
SAMPLE = 2_000
# Vectors of the size of the rows and of the features that are there while a pass is certified.
PER_ROW, PER_FEATURE = 9, 6
# Rows with more bytes than this are not worth being visited side by side.
LONG_ROW = 1024


def fixed_bytes(problem: Problem) -> int:
    """What a run keeps in memory beside blocks."""
    rows, columns = problem.X.shape
    return 8 * (PER_ROW * rows + PER_FEATURE * columns)


class Frozen:
    """A point at the beginning of a pass, and what the pass adds up for its certificate."""

    def __init__(self, point: Point, free: bool, n_jobs: int) -> None:
        self._point, self._free, self._n_jobs = point, free, n_jobs
        self._v: Vector = point.dual  # type: ignore[assignment]
        self._z = np.empty(len(self._v))
        # X^T of the positive and of the negative part: balancing a dual point scales one of them.
        self._pulls = [np.zeros_like(point.w) for _ in range(2 if free else 1)]

    def look(self, parts: list[Part]) -> None:
        """Adds the rows of a block, before its steps."""
        for first, X in parts:
            rows = slice(first, first + X.shape[0])
            v = self._v[rows]
            self._z[rows] = X.matvec(self._point.w, self._point.intercept, n_jobs=self._n_jobs)
            halves = [np.maximum(v, 0.0), np.minimum(v, 0.0)] if self._free else [v]
            for pull, half in zip(self._pulls, halves, strict=True):
                _core.rmatvec(X.native_rows, half, pull, self._n_jobs)

    @property
    def drift(self) -> Vector:
        """By how much w had strayed from X^T v."""
        strayed: Vector = np.sum(self._pulls, axis=0) - self._point.w
        return strayed

    def point(self) -> Point:
        """The frozen point with its predictions and X^T v, its dual point balanced where the intercept is free."""
        v, pull = self._v, self._pulls[0]
        if self._free:
            v = balanced(v)
            pull = _share(v, self._v, 1) * self._pulls[0] + _share(v, self._v, -1) * self._pulls[1]
        return Point(self._point.w, self._point.intercept, v, self._z, pull)


def _share(v: Vector, before: Vector, sign: int) -> float:
    """By what the entries of that sign were scaled."""
    at = int(np.argmax(sign * before)) if len(before) else 0
    return float(v[at] / before[at]) if sign * before[at] > 0 else 1.0


class BlockDualState:
    """v, w and b, moved by native visits to one block after another.

    Free intercept: b = centre + mu sum v within a pass; after it the centre moves by mu sum v (method of multipliers).
    """

    def __init__(self, problem: Problem, run: Run, shrinking: bool) -> None:
        self.problem, self.run = problem, run
        self.file: BlockFile = problem.X  # type: ignore[assignment]
        self._free = problem.intercept == "free"
        self._mu, self._neighbours = self._sampled()
        self.last_gap = np.inf
        self.native = _core.BlockDualCD(
            problem.loss.native,
            problem.y,
            problem.weights,
            self.file.shape[1],
            np.sqrt(self._mu) if self._free else problem.intercept_scale,
            shrinking,
            self.file.dtype == np.float32 and run.tol >= SINGLE_TOL,
        )
        if run.start is not None:
            self._begin_at(run.start)

    def _sampled(self) -> tuple[float, int]:
        """How far a free intercept moves, and how many neighbours are visited together: rows tell by their lengths."""
        _, some = self.file.sample(SAMPLE)
        lengths = some.row_sqnorms[some.row_sqnorms > 0]
        mu = 0.1 * float(np.median(lengths)) if len(lengths) else 0.1
        short = some.nbytes / some.shape[0] < LONG_ROW
        return mu if self._free else 0.0, BLOCK if short and not looks_sorted(self.problem.y) else 1

    def _begin_at(self, start: Point) -> None:
        problem, v = self.problem, start.dual
        if v is None:
            z = problem.X.matvec(start.w, start.intercept, n_jobs=problem.n_jobs) if start.z is None else start.z
            v = -problem.loss_derivatives(z)[0]
        v = problem.clipped_dual(v)
        w = problem.X.rmatvec(v, n_jobs=problem.n_jobs)
        total = float(v.sum())
        self.native.set_dual(v)
        self.native.set_weights(w)
        self.native.intercept = start.intercept if self._free else problem.intercept_scale**2 * total
        penalty = 0.5 * float(w @ w) + 0.5 * (problem.intercept_scale * total) ** 2
        self.native.dual_value = -penalty - problem.conjugate_sum(-v)

    def chunk_is_needed(self, shrunk: NDArray[np.uint8], k: int) -> bool:
        """Whether a row of the chunk counts and is not left out for now."""
        rows = self.file.rows_of(k)
        return bool(((shrunk[rows] == 0) & (self.problem.weights[rows] > 0)).any())

    def shrunk(self) -> NDArray[np.uint8]:
        """One byte per row: whether it is left out for now."""
        out = np.empty(self.file.shape[0], dtype=np.uint8)
        self.native.shrunk(out)
        return out

    def begin_block(self, parts: list[Part], seed: int) -> None:
        """Takes a block of chunks; visits follow."""
        first = np.array([number for number, _ in parts], dtype=np.int64)
        neighbours = min(self._neighbours, max(1, sum(X.shape[0] for _, X in parts) // 100))
        self.native.begin_block([X.native_rows for _, X in parts], first, seed, neighbours)

    def end_pass(self) -> None:
        """Rows to leave out are chosen; a free intercept's centre moves."""
        self.native.end_pass()
        if self._free:
            step = self._mu * float(self.dual().sum())
            self.native.intercept += step
            self.native.dual_value -= step * step / self._mu

    def dual(self) -> Vector:
        """The dual variables v."""
        v = np.empty(self.file.shape[0])
        self.native.dual(v)
        return v

    def point(self) -> Point:
        """Where the descent stands."""
        w = np.empty(self.file.shape[1])
        self.native.weights(w)
        return Point(w, self.native.intercept, self.dual())

    def frozen(self) -> Frozen:
        """The present point, for a pass to certify; all rows are in play again."""
        self.native.restore()
        return Frozen(self.point(), self._free, self.problem.n_jobs)

    def resume(self, verdict: Certified) -> None:
        """After a point was refuted: a free intercept moves to its best value, as long as that helps."""
        if self._free and verdict.certificate.gap < 0.9 * self.last_gap:
            self.native.intercept = verdict.point.intercept
        self.last_gap = verdict.certificate.gap
