"""The start of a `.wm` file: magic, lengths, checksum and a header in JSON; no array is touched here.

    0   8  magic  \\x93 W M O D E L \\n
    8   4  version of the format, little-endian, as all numbers here
    12  4  zero
    16  8  length of the header
    24  8  length of the whole file
    32 32  SHA-256 of bytes 0..31 and of everything from byte 64 on
    64  .  header: JSON, padded with blanks so that what follows starts at a multiple of 64
    .   .  raw arrays, each starting at a multiple of 64, at the offsets that the header names

The checksum finds accidents, not malice: so the header is checked in full before a byte of it is used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from ..data.files import Bytes

MAGIC = b"\x93WMODEL\n"
FORMAT = 1
ALIGN = 64
_PRELUDE = struct.Struct("<8sIIQQ32s")


def prelude(header: bytes, total: int, chunks: Iterable[bytes]) -> bytes:
    """The first 64 bytes of a file of that header and those chunks, the header among them."""
    start = _PRELUDE.pack(MAGIC, FORMAT, 0, len(header), total, bytes(32))[:32]
    return start + _digest(start, chunks)


def _digest(start: bytes, chunks: Iterable[bytes | memoryview]) -> bytes:
    import hashlib  # this and JSON are only loaded for files of our own format

    digest = hashlib.sha256(start)
    for chunk in chunks:
        digest.update(chunk)
    return digest.digest()


def checked_header(content: Bytes) -> tuple[dict[str, Any], int]:
    """The header of those bytes, and where the arrays begin; a damaged or foreign file is refused."""
    if content[:8] != MAGIC:
        raise ValueError("not a Widemargin model: it does not start as one")
    if len(content) < ALIGN:
        raise ValueError(f"this model is cut short: {len(content)} bytes do not even hold its start")
    _, version, _, header_length, total, digest = _PRELUDE.unpack(content[:ALIGN])
    if version != FORMAT:
        raise ValueError(f"this model has format {version}, this Widemargin reads format {FORMAT}: use a newer one")
    if total != len(content):
        what = "cut short" if total > len(content) else "longer than it says"
        raise ValueError(f"this model is {what}: {len(content)} bytes of {total}")
    view = memoryview(content)
    if _digest(bytes(view[:32]), [view[ALIGN:]]) != digest:
        raise ValueError("this model was altered after it was written: its checksum does not match")
    if header_length > total - ALIGN or header_length % ALIGN:
        raise ValueError("the header of this model is malformed: its length is impossible")
    import json

    header = json.loads(bytes(view[ALIGN : ALIGN + header_length]).decode())
    return header, ALIGN + header_length


def aligned(position: int) -> int:
    """The next place where an array may start."""
    return -(-position // ALIGN) * ALIGN
