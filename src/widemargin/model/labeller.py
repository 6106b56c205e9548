"""A saved model that does nothing but label lines of LIBSVM text, without NumPy.

Loading NumPy takes longer than predicting some ten megabytes. So for the commonest use, labels for the rows of a text
file, the model's numbers go from its file straight to the core. Whatever is not plain (regression, pairs, sparse or
float32 storage, tables, a file that is damaged) is left to `load_model`, which also knows what to say about it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from .. import _core
from ..data.files import Bytes, read_whole
from .liblinear_text import BY_NAME, START, header_facts, one_word
from .wm_header import ALIGN, MAGIC, checked_header


def labeller(path: str) -> _core.SvmlightLabeller | None:
    """The model in that file as a labeller of text; None where it takes the whole model.

    Examples
    --------
    >>> import os, tempfile
    >>> from widemargin import Model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.wm")
    ...     Model([[1.0, -1.0]], [0.0], classes=["no", "yes"]).save(path)
    ...     labeller(path).label(b"1 1:2\\n1 2:3\\n")
    (b'yes\\nno\\n', 2, 2, 0)
    """
    _, content = read_whole(path)
    for start, read in ((MAGIC, _from_wm), (START, _from_liblinear)):
        if content[: len(start)] == start:
            try:
                return read(content)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
                return None  # what is wrong is said by load_model
    return None


def _from_wm(content: Bytes) -> _core.SvmlightLabeller | None:
    header, begin = checked_header(content)
    arrays, features = header["arrays"], header["features"]
    plain = sorted(arrays) == ["intercepts", "weights"] and all(one["dtype"] == "<f8" for one in arrays.values())
    if not plain or "columns" in features or header.get("decision", "scores") != "scores":
        return None
    labels = {"classification": header["classes"], "one_class": [-1, 1]}.get(header["task"])
    if labels is None or len(arrays["weights"]["shape"]) != 2 or _array(content, begin, arrays["intercepts"]) is None:
        return None
    return _labeller(
        _array(content, begin, arrays["weights"]),
        _array(content, begin, arrays["intercepts"]),
        labels,
        n_features=int(arrays["weights"]["shape"][1]),
        by_feature=False,
        zero_based=features.get("format") == "svm" and bool(features.get("zero_based")),
    )


def _array(content: Bytes, begin: int, facts: dict[str, Any]) -> Any:
    """The numbers of an array; None where it lies outside of the file."""
    count = 1
    for n in facts["shape"]:
        count *= int(n)
    first = begin + int(facts["offset"])
    if min([first - begin, *facts["shape"]]) < 0 or first % ALIGN or first + 8 * count > len(content):
        return None
    return memoryview(content)[first : first + 8 * count].cast("d")


def _from_liblinear(content: Bytes) -> _core.SvmlightLabeller | None:
    facts, begin = header_facts(content)
    kind = BY_NAME[one_word(facts, "solver_type")]
    if kind.task != "classification":
        return None
    labels = [int(word) for word in facts["label"]]
    n_classes, n_features, bias = len(labels), int(one_word(facts, "nr_feature")), float(one_word(facts, "bias"))
    if n_classes != int(one_word(facts, "nr_class")) or n_classes < 2:
        return None
    columns = n_classes if n_classes > 2 or kind.loss == "crammer_singer" else 1
    count = (n_features + (bias >= 0)) * columns
    if not 0 <= count <= len(content):
        return None
    numbers = array("d", bytes(8 * count))
    text: Any = memoryview(content)[begin:]
    target: Any = numbers
    if not _core.fill_numbers(text, target):
        return None
    intercepts = array("d", [w * bias for w in numbers[n_features * columns :]] or [0.0] * columns)
    if columns == 1:  # LIBLINEAR's first class is the one above zero, ours the second
        labels = labels[::-1]
    weights = numbers[: n_features * columns]
    return _labeller(weights, intercepts, labels, n_features=n_features, by_feature=True, zero_based=False)


def _labeller(weights: Any, intercepts: Any, labels: Sequence[Any], **form: Any) -> _core.SvmlightLabeller:
    if len(set(labels)) != len(labels) or any(type(label) not in (int, float, str) for label in labels):
        raise ValueError("labels must be numbers or text, none twice")
    words = [f"{label}\n" for label in labels]
    return _core.svmlight_labeller(weights, intercepts, words=words, labels=list(map(_number, labels)), **form)


def _number(label: Any) -> float:
    """The label as the data may hold it; text that is no number is found in no row."""
    try:
        return float(label)
    except ValueError:
        return float("nan")
