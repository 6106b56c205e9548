"""Hashed n-grams of many short lines, by array operations alone.

All lines are laid end to end in one array of bytes. With prefix hashes H_i = sum over j < i of byte_j p^j (mod 2^64),
the hash of any piece of text from `start` to `end` is (H_end - H_start) p^-start: one subtraction and one product,
whatever its length. So words, pairs of words and runs of characters are all just lists of starts and ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Integers = NDArray[np.int64]

BASE = 0x9E3779B97F4A7C15  # any odd number: it must have an inverse modulo 2^64
BASE_INVERSE = pow(BASE, -1, 2**64)
MIX = np.uint64(0xD6E8FEB86659FD93)
NEWLINE = 10

_is_word = np.zeros(256, dtype=bool)
_is_word[[b for b in range(256) if chr(b).isalnum() or chr(b) == "_" or b >= 128]] = True


@dataclass(frozen=True)
class NGrams:
    """Turns lines into rows of hashed words, pairs of words and runs of characters.

    A row holds 1 / sqrt(number of its features) at each of its features, so it has length one.

    Examples
    --------
    >>> from widemargin.data.ngrams import NGrams
    >>> X = NGrams(bits=12).transform([b"import socket", b"import ast"])
    >>> X.shape, X.dtype
    ((2, 4096), dtype('float32'))
    """

    bits: int = 20
    characters: tuple[int, ...] = (4,)
    lines_at_once: int = 10_000

    def transform(self, lines: Sequence[bytes], n_jobs: int = 2) -> sp.csr_array:
        """One row per line."""
        chunks = [lines[i : i + self.lines_at_once] for i in range(0, len(lines), self.lines_at_once)]
        with ThreadPoolExecutor(n_jobs) as pool:
            blocks = list(pool.map(self._block, chunks))
        counts = np.concatenate([block[0] for block in blocks])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        indices = np.concatenate([block[1] for block in blocks])
        values = np.repeat((1 / np.sqrt(np.maximum(counts, 1))).astype(np.float32), counts)
        return sp.csr_array((values, indices, indptr), shape=(len(lines), 1 << self.bits))

    def features(self, lines: Sequence[bytes]) -> tuple[Integers, Integers]:
        """Every feature of the lines, repeated ones too: its row and its column."""
        codes = np.frombuffer(b"\n".join(lines) + b"\n", dtype=np.uint8)
        row_of = np.cumsum(codes == NEWLINE) - (codes == NEWLINE)
        spans = [_words(codes, row_of), *(_runs(codes, row_of, n) for n in self.characters)]
        start = np.concatenate([span[0] for span in spans])
        end = np.concatenate([span[1] for span in spans])
        kind = np.repeat(np.arange(len(spans), dtype=np.uint64), [len(span[0]) for span in spans])
        return row_of[start], self._column(_hashes(codes, start, end), kind)

    def _column(self, hashes: NDArray[np.uint64], kind: NDArray[np.uint64]) -> Integers:
        mixed = (hashes ^ (kind << np.uint64(56)) ^ (hashes >> np.uint64(29))) * MIX
        return np.asarray(mixed >> np.uint64(64 - self.bits), dtype=np.int64)

    def _block(self, lines: Sequence[bytes]) -> tuple[Integers, NDArray[np.int32]]:
        """Number of features per row, and their columns, ascending within a row."""
        row, column = self.features(lines)
        keys = np.sort(row << self.bits | column)
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
        counts = np.bincount(keys >> self.bits, minlength=len(lines))
        return counts, (keys & ((1 << self.bits) - 1)).astype(np.int32)


def _hashes(codes: NDArray[np.uint8], start: Integers, end: Integers) -> NDArray[np.uint64]:
    powers = np.cumprod(np.full(len(codes), BASE, dtype=np.uint64))
    prefix = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum((codes + np.uint64(1)) * powers)])
    back = np.cumprod(np.full(len(codes), BASE_INVERSE, dtype=np.uint64))
    return np.asarray((prefix[end] - prefix[start]) * back[start])


def _words(codes: NDArray[np.uint8], row_of: Integers) -> tuple[Integers, Integers]:
    """Words, and pairs of words of one line with what stands between them."""
    inside = _is_word[codes]
    edges = np.flatnonzero(np.diff(inside, prepend=False))
    start, end = edges[::2], edges[1::2]  # the text ends in a newline, so every word ends
    paired = row_of[start[:-1]] == row_of[start[1:]]
    return np.concatenate([start, start[:-1][paired]]), np.concatenate([end, end[1:][paired]])


def _runs(codes: NDArray[np.uint8], row_of: Integers, length: int) -> tuple[Integers, Integers]:
    """Runs of characters within a line."""
    line_end = np.flatnonzero(codes == NEWLINE)
    start = np.flatnonzero(np.arange(len(codes)) + length <= line_end[row_of])
    return start, start + length
