"""The state of a descent over blocks in a file, from which a run that was ended goes on bit for bit.

What has happened is all in the numbers of the state; what will happen follows from them and from seed and pass, which
alone draw the random numbers. The file is replaced as a whole after each pass. It holds for one problem: rows, labels,
weights and settings are compared by a checksum, and another problem's state is refused. What a run answers with is the
best point that it has verified itself.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _core
from ...data.files import written_whole

if TYPE_CHECKING:
    from .block_dual_cd import BlockPasses, Outlook
    from .block_state import BlockDualState


class SavedRun:
    """A file for the state of one run."""

    def __init__(self, path: str, state: BlockDualState, passes: BlockPasses, outlook: Outlook) -> None:
        self._path = path
        self._state, self._passes, self._outlook = state, passes, outlook

    def save(self, looks_done: bool) -> None:
        """Writes where the run stands, at the end of a pass."""
        native, passes, outlook = self._state.native, self._passes, self._outlook
        w = np.empty(self._state.file.shape[1])
        native.weights(w)
        numbers = (native.intercept, native.dual_value, passes.passes, outlook.gap, outlook.trust)
        arrays = {
            "kind": self._kind(),
            "v": self._state.dual(),
            "w": w,
            "shrunk": self._state.shrunk(),
            "thresholds": np.array(native.thresholds),
            "numbers": np.array([*numbers, self._state.last_gap]),
            "counts": np.array([passes.number, passes.rounds or 0, looks_done], dtype=np.int64),
        }
        with written_whole(self._path) as file:
            np.savez(file, **arrays)

    def load(self) -> bool:
        """Takes the state from the file, if there is one; whether the next pass is to be certified."""
        if not os.path.exists(self._path):
            return False
        found = self._read()
        native, passes, outlook = self._state.native, self._passes, self._outlook
        native.set_dual(found["v"])
        native.set_weights(found["w"])
        native.set_shrunk(found["shrunk"])
        native.thresholds = tuple(map(float, found["thresholds"]))
        native.intercept, native.dual_value, passes.passes, *seen = map(float, found["numbers"])
        outlook.gap, outlook.trust, self._state.last_gap = seen
        passes.number, rounds, looks_done = map(int, found["counts"])
        passes.rounds = rounds or None
        return bool(looks_done)

    def _read(self) -> dict[str, Any]:
        try:
            with np.load(self._path, allow_pickle=False) as file:
                found = {name: file[name] for name in file.files}
            same = np.array_equal(found["kind"], self._kind())
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ValueError(f"{self._path}: this is not the state of a run: {error}") from error
        if not same:
            raise ValueError(
                f"{self._path}: this is the state of another run: other rows, labels, weights, settings or seed"
            )
        return found

    def _kind(self) -> Any:
        """What the run depends on."""
        problem, run = self._state.problem, self._state.run
        words = f"{problem.describe()} {problem.intercept_scale} {problem.loss} {self._passes.settings} {run.seed}"
        text, index = np.frombuffer(words.encode(), dtype=np.uint8), self._state.file.reader.index
        parts: tuple[Any, ...] = (text, problem.y, problem.weights, index)
        sums = [_core.checksum(np.frombuffer(part.tobytes(), dtype=np.uint8)) for part in parts]
        return np.array([*sums, np.float64(run.tol).view(np.uint64)], dtype=np.uint64)
