"""Bytes of a file from any place: past the system's cache where the file is large, else through it.

Direct reads want memory, places and lengths that are multiples of a disk's block. So the blocks around the wanted bytes
are read into memory of whole pages, and a view of the wanted ones is returned. A file system that refuses direct reads
is read as usual.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 4096
# A file of more than this share of the machine's memory would push everything else out of the system's cache.
LARGE = 0.25


class FileBytes:
    """An open file. One read at a time: the next one overwrites what the last has returned."""

    def __init__(self, path: str, *, direct: bool | None = None) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        self.size = os.fstat(self._file).st_size
        if self.size == 0 and not os.path.isfile(path):
            os.close(self._file)
            raise ValueError("it is not a regular file")
        self.direct = _large(self.size) if direct is None else direct
        if self.direct:
            self._reopen()
        self._room: mmap.mmap | None = None
        self.bytes_read = 0

    def _reopen(self) -> None:
        try:
            direct = os.open(self.path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
        except (OSError, AttributeError):
            self.direct = False
            return
        os.close(self._file)
        self._file = direct

    def read(self, offset: int, length: int) -> NDArray[np.uint8]:
        """A view of those bytes, fewer where the file ends; valid until the next read."""
        begin = offset // BLOCK * BLOCK
        wanted = -(-(offset + length - begin) // BLOCK) * BLOCK
        room = memoryview(self._room_for(wanted))[:wanted]
        found = self._fill(room, begin)
        self.bytes_read += found
        return np.frombuffer(room, dtype=np.uint8, count=min(found, offset - begin + length))[offset - begin :]

    def _fill(self, room: memoryview, at: int) -> int:
        done = 0
        while done < len(room) and at + done < self.size:
            try:
                count = _read_into(self._file, room[done:], at + done)
            except OSError:
                if not self.direct:
                    raise
                self._through_the_cache()
                continue
            if count == 0:
                break
            done += count
            if self.direct and done % BLOCK:  # the end of the file
                break
        return done

    def _through_the_cache(self) -> None:
        """Some file systems open a file for direct reads and refuse the reads."""
        self.direct = False
        os.close(self._file)
        self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)

    def _room_for(self, length: int) -> mmap.mmap:
        if self._room is None or len(self._room) < length:
            self._room = mmap.mmap(-1, max(length, BLOCK))
        return self._room

    def close(self) -> None:
        """Gives the file back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        if getattr(self, "_file", -1) >= 0:
            self.close()


def _read_into(file: int, room: memoryview, at: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(file, [room], at)
    os.lseek(file, at, os.SEEK_SET)  # Windows; only one thread reads a file at a time
    found = os.read(file, len(room))
    room[: len(found)] = found
    return len(found)


def _large(size: int) -> bool:
    try:
        memory: Any = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return False
    return bool(size > LARGE * memory)
