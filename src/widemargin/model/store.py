"""The `.wm` file: one model, nothing that runs, readable by memory mapping. Its layout is in `wm_header`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.files import Bytes, Source, read_whole
from ..data.sparse_rows import as_scipy
from .model import Model
from .wm_arrays import read_array, write_arrays
from .wm_header import ALIGN as ALIGN
from .wm_header import checked_header

_STORED = {"float64": "<f8", "float32": "<f4"}
_DENSE = ("intercepts", "weights")
_SPARSE = ("intercepts", "weights.data", "weights.indices", "weights.indptr")


def write_wm(model: Model, target: Source, *, dtype: str = "float64", sparse: bool = False) -> None:
    """Writes the file; a path appears only when it is complete."""
    if dtype not in _STORED:
        raise ValueError(f"dtype must be float64 or float32, got {dtype!r}")
    write_arrays(target, _facts(model), _arrays(model, _STORED[dtype], sparse))


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


def _facts(model: Model) -> dict[str, Any]:
    """What the header says of the model."""
    return {
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
    }


def read_wm(source: Source) -> Model:
    """Reads the file; a path is memory-mapped, and its weights stay on disk until they are used."""
    name, content = read_whole(source)
    model: Model = parse_wm(name, content)
    return model


def parse_wm(name: str, content: Bytes) -> Any:
    """The model in those bytes: linear, or of sequences."""
    try:
        header, begin = checked_header(content)
        if header.get("format") == "widemargin chain":
            from .chain_store import chain_from  # with scikit-learn, for models of sequences alone

            return chain_from(header, content, begin)
        return _model(header, content, begin)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{name}: the header of this model is malformed ({type(error).__name__}: {error})") from error


def _model(header: dict[str, Any], content: Bytes, begin: int) -> Model:
    arrays = {name: read_array(name, facts, content, begin) for name, facts in header["arrays"].items()}
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


def _sparse_weights(arrays: Mapping[str, NDArray[Any]], shape: tuple[int, ...]) -> Any:
    parts = tuple(arrays[f"weights.{part}"] for part in ("data", "indices", "indptr"))
    if any(part.ndim != 1 for part in parts) or len(shape) != 2:
        raise ValueError("the sparse weights of this model are malformed")
    import scipy.sparse as sp

    weights = sp.csr_array(parts, shape=shape)
    weights.check_format(full_check=True)
    return weights
