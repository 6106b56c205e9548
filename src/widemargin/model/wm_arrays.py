"""Facts and arrays into a `.wm` file, and out of one: what all kinds of models share. The layout is in `wm_header`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.files import Bytes, Source, written_whole
from .wm_header import ALIGN, aligned, prelude

_DTYPES = {"<f8", "<f4", "<i4", "<i8"}


def write_arrays(target: Source, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes the file; a path appears only when it is complete."""
    header, offsets = _header(facts, arrays)
    end = max(offsets[name] + array.nbytes for name, array in arrays.items())
    chunks = [header]
    position = ALIGN + len(header)
    for name, array in arrays.items():
        chunks += [bytes(offsets[name] - position), array.tobytes()]
        position = offsets[name] + array.nbytes
    with written_whole(target) as file:
        file.write(prelude(header, end, chunks))
        for chunk in chunks:
            file.write(chunk)


def _header(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, dict[str, int]]:
    """The header and where each array goes. Offsets count from the header's end, so its length does not matter."""
    offsets, position = {}, 0
    for name, array in arrays.items():
        offsets[name] = position
        position = aligned(position + array.nbytes)
    places = {
        name: {"dtype": array.dtype.str.replace("=", "<"), "shape": list(array.shape), "offset": offsets[name]}
        for name, array in arrays.items()
    }
    text = json.dumps({**facts, "arrays": places}, ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (aligned(len(text)) - len(text))
    return text, {name: ALIGN + len(text) + offset for name, offset in offsets.items()}


def read_array(name: str, facts: Mapping[str, Any], content: Bytes, begin: int) -> NDArray[Any]:
    """An array of the file, of which the header says these facts; it stays in the file's memory."""
    shape, offset = [int(n) for n in facts["shape"]], int(facts["offset"])
    if facts["dtype"] not in _DTYPES:
        raise ValueError(f"array {name!r} has the unknown type {facts['dtype']!r}")
    dtype = np.dtype(facts["dtype"])
    count = 1
    for n in shape:
        count *= n
    inside = min([*shape, offset, 0]) >= 0 and begin + offset + count * dtype.itemsize <= len(content)
    if not inside or offset % ALIGN or not 1 <= len(shape) <= 2:
        raise ValueError(f"array {name!r} lies outside of the file")
    if count == 0:
        return np.empty(shape, dtype)
    return np.frombuffer(content, dtype, count, begin + offset).reshape(shape)
