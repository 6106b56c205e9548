"""LIBLINEAR's model files: the lines before the weights, and what their words stand for.

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

from typing import NamedTuple

from ..data.files import Bytes

START = b"solver_type"
_MOST_TEXT = 1 << 20  # the part before the weights is never longer


class SolverType(NamedTuple):
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
BY_NAME = {one.name: one for one in SOLVER_TYPES}


def header_facts(content: Bytes) -> tuple[dict[str, list[str]], int]:
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


def one_word(facts: dict[str, list[str]], key: str) -> str:
    """The one word behind that key."""
    if len(facts.get(key, [])) != 1:
        raise ValueError(f"a line '{key} ...' with one value is missing")
    return facts[key][0]
