"""LIBLINEAR's model files: text, read and written.

solver_type L2R_LR        one of the names below
nr_class 2
label 1 -1                classification only; of two classes, the first is predicted above zero
nr_feature 123
bias 1                    negative: no bias; else the value of a constant last feature
rho 0.5                   one-class only: the prediction is the side of w . x - rho
w
0.1                       one line per feature, then one for the bias; one column per class, one for two classes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.files import Bytes, Source, written_whole
from .model import Model

START = b"solver_type"
_MOST_TEXT = 1 << 20  # the part before the weights is never longer


@dataclass(frozen=True)
class SolverType:
    """What one of LIBLINEAR's -s stands for."""

    number: int
    name: str
    loss: str
    penalty: str = "l2"
    task: str = "classification"


SOLVER_TYPES = (
    SolverType(0, "L2R_LR", "logistic"),
    SolverType(1, "L2R_L2LOSS_SVC_DUAL", "squared_hinge"),
    SolverType(2, "L2R_L2LOSS_SVC", "squared_hinge"),
    SolverType(3, "L2R_L1LOSS_SVC_DUAL", "hinge"),
    SolverType(4, "MCSVM_CS", "crammer_singer"),
    SolverType(5, "L1R_L2LOSS_SVC", "squared_hinge", "l1"),
    SolverType(6, "L1R_LR", "logistic", "l1"),
    SolverType(7, "L2R_LR_DUAL", "logistic"),
    SolverType(11, "L2R_L2LOSS_SVR", "squared_epsilon_insensitive", task="regression"),
    SolverType(12, "L2R_L2LOSS_SVR_DUAL", "squared_epsilon_insensitive", task="regression"),
    SolverType(13, "L2R_L1LOSS_SVR_DUAL", "epsilon_insensitive", task="regression"),
    SolverType(21, "ONECLASS_SVM", "one_class", task="one_class"),
)
BY_NUMBER = {one.number: one for one in SOLVER_TYPES}
_BY_NAME = {one.name: one for one in SOLVER_TYPES}
# A prediction depends on the task and on whether scores are log-odds, on nothing else: any loss finds its like here.
_LIKE = {"classification": 1, "regression": 11, "one_class": 21}


def parse_liblinear(name: str, content: Bytes) -> Model:
    """The model in the text of a file."""
    try:
        facts, begin = _facts(content)
        return _model(facts, content, begin)
    except (ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"{name}: this LIBLINEAR model is damaged: {error}") from error


def _facts(content: Bytes) -> tuple[dict[str, list[str]], int]:
    """The lines before the weights by their first word, and where the weights begin."""
    head = bytes(content[:_MOST_TEXT])
    facts: dict[str, list[str]] = {}
    position = 0
    while True:
        end = head.find(b"\n", position)
        if end < 0:
            raise ValueError("there is no line 'w' with weights after it")
        words = head[position:end].decode("ascii", "replace").split()
        position = end + 1
        if words == ["w"]:
            return facts, position
        if words:
            facts[words[0]] = words[1:]


def _one(facts: dict[str, list[str]], key: str) -> str:
    if len(facts.get(key, [])) != 1:
        raise ValueError(f"a line '{key} ...' with one value is missing")
    return facts[key][0]


def _model(facts: dict[str, list[str]], content: Bytes, begin: int) -> Model:
    kind = _BY_NAME.get(_one(facts, "solver_type"))
    if kind is None:
        raise ValueError(f"unknown solver_type {facts['solver_type'][0]!r}")
    n_classes, n_features, bias = (
        int(_one(facts, "nr_class")),
        int(_one(facts, "nr_feature")),
        float(_one(facts, "bias")),
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
        intercepts = intercepts - float(_one(facts, "rho"))
    if columns == 1 and labels:  # LIBLINEAR's first class is the one above zero, ours the second
        labels = labels[::-1]
    settings = {"liblinear": kind.name, "bias": bias, "penalty": kind.penalty}
    return Model(weights, intercepts, kind.task, labels if kind.task == "classification" else (), kind.loss, settings)


def _weights(content: Bytes, begin: int, rows: int, columns: int) -> NDArray[np.float64]:
    words = bytes(content[begin:]).split()
    if rows < 0 or len(words) != rows * columns:
        raise ValueError(f"{len(words)} weights, expected {rows} x {columns}")
    w = (
        np.array(words, dtype=np.bytes_).astype(np.float64).reshape(rows, columns)
        if words
        else np.empty((rows, columns))
    )
    if not np.isfinite(w).all():
        raise ValueError("a weight is not finite")
    return w


def write_liblinear(model: Model, target: Source, *, dtype: str = "float64", sparse: bool = False) -> None:
    """Writes the model so that LIBLINEAR's own predict gives the same predictions."""
    if sparse:
        raise ValueError("LIBLINEAR's format has no sparse storage: leave it out, or save a .wm file")
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
        for at in range(0, len(weights), 4096):
            file.write(_text(weights[at : at + 4096]))


def _text(weights: NDArray[np.float64]) -> bytes:
    return "".join("".join(f"{value:.17g} " for value in row) + "\n" for row in weights.tolist()).encode()


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
    if known in _BY_NAME and _BY_NAME[known].task == model.task:
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
