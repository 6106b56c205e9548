"""How a file of blocks is laid out.

    header    mark, version, where the footer is, its checksum, and a checksum of the header itself
    chunks    one after another: labels and weights of its rows, then the rows
    footer    an index with one line per chunk, and a description in JSON

The header is written last. Whoever appends writes new chunks and a new footer behind the old one, and turns the header
to it when all is on disk: until then the file is what it was.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core

MARK = b"\x89WMB\r\n\x1a\n"
VERSION = 1
_START = struct.Struct("<8sIIQQQ")
HEADER_BYTES = _START.size + 8

# One line of the index. Targets are labels and weights; their bytes come first, the rows' bytes follow.
LINE = np.dtype(
    [(name, "<u8") for name in ("offset", "target_bytes", "row_bytes", "rows", "entries", "target_sum", "row_sum")]
)
CODECS = ("lz4", "zstd")
FORMS = ("sparse", "uniform", "dense")


class DamagedFile(ValueError):
    """A file that is not as it was written: cut short, or with other bytes."""


@dataclass(frozen=True)
class Description:
    """What a file says of itself."""

    columns: int
    dtype: str
    form: str  # how its rows are handed out
    codec: str
    weighted: bool  # whether rows have weights
    classes: list[str] | None = None  # the names of the labels 0, 1, ..., where labels are words
    source: dict[str, Any] = field(default_factory=dict)  # what it was made from

    def check(self) -> Description:
        """The description, if it is one that this version understands."""
        whole = isinstance(self.columns, int) and 0 < self.columns < 2**31 - 1
        known = self.dtype in ("float32", "float64") and self.form in FORMS and self.codec in CODECS
        if not (whole and known and isinstance(self.weighted, bool) and isinstance(self.source, dict)):
            raise DamagedFile("its description is not one that this version understands")
        return self


@dataclass(frozen=True)
class Footer:
    """The index and the description."""

    index: NDArray[Any]
    about: Description

    def to_bytes(self) -> bytes:
        """The footer as it is written."""
        text = json.dumps(asdict(self.about), ensure_ascii=False).encode()
        return struct.pack("<Q", len(self.index)) + self.index.tobytes() + text

    @classmethod
    def from_bytes(cls, content: bytes) -> Footer:
        """The footer that was written, every number in it checked."""
        count = struct.unpack_from("<Q", content)[0] if len(content) >= 8 else 0
        end = 8 + count * LINE.itemsize
        if end > len(content):
            raise DamagedFile("its index is cut short")
        index = np.frombuffer(content, LINE, int(count), 8)
        try:
            said = json.loads(content[end:])
            about = Description(**{one.name: said[one.name] for one in fields(Description)}).check()
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedFile(f"its description cannot be read: {error}") from error
        return cls(index, about)


def header(footer_at: int, footer: bytes) -> bytes:
    """The header of a file whose footer stands there."""
    start = _START.pack(MARK, VERSION, 0, footer_at, len(footer), checksum(footer))
    return start + struct.pack("<Q", checksum(start))


def footer_place(start: bytes) -> tuple[int, int, int]:
    """Where the footer begins, how long it is, and its checksum, as the header says."""
    if len(start) < 8 or start[:8] != MARK:
        raise ValueError("this is not a file of blocks: make one with widemargin convert --cache")
    version = struct.unpack_from("<I", start, 8)[0] if len(start) >= 12 else 0
    if version != VERSION:
        raise ValueError(
            f"it was written in version {version} of the format, this program reads version {VERSION}: make it anew"
        )
    if len(start) < HEADER_BYTES or struct.unpack_from("<Q", start, _START.size)[0] != checksum(start[: _START.size]):
        raise DamagedFile("its header is damaged: it was not written to its end, or has changed since")
    _, _, _, at, length, total = _START.unpack_from(start)
    return at, length, total


def checksum(content: Any) -> int:
    """XXH64 of bytes."""
    found: int = _core.checksum(np.frombuffer(content, dtype=np.uint8))
    return found
