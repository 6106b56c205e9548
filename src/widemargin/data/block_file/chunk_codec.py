"""Chunks as bytes: the native codec, and zstd on top of it where a disk is slow."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...vectors import Vector
from .layout import DamagedFile

# zstd bytes say how long they are when undone; what claims to grow more than this is refused.
MOST_GROWTH = 1 << 12
LEVEL = 1  # higher ones cost several times the processor for a few per cent


def zstandard() -> Any:
    """The zstandard package, or how to get it."""
    try:
        import zstandard
    except ImportError as error:
        raise ImportError("codec 'zstd' needs the package zstandard: pip install zstandard") from error
    return zstandard


def with_codec(codec: str, content: bytes) -> bytes:
    """Encoded bytes as they are stored."""
    if codec != "zstd":
        return content
    packed: bytes = zstandard().ZstdCompressor(LEVEL).compress(content)
    return struct.pack("<Q", len(content)) + packed


def without_codec(codec: str, stored: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Stored bytes as they were encoded."""
    if codec != "zstd":
        return stored
    library = zstandard()
    length = struct.unpack("<Q", stored[:8].tobytes())[0] if len(stored) >= 8 else 0
    if length > MOST_GROWTH * len(stored):
        raise DamagedFile("it claims to be longer than it can be")
    try:
        content = library.ZstdDecompressor().decompress(stored[8:], max_output_size=max(1, length))
    except library.ZstdError as error:
        raise DamagedFile(f"zstd cannot undo it: {error}") from error
    if len(content) != length:
        raise DamagedFile("it has another length than it should")
    return np.frombuffer(content, dtype=np.uint8)


def encode_targets(labels: Vector, weights: Vector | None) -> bytes:
    """Labels, and weights if there are any."""
    parts = [labels] if weights is None else [labels, weights]
    encoded = [_core.encode_numbers(np.ascontiguousarray(part, dtype=np.float64)) for part in parts]
    return b"".join(struct.pack("<Q", len(part)) + part for part in encoded)


def decode_targets(stored: NDArray[np.uint8], rows: int, weighted: bool) -> list[Vector]:
    """Labels, and weights if there are any, of so many rows."""
    found, at = [], 0
    for _ in range(1 + weighted):
        length = struct.unpack("<Q", stored[at : at + 8].tobytes())[0] if at + 8 <= len(stored) else len(stored)
        if at + 8 + length > len(stored):
            raise DamagedFile("it ends too early")
        numbers = np.empty(rows)
        _core.decode_numbers(stored[at + 8 : at + 8 + length], numbers)
        found.append(numbers)
        at += 8 + length
    if at != len(stored):
        raise DamagedFile("there are bytes behind its end")
    return found
