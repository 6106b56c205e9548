"""How much memory may be used, as users write it, and how blocks share it."""

from __future__ import annotations

import os
import re
from typing import Any

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
# Without a word from the user: this share of the machine's memory, and no more than so much.
SHARE, MOST = 0.25, 1 << 31
# Of the chunks in a block there should be at least so many, for rows that never met to meet.
LEAST_CHUNKS = 5
# Of the memory for blocks, this share stays free: allocators keep some of what they are given back.
RESERVE = 0.15


def parse_memory(memory: Any) -> int:
    """A number of bytes, from a number or a text such as "500M", "2G" or "1.5GiB".

    Examples
    --------
    >>> parse_memory("2G"), parse_memory("1.5M"), parse_memory(4096)
    (2147483648, 1572864, 4096)
    >>> parse_memory("much")
    Traceback (most recent call last):
    ...
    ValueError: memory='much' is no amount of memory: write a number of bytes, or one with K, M, G or T such as '2G'
    """
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(memory), re.IGNORECASE)
    amount = float(found[1]) * UNITS[found[2].upper()] if found else 0
    if not isinstance(memory, str) or amount < 1:
        raise ValueError(
            f"memory={memory!r} is no amount of memory: write a number of bytes, or one with K, M, G or T such as '2G'"
        )
    return int(amount)


def usual_memory() -> int:
    """What is used without a word from the user."""
    try:
        return int(min(MOST, SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    except (ValueError, OSError, AttributeError):
        return MOST


def available_memory() -> int:
    """What is free on this machine, or what a limit on this group of processes leaves of it."""
    found = [_free_pages(), _left_of_the_group()]
    known = [amount for amount in found if amount is not None]
    return min(known) if known else usual_memory()


def _free_pages() -> int | None:
    """What the system could hand out without swapping; None where it does not say."""
    try:
        with open("/proc/meminfo") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None


def _left_of_the_group(folder: str = "/sys/fs/cgroup") -> int | None:
    """What a container's limit leaves; None where there is none."""
    try:
        with open(f"{folder}/memory.max") as most, open(f"{folder}/memory.current") as used:
            return max(1, int(most.read()) - int(used.read()))
    except (OSError, ValueError):  # no such group, or its limit is "max"
        return None


def in_words(n_bytes: float) -> str:
    """A number of bytes for people, rounded up so that it suffices as an amount.

    Examples
    --------
    >>> in_words(1536), in_words(2**31)
    ('1.5K', '2.0G')
    """
    for unit, size in reversed(UNITS.items()):
        if n_bytes >= size and size > 1:
            return f"{-(-n_bytes * 10 // size) / 10:.1f}{unit}"
    return f"{int(n_bytes)}"


def block_bytes(memory: int, fixed: float, largest_chunk: float, whole: float) -> int:
    """How large a block may be where two of them, and `fixed` bytes beside them, are in memory at a time."""
    least = min(whole, LEAST_CHUNKS * largest_chunk)
    needed = fixed + 2 * least
    if needed > memory:
        raise MemoryError(
            f"memory={in_words(memory)} is too little: weights, dual variables and labels take {in_words(fixed)}, and "
            f"two blocks of {LEAST_CHUNKS} chunks {in_words(2 * least)}; give {in_words(needed)}"
            + (", or write the file with smaller chunk_bytes" if fixed + 2 * LEAST_CHUNKS * 65536 < memory else "")
        )
    return max(int((1 - RESERVE) * (memory - fixed) / 2), int(least))
