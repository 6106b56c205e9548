"""A model as ONNX: plain operators (MatMul, Add, Gather, ...), so that any runtime gives the same predictions.

    input   X              (rows, features), float64, or float32 if asked
    output  label          (rows,) the predicted class in its own type; in regression, `prediction` instead
            scores         (rows, rows of weights)
            probabilities  (rows, classes), of logistic models

ONNX has operators of its own for linear models, but those compute in float32: predictions would differ.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.files import Source, written_whole
from .model import Model

OPSET = 17
IR_VERSION = 8  # of the time of that opset: runtimes refuse what is newer than they are
MOST_BYTES = 2**31 - 2**20  # what one protobuf message can hold, with room for the rest


def to_onnx(model: Model, dtype: str = "float64") -> Any:
    """An onnx.ModelProto.

    Examples
    --------
    >>> from widemargin import Model
    >>> made = Model([[1.0, -1.0]], [0.5], classes=["no", "yes"]).to_onnx()
    >>> [output.name for output in made.graph.output]
    ['label', 'scores']
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("export to ONNX needs onnx: pip install 'widemargin[onnx]'") from error
    if model.weights.shape[0] * model.weights.shape[1] * np.dtype(dtype).itemsize > MOST_BYTES:
        raise ValueError("this model is larger than an ONNX file can be (2 GB): use --dtype float32, or a .wm file")
    graph = _Graph(onnx, np.dtype(dtype))
    _fill(graph, model)
    made = onnx.helper.make_model(
        graph.proto(model),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="widemargin",
        producer_version=model.version,
    )
    onnx.helper.set_model_props(made, {"task": model.task, "loss": model.loss, "decision": model.decision})
    onnx.checker.check_model(made)
    return made


def write_onnx(model: Model, target: Source, *, dtype: str = "float64", sparse: bool = False) -> None:
    """Writes the ONNX model; a path appears only when it is complete."""
    if sparse:
        raise ValueError("ONNX models are stored dense: leave --sparse out, or save a .wm file")
    content = to_onnx(model, dtype).SerializeToString()
    with written_whole(target) as file:
        file.write(content)


class _Graph:
    """Nodes, constants and outputs, as they are added."""

    def __init__(self, onnx: Any, dtype: np.dtype[Any]) -> None:
        self.onnx, self.dtype = onnx, dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def add(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """A node with one output, whose name is returned."""
        output = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def constant(self, values: Any) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def real(self, values: Any) -> str:
        """A constant in the type of the computation."""
        with np.errstate(over="ignore"):
            array = np.asarray(values, dtype=self.dtype)
        if not np.isfinite(array).all():
            raise ValueError("a weight is too large for float32: use float64")
        return self.constant(array)

    def output(self, name: str, element: Any, *shape: Any) -> None:
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, element, ["rows", *shape]))

    def element(self, array: NDArray[Any]) -> Any:
        """ONNX's word for the type of an array."""
        if array.dtype.kind == "O":
            return self.onnx.TensorProto.STRING
        return self.onnx.helper.np_dtype_to_tensor_dtype(array.dtype)

    @property
    def number(self) -> Any:
        """ONNX's word for the type of the computation."""
        return self.onnx.helper.np_dtype_to_tensor_dtype(self.dtype)

    def proto(self, model: Model) -> Any:
        inputs = [self.onnx.helper.make_tensor_value_info("X", self.number, ["rows", model.n_features])]
        return self.onnx.helper.make_graph(self.nodes, "widemargin", inputs, self.outputs, self.constants)


def _fill(graph: _Graph, model: Model) -> None:
    product = graph.add("MatMul", "X", graph.real(np.ascontiguousarray(model.dense_weights().T)))
    scores = graph.add("Add", product, graph.real(model.intercepts), name="scores")
    if model.task == "regression":
        graph.add("Squeeze", scores, graph.constant(np.array([1])), name="prediction")
        graph.output("prediction", graph.number)
    else:
        labels = _labels(model)
        graph.add("Gather", graph.constant(labels), _chosen(graph, model, scores), name="label")
        graph.output("label", graph.element(labels))
    graph.output("scores", graph.number, len(model.intercepts))
    if model.has_probabilities:
        _probabilities(graph, model, scores)


def _labels(model: Model) -> NDArray[Any]:
    """The classes as one array: whole numbers, numbers or text."""
    kinds = {type(label) for label in model.labels}
    if kinds == {int}:
        return np.array(model.labels, dtype=np.int64)
    if kinds <= {int, float}:
        return np.array(model.labels, dtype=np.float64)
    return np.array([str(label) for label in model.labels], dtype=object)


def _chosen(graph: _Graph, model: Model, scores: str) -> str:
    """The position of the class that the scores choose."""
    if len(model.intercepts) == 1:
        above = graph.add("Greater", scores, graph.real(0.0))
        position = graph.add("Cast", above, to=graph.onnx.TensorProto.INT64)
        return graph.add("Squeeze", position, graph.constant(np.array([1])))
    if model.decision == "pairs":
        scores = _votes(graph, model, scores)
    return graph.add("ArgMax", scores, axis=1, keepdims=0)


def _votes(graph: _Graph, model: Model, scores: str) -> str:
    """Votes per class, and between equals the sum of the pairs' scores: see `multiclass.one_vs_one.vote_table`."""
    pairs = list(combinations(range(len(model.classes)), 2))
    first, second = np.zeros((2, len(pairs), len(model.classes)))
    for at, (p, q) in enumerate(pairs):
        first[at, p] = second[at, q] = 1.0
    wins = graph.add("Cast", graph.add("Greater", scores, graph.real(0.0)), to=graph.number)
    # A pair votes for its second class, or for its first: wins @ second + (1 - wins) @ first.
    votes = graph.add("Add", graph.add("MatMul", wins, graph.real(second - first)), graph.real(first.sum(axis=0)))
    strength = graph.add("MatMul", scores, graph.real(second - first))
    room = graph.add("Add", graph.add("Abs", strength), graph.real(1.0))
    squeezed = graph.add("Div", strength, graph.add("Mul", room, graph.real(3.0)))
    return graph.add("Add", votes, squeezed)


def _probabilities(graph: _Graph, model: Model, scores: str) -> None:
    each = graph.add("Sigmoid", scores)
    if len(model.intercepts) == 1:
        other = graph.add("Sigmoid", graph.add("Neg", scores))
        graph.add("Concat", other, each, name="probabilities", axis=1)
    else:
        total = graph.add("ReduceSum", each, graph.constant(np.array([1])), keepdims=1)
        graph.add("Div", each, graph.add("Max", total, graph.real(np.finfo(graph.dtype).tiny)), name="probabilities")
    graph.output("probabilities", graph.number, len(model.classes))
