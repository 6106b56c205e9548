"""The chunks of a file, one at a time, each checked against its checksum before it is decoded."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...vectors import Vector
from ..matrix import Matrix
from .chunk_codec import decode_targets, without_codec
from .file_bytes import FileBytes
from .layout import HEADER_BYTES, DamagedFile, Footer, checksum, footer_place

MOST_ROWS = 2**32 - 1


class ChunkReader:
    """An open file of blocks: its index, its description, and its chunks by number."""

    def __init__(self, path: str, *, direct: bool | None = None) -> None:
        self.path = path
        self._file = FileBytes(path, direct=direct)
        try:
            self.footer = self._read_footer()
        except DamagedFile as error:
            raise DamagedFile(f"{path}: {error}") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        self.index, self.about = self.footer.index, self.footer.about
        self.dtype = np.dtype(self.about.dtype)
        self._decoder = _core.ChunkDecoder(self.about.columns, self.about.form, self.dtype == np.float32)
        self._one_at_a_time = threading.Lock()

    def _read_footer(self) -> Footer:
        at, length, total = footer_place(self._file.read(0, HEADER_BYTES).tobytes())
        if at + length > self._file.size:
            raise DamagedFile(f"it is cut short: it has {self._file.size:,} bytes of {at + length:,}")
        content = self._file.read(at, length).tobytes()
        if checksum(content) != total:
            raise DamagedFile("its index is damaged; make it anew")
        footer = Footer.from_bytes(content)
        sums = {name: int(footer.index[name].sum(dtype=np.uint64)) for name in ("rows", "entries")}
        if not 0 < sums["rows"] <= MOST_ROWS or sums["entries"] >= 2**62:
            raise DamagedFile("its index does not add up")
        return footer

    @property
    def bytes_read(self) -> int:
        """Bytes read so far."""
        return self._file.bytes_read

    @property
    def direct(self) -> bool:
        """Whether the file is read past the system's cache."""
        return self._file.direct

    def rows(self, k: int) -> Matrix:
        """The rows of the k-th chunk."""
        line = self.index[k]
        with self._one_at_a_time:
            stored = self._stored(k, "rows", int(line["offset"] + line["target_bytes"]), "row_bytes", "row_sum")
            try:
                content = without_codec(self.about.codec, stored)
                native = self._decoder.decode(content, int(line["rows"]), int(line["entries"]))
            except ValueError as error:
                raise self._damaged(k, str(error)) from None
        return Matrix.over_native(native, self.dtype, is_sparse=self.about.form != "dense")

    def targets(self, k: int) -> list[Vector]:
        """The labels of the k-th chunk's rows, and their weights if they have any."""
        line = self.index[k]
        with self._one_at_a_time:
            stored = self._stored(k, "labels", int(line["offset"]), "target_bytes", "target_sum")
            try:
                return decode_targets(stored, int(line["rows"]), self.about.weighted)
            except ValueError as error:
                raise self._damaged(k, str(error)) from None

    def _stored(self, k: int, what: str, offset: int, length: str, total: str) -> NDArray[np.uint8]:
        line: Any = self.index[k]
        wanted = int(line[length])
        if offset + wanted > self._file.size:
            raise self._damaged(k, "the file is cut short")
        found = self._file.read(offset, wanted)
        if len(found) < wanted:
            raise self._damaged(k, "the file is cut short")
        if checksum(found) != int(line[total]):
            raise self._damaged(k, f"the bytes of its {what} are not those that were written")
        return found

    def _damaged(self, k: int, why: str) -> DamagedFile:
        return DamagedFile(f"{self.path}: chunk {k + 1} of {len(self.index)} is damaged: {why}; make the file anew")

    def close(self) -> None:
        """Gives the file back."""
        self._file.close()
