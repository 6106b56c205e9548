"""LIBLINEAR's model files, read and written. Their form is described in `liblinear_text`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.files import Bytes, Source, written_whole
from .liblinear_text import BY_NAME, BY_NUMBER, SOLVER_TYPES, header_facts, one_word
from .model import Model

LINES_AT_ONCE = 1 << 14
# A prediction depends on the task and on whether scores are log-odds, on nothing else: any loss finds its like here.
_LIKE = {"classification": 1, "regression": 11, "one_class": 21}


def parse_liblinear(name: str, content: Bytes) -> Model:
    """The model in the text of a file."""
    try:
        facts, begin = header_facts(content)
        return _model(facts, content, begin)
    except (ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"{name}: this LIBLINEAR model is damaged: {error}") from error


def _model(facts: dict[str, list[str]], content: Bytes, begin: int) -> Model:
    kind = BY_NAME.get(one_word(facts, "solver_type"))
    if kind is None:
        raise ValueError(f"unknown solver_type {facts['solver_type'][0]!r}")
    n_classes, n_features, bias = (
        int(one_word(facts, "nr_class")),
        int(one_word(facts, "nr_feature")),
        float(one_word(facts, "bias")),
    )
    labels = [int(word) for word in facts.get("label", [])]
    if kind.task == "classification" and (len(labels) != n_classes or n_classes < 2):
        raise ValueError(f"{n_classes} classes, {len(labels)} labels")
    joint = kind.loss == "crammer_singer"
    columns = n_classes if kind.task == "classification" and (n_classes > 2 or joint) else 1
    w = _weights(content, begin, n_features + (bias >= 0), columns)
    intercepts = w[-1] * bias if bias >= 0 else np.zeros(columns)
    weights = np.ascontiguousarray(w[:n_features].T)
    if "rho" in facts:
        intercepts = intercepts - float(one_word(facts, "rho"))
    if columns == 1 and labels:  # LIBLINEAR's first class is the one above zero, ours the second
        labels = labels[::-1]
    settings = {"liblinear": kind.name, "bias": bias, "penalty": kind.penalty}
    return Model(weights, intercepts, kind.task, labels if kind.task == "classification" else (), kind.loss, settings)


def _weights(content: Bytes, begin: int, rows: int, columns: int) -> NDArray[np.float64]:
    if rows < 0 or rows * columns > len(content):
        raise ValueError(f"it has no room for {rows} x {columns} weights")
    w = np.empty((rows, columns))
    text = np.frombuffer(content, dtype=np.uint8)[begin:]
    if not _core.fill_numbers(text, w.reshape(-1)):
        found = len(bytes(content[begin:]).split())
        if found != w.size:
            raise ValueError(f"{found} weights, expected {rows} x {columns}")
        raise ValueError("a weight is not a finite number")
    return w


def write_liblinear(model: Model, target: Source, *, dtype: str = "float64", sparse: bool = False) -> None:
    """Writes the model so that LIBLINEAR's own predict gives the same predictions."""
    if sparse:
        raise ValueError("LIBLINEAR's format has no sparse storage: leave it out, or save a .wm file")
    if model.decision == "pairs":
        raise ValueError("LIBLINEAR's format has no models of pairs of classes: save a .wm file")
    weights = model.dense_weights().astype(dtype).astype(np.float64).T
    intercepts = model.intercepts
    bias = _bias(model)
    if bias >= 0:
        weights = np.vstack([weights, intercepts / (bias or 1.0)])
    labels = _labels(model)
    if len(labels) == 2 and len(intercepts) == 1:
        labels = labels[::-1]
    lines = [f"solver_type {_solver_name(model)}", f"nr_class {max(2, len(labels))}"]
    lines += [f"label {' '.join(map(str, labels))}"] if labels else []
    lines += [f"nr_feature {model.n_features}", f"bias {bias:.17g}"]
    lines += [f"rho {-intercepts[0]:.17g}"] if model.task == "one_class" else []
    with written_whole(target) as file:
        file.write(("\n".join([*lines, "w"]) + "\n").encode())
        for at in range(0, len(weights), LINES_AT_ONCE):
            block = np.ascontiguousarray(weights[at : at + LINES_AT_ONCE])
            file.write(_core.format_numbers(block.reshape(-1), block.shape[1]))


def _bias(model: Model) -> float:
    """LIBLINEAR's bias: what was asked for, 1 for an intercept of another origin, -1 for none."""
    if model.task == "one_class" or not np.any(model.intercepts):
        return -1.0
    asked = float(model.settings.get("bias", -1.0))
    return asked if asked > 0 else 1.0


def _solver_name(model: Model) -> str:
    known = model.settings.get("liblinear")
    if len(model.classes) == 2 and len(model.intercepts) == 2:
        return BY_NUMBER[4].name  # the only type with a column for each of two classes
    if known in BY_NAME and BY_NAME[known].task == model.task:
        return str(known)
    penalty = model.settings.get("penalty", "l2")
    exact = [one for one in SOLVER_TYPES if (one.loss, one.penalty, one.task) == (model.loss, penalty, model.task)]
    like = [one for one in SOLVER_TYPES if one.loss == model.loss and one.task == model.task]
    return (exact or like or [BY_NUMBER[_LIKE[model.task]]])[0].name


def _labels(model: Model) -> Sequence[Any]:
    for label in model.classes:
        if type(label) is not int or not -(2**31) <= label < 2**31:
            raise ValueError(
                f"LIBLINEAR's labels are whole numbers, this model has the class {label!r}: save a .wm file"
            )
    return model.classes
