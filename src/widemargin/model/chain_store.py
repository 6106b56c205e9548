"""Models of sequences in `.wm` files: the parameters, labels and attributes in the header, weights as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..data.files import Bytes, Source
from ..data.sequences import Attributes
from ..objective.certificate import Certificate
from ..objective.chains.pairs import ChainPairs
from .wm_arrays import read_array, write_arrays

if TYPE_CHECKING:
    from ..estimators._chain import ChainModel

FORMAT = "widemargin chain"
KINDS = ("ChainCRF", "ChainSVM")


def write_chain(model: ChainModel, target: Source) -> None:
    """Writes the model to a `.wm` file."""
    pairs, certificate = model._pairs, model.certificate_
    labels = model.classes_.tolist()
    facts = {
        "format": FORMAT,
        "version": __version__,
        "kind": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params().items()},
        "classes": labels,
        "attributes": None if model._attributes is None else model._attributes.names,
        "n_features": model.n_features_in_,
        "certificate": {"primal": certificate.primal, "dual": certificate.dual, "at_zero": certificate.at_zero},
        "solver": model.solver_,
        "tagging": model._tagging,
    }
    held = np.flatnonzero(model._coef)  # l1 leaves few
    arrays: dict[str, Any] = {"coef.at": held.astype("<i8"), "coef.values": model._coef[held].astype("<f8")}
    arrays["size"] = np.array([pairs.size], dtype="<i8")
    for name, places in (("pairs", pairs.places), ("edges", pairs.edges)):
        if places is not None:
            arrays[name] = places.astype("<i8")
    write_arrays(target, facts, arrays)


def _plain(value: Any) -> Any:
    """A parameter as JSON holds it; a solver with settings as its name."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return getattr(value, "name", value) if not isinstance(value, str | dict | int | float | None) else value


def chain_from(header: dict[str, Any], content: Bytes, begin: int) -> ChainModel:
    """The model of a file's header and arrays, everything checked."""
    from importlib import import_module

    kind = header["kind"]
    if kind not in KINDS:
        raise ValueError(f"this file holds a model of the unknown kind {kind!r}")
    module = {"ChainCRF": "chain_crf", "ChainSVM": "chain_svm"}[kind]
    estimator = getattr(import_module(f"..estimators.{module}", __package__), kind)
    arrays = {name: read_array(name, facts, content, begin) for name, facts in header["arrays"].items()}
    model: ChainModel = estimator(**header["parameters"])
    n_features, labels = int(header["n_features"]), list(header["classes"])
    pairs = ChainPairs(n_features, len(labels), arrays.get("pairs"), arrays.get("edges"))
    _check(pairs, arrays, labels, header["attributes"])
    coef = np.zeros(pairs.size)
    coef[arrays["coef.at"]] = arrays["coef.values"]
    model.classes_, model.n_features_in_ = np.asarray(labels), n_features
    model._attributes = None if header["attributes"] is None else Attributes(header["attributes"])
    model._coef, model._pairs = coef, pairs
    model.transitions_ = pairs.edge_table(coef).copy()
    proof = header["certificate"]
    model.certificate_ = Certificate(float(proof["primal"]), float(proof["dual"]), float(proof["at_zero"]))
    model.solver_ = str(header["solver"])
    model._tagging = header.get("tagging")
    return model


def _check(pairs: ChainPairs, arrays: dict[str, Any], labels: list[Any], names: list[str] | None) -> None:
    """Refuses places outside of their tables, and counts that do not agree."""
    k = len(labels)
    if k < 2 or len(set(labels)) < k or (names is not None and len(names) > pairs.n_features):
        raise ValueError("the labels or attributes of this model are malformed")
    limits = (("pairs", pairs.n_features * k), ("edges", k * k), ("coef.at", pairs.size))
    for name, end in limits:
        places = arrays.get(name)
        if places is None:
            continue
        ascending = places.ndim == 1 and (np.diff(places) > 0).all()
        if not ascending or (len(places) and (places[0] < 0 or places[-1] >= end)):
            raise ValueError(f"array {name!r} of this model names places outside of its table")
    if int(arrays["size"][0]) != pairs.size or len(arrays["coef.at"]) != len(arrays["coef.values"]):
        raise ValueError("the weights of this model do not fit its labels and features")
    if not np.isfinite(arrays["coef.values"]).all():
        raise ValueError("a weight of this model is not finite")
