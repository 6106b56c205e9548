"""The `.wm` file: one model, nothing that runs, readable by memory mapping. Its layout is in `wm_header`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.files import Bytes, Source, read_whole, written_whole
from ..data.sparse_rows import as_scipy
from .model import Model
from .wm_header import ALIGN, aligned, checked_header, prelude

_DTYPES = {"<f8", "<f4", "<i4", "<i8"}
_STORED = {"float64": "<f8", "float32": "<f4"}
_DENSE = ("intercepts", "weights")
_SPARSE = ("intercepts", "weights.data", "weights.indices", "weights.indptr")


def write_wm(model: Model, target: Source, *, dtype: str = "float64", sparse: bool = False) -> None:
    """Writes the file; a path appears only when it is complete."""
    if dtype not in _STORED:
        raise ValueError(f"dtype must be float64 or float32, got {dtype!r}")
    arrays = _arrays(model, _STORED[dtype], sparse)
    header, offsets = _header(model, arrays)
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


def _arrays(model: Model, dtype: str, sparse: bool) -> dict[str, NDArray[Any]]:
    intercepts = {"intercepts": np.ascontiguousarray(model.intercepts, dtype="<f8")}
    with np.errstate(over="ignore"):
        if not sparse:
            found = {"weights": np.ascontiguousarray(model.dense_weights(), dtype=dtype)}
        else:
            kept = as_scipy(model.weights)
            kept.eliminate_zeros()
            found = {
                "weights.data": kept.data.astype(dtype),
                "weights.indices": kept.indices.astype("<i4"),
                "weights.indptr": kept.indptr.astype("<i8"),
            }
    if not all(np.isfinite(array).all() for array in found.values()):
        raise ValueError("a weight is too large for float32: store float64")
    return intercepts | found


def _header(model: Model, arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, dict[str, int]]:
    """The header and where each array goes. Offsets count from the header's end, so its length does not matter."""
    offsets, position = {}, 0
    for name, array in arrays.items():
        offsets[name] = position
        position = aligned(position + array.nbytes)
    facts = {
        "format": "widemargin model",
        "version": model.version,
        "task": model.task,
        "loss": model.loss,
        "classes": list(model.classes),
        "decision": model.decision,
        "settings": dict(model.settings),
        "certificates": [dict(one) for one in model.certificates],
        "features": dict(model.features),
        "shape": list(model.weights.shape),
        "arrays": {
            name: {"dtype": array.dtype.str.replace("=", "<"), "shape": list(array.shape), "offset": offsets[name]}
            for name, array in arrays.items()
        },
    }
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (aligned(len(text)) - len(text))
    return text, {name: ALIGN + len(text) + offset for name, offset in offsets.items()}


def read_wm(source: Source) -> Model:
    """Reads the file; a path is memory-mapped, and its weights stay on disk until they are used."""
    name, content = read_whole(source)
    return parse_wm(name, content)


def parse_wm(name: str, content: Bytes) -> Model:
    """The model in those bytes."""
    try:
        header, begin = checked_header(content)
        return _model(header, content, begin)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{name}: the header of this model is malformed ({type(error).__name__}: {error})") from error


def _model(header: dict[str, Any], content: Bytes, begin: int) -> Model:
    arrays = {name: _array(name, facts, content, begin) for name, facts in header["arrays"].items()}
    shape = tuple(int(n) for n in header["shape"])
    if sorted(arrays) not in (sorted(_DENSE), sorted(_SPARSE)):
        raise ValueError(f"this model holds unexpected arrays: {', '.join(arrays)}")
    weights = arrays["weights"] if "weights" in arrays else _sparse_weights(arrays, shape)
    if weights.shape != shape:
        raise ValueError(f"the weights have shape {weights.shape}, the header says {shape}")
    features = dict(header["features"])
    names = features.get("names")
    if names is not None and len(names) != shape[1]:
        raise ValueError(f"{len(names)} names for {shape[1]} features")
    return Model(
        weights,
        arrays["intercepts"],
        task=str(header["task"]),
        classes=list(header["classes"]),
        loss=str(header["loss"]),
        settings=dict(header["settings"]),
        certificates=[dict(one) for one in header["certificates"]],
        features=features,
        version=str(header["version"]),
        decision=str(header.get("decision", "scores")),
    )


def _array(name: str, facts: Mapping[str, Any], content: Bytes, begin: int) -> NDArray[Any]:
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


def _sparse_weights(arrays: Mapping[str, NDArray[Any]], shape: tuple[int, ...]) -> Any:
    parts = tuple(arrays[f"weights.{part}"] for part in ("data", "indices", "indptr"))
    if any(part.ndim != 1 for part in parts) or len(shape) != 2:
        raise ValueError("the sparse weights of this model are malformed")
    import scipy.sparse as sp

    weights = sp.csr_array(parts, shape=shape)
    weights.check_format(full_check=True)
    return weights
