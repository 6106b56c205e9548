"""A trained linear model, apart from how it was trained: weights, classes, settings and certificates.

    score_k(x) = x . w_k + b_k          k = 1..K rows of weights

| task | rows of weights | prediction |
|---|---|---|
| classification, two classes | 1 | the second class where the score is above zero, else the first |
| classification, more (or two, jointly trained) | one per class | the largest score, the first of equals |
| classification, decision "pairs" | one per pair: (1,2), (1,3), ..., (2,3), ... | the class most pairs vote for |
| regression | 1 | the score |
| one_class | 1 | +1 where the score is above zero, else -1 |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..data.files import Source
from ..data.matrix import Matrix
from ..data.sparse_rows import as_scipy, is_sparse
from ..objective.losses import LOSSES

if TYPE_CHECKING:
    from ..solvers.run.solution import Solution

TASKS = ("classification", "regression", "one_class")
DECISIONS = ("scores", "pairs")


@dataclass(frozen=True)
class Model:
    """A linear model that can be saved, loaded and used to predict.

    Parameters
    ----------
    weights : array or scipy.sparse array of shape (rows of weights, features)
        One row for two classes, regression and one-class; otherwise one row per class.
    intercepts : array of shape (rows of weights,)
    task : {"classification", "regression", "one_class"}
    classes : list of numbers or of str
        In the order of the rows of weights; of two classes the second one is predicted above zero.
    loss : str
        The loss it was trained with; "logistic" can predict probabilities.
    settings : dict
        How it was trained; anything JSON can hold.
    certificates : list of dict
        One per row of weights: objective, dual bound, relative gap, status.
    features : dict
        How rows were made from the file: names of the columns, encodings, hashing.
    version : str
        The Widemargin that trained it.
    decision : {"scores", "pairs"}
        What the rows of weights speak for: classes, or pairs of classes that vote.

    Examples
    --------
    >>> import os, tempfile
    >>> from widemargin.model import Model, load_model
    >>> model = Model([[1.0, -1.0]], [0.5], classes=["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "a.wm"))
    ...     load_model(os.path.join(folder, "a.wm")).predict([[0.0, 0.0], [0.0, 1.0]])
    ['yes', 'no']
    """

    weights: Any
    intercepts: Any
    task: str = "classification"
    classes: Sequence[Any] = ()
    loss: str = "squared_hinge"
    settings: Mapping[str, Any] = field(default_factory=dict)
    certificates: Sequence[Mapping[str, Any]] = ()
    features: Mapping[str, Any] = field(default_factory=dict)
    version: str = __version__
    decision: str = "scores"

    def __post_init__(self) -> None:
        sparse = is_sparse(self.weights)
        weights = as_scipy(self.weights) if sparse else np.atleast_2d(np.asarray(self.weights))
        if weights.dtype.kind != "f":
            weights = weights.astype(np.float64)
        intercepts = np.atleast_1d(np.asarray(self.intercepts, dtype=np.float64))
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "intercepts", intercepts)
        object.__setattr__(self, "classes", [plain_label(label) for label in self.classes])
        if self.task not in TASKS:
            raise ValueError(f"unknown task {self.task!r}: use one of {', '.join(TASKS)}")
        if weights.ndim != 2 or intercepts.shape != (weights.shape[0],):
            raise ValueError(f"weights have shape {weights.shape}, intercepts {intercepts.shape}: they must agree")
        if self.decision not in DECISIONS:
            raise ValueError(f"unknown decision {self.decision!r}: use one of {', '.join(DECISIONS)}")
        expected = _rows_expected(self.task, len(self.classes), self.decision)
        if weights.shape[0] not in expected:
            raise ValueError(
                f"a model with {len(self.classes)} classes has {expected[0]} row(s) of weights, not {weights.shape[0]}"
            )
        if len(set(self.classes)) != len(self.classes):
            raise ValueError("a class appears twice")
        if not (np.isfinite(weights.data if sparse else weights).all() and np.isfinite(intercepts).all()):
            raise ValueError("weights and intercepts must be finite")

    @property
    def n_features(self) -> int:
        """How many features a row has."""
        return int(self.weights.shape[1])

    @property
    def nonzeros(self) -> int:
        """How many weights are not zero."""
        return int(self.weights.count_nonzero() if is_sparse(self.weights) else np.count_nonzero(self.weights))

    @property
    def feature_names(self) -> Sequence[str] | None:
        """The names of the features, if they have any."""
        return self.features.get("names")

    @property
    def has_probabilities(self) -> bool:
        """Whether the scores are log-odds."""
        return self._log_odds and self.task == "classification" and self.decision == "scores"

    @property
    def _log_odds(self) -> bool:
        return self.loss in LOSSES and LOSSES[self.loss].usual.probabilities

    def dense_weights(self) -> NDArray[Any]:
        """The weights as an array of shape (rows of weights, features)."""
        dense: NDArray[Any] = self.weights.toarray() if is_sparse(self.weights) else self.weights
        return dense

    def scores(self, X: Any, n_jobs: int = 1) -> NDArray[np.float64]:
        """x . w_k + b_k, of shape (rows, rows of weights)."""
        rows = X if isinstance(X, Matrix) else Matrix(X)
        if rows.shape[1] != self.n_features:
            raise ValueError(f"X has {rows.shape[1]} features, the model has {self.n_features}")
        if len(self.intercepts) == 1:
            w = self.dense_weights()[0].astype(np.float64, copy=False)
            return rows.matvec(w, float(self.intercepts[0]), n_jobs=n_jobs)[:, np.newaxis]
        scores: NDArray[np.float64] = rows.matmat(self._by_feature, n_jobs=n_jobs) + self.intercepts
        return scores

    @property
    def _by_feature(self) -> NDArray[np.float64]:
        """The weights of all rows feature by feature; made once and kept."""
        kept: NDArray[np.float64] | None = self.__dict__.get("_kept_by_feature")
        if kept is None:
            kept = np.ascontiguousarray(self.dense_weights().T, dtype=np.float64)
            object.__setattr__(self, "_kept_by_feature", kept)
        return kept

    def chosen(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Which class those scores choose, by its position."""
        if self.decision == "pairs":
            from ..multiclass.one_vs_one import vote_table

            scores = vote_table(scores, len(self.classes))
            return np.asarray(np.argmax(scores, axis=1), dtype=np.intp)
        if scores.shape[1] == 1:
            return (scores[:, 0] > 0).astype(np.intp)
        return np.asarray(np.argmax(scores, axis=1), dtype=np.intp)

    def predict(self, X: Any) -> list[Any]:
        """The predicted class, or the predicted number, of each row."""
        scores = self.scores(X)
        if self.task == "regression":
            return list(scores[:, 0].tolist())
        labels = self.labels
        return [labels[i] for i in self.chosen(scores)]

    @property
    def labels(self) -> list[Any]:
        """What `chosen` counts through."""
        return [-1, 1] if self.task == "one_class" else list(self.classes)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of each class, in the order of `classes`."""
        if not self.has_probabilities:
            pairs = ", one class against the rest" if self._log_odds else f", this one has {self.loss}"
            raise ValueError(f"probabilities need a model trained with loss logistic{pairs}")
        each = 0.5 * (1 + np.tanh(0.5 * scores))  # 1 / (1 + exp(-score)), without overflow
        if each.shape[1] == 1:
            return np.column_stack([1 - each[:, 0], each[:, 0]])
        return np.asarray(each / np.maximum(each.sum(axis=1, keepdims=True), np.finfo(float).tiny))

    def save(self, target: Source, *, dtype: str = "float64", sparse: bool = False) -> None:
        """Writes a `.wm` file; a LIBLINEAR model where the name ends in `.model` or `.liblinear`; ONNX for `.onnx`.

        Parameters
        ----------
        target : path or binary file
            A path appears only when complete.
        dtype : {"float64", "float32"}
            float32 halves the file and rounds the weights.
        sparse : bool
            Store the nonzero weights only.
        """
        from .open import writer_of

        writer_of(target)(self, target, dtype=dtype, sparse=sparse)

    def to_sklearn(self) -> Any:
        """The same model as a fitted scikit-learn estimator, which needs no Widemargin to predict."""
        from .sklearn_export import to_sklearn

        return to_sklearn(self)

    def to_onnx(self) -> Any:
        """The same model as an ONNX model (`widemargin[onnx]`), which any ONNX runtime predicts with."""
        from .onnx_export import to_onnx

        return to_onnx(self)

    def speaks_for(self, k: int) -> tuple[NDArray[np.float64], float]:
        """The weights and the intercept of the score that speaks for the class at position k.

        Of two classes with one score it is that score, whichever class it chooses; with pairs, the sum over the pairs
        of the class.
        """
        weights = self.dense_weights()
        if self.decision == "pairs":
            signs = np.array([(q == k) - float(p == k) for p, q in combinations(range(len(self.classes)), 2)])
            return signs @ weights, float(signs @ self.intercepts)
        row = k if len(self.intercepts) > 1 else 0
        return np.asarray(weights[row], dtype=np.float64), float(self.intercepts[row])

    def row_titles(self) -> list[str]:
        """What each row of weights speaks for."""
        if self.decision == "pairs":
            return [f"{p} < 0 < {q}" for p, q in combinations(self.classes, 2)]
        if len(self.intercepts) > 1:
            return [str(label) for label in self.classes]
        return [f"{self.classes[0]} < 0 < {self.classes[1]}" if self.classes else self.task]

    def top_features(self, row: int, most: int = 10) -> list[tuple[str, float]]:
        """The features with the largest weights of either sign in a row of weights, strongest first."""
        w = np.asarray(self.dense_weights()[row], dtype=np.float64)
        most = min(most, int(np.count_nonzero(w)))
        strongest = np.argsort(-np.abs(w), kind="stable")[:most]
        return [(self.name_of(int(j)), float(w[j])) for j in strongest]

    def name_of(self, column: int) -> str:
        """The name of a feature; its number as the file counts where it has none."""
        names = self.feature_names
        if names:
            return str(names[column])
        return str(column + (0 if self.features.get("zero_based") else 1))

    def __repr__(self) -> str:
        kind = f"{len(self.classes)} classes" if self.classes else self.task
        return f"Model({kind}, {self.n_features:,} features, {self.nonzeros:,} nonzeros, loss={self.loss!r})"


def _rows_expected(task: str, n_classes: int, decision: str) -> tuple[int, ...]:
    if task != "classification":
        return (1,)
    if decision == "pairs":
        return (n_classes * (n_classes - 1) // 2,)
    if n_classes < 2:
        raise ValueError(f"a classification model has two classes or more, not {n_classes}")
    return (1, 2) if n_classes == 2 else (n_classes,)


def plain_label(label: Any) -> Any:
    """A label as JSON keeps it: a whole number as int, text as str."""
    kinds: dict[str, Callable[[Any], Any]] = {"b": int, "i": int, "u": int, "f": _number, "U": str, "S": str}
    kind = np.asarray(label).dtype.kind
    if kind not in kinds:
        raise ValueError(f"a class must be a number or text, got {label!r}")
    return kinds[kind](label)


def _number(value: Any) -> int | float:
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"a class must be finite, got {value}")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def certificate_facts(solution: Solution) -> dict[str, Any]:
    """What a model keeps of a solution, in JSON's types; what is not finite becomes None."""
    found = solution.certificate
    numbers = {
        "objective": found.primal,
        "dual": found.dual,
        "gap": found.gap,
        "relative_gap": found.relative_gap,
        "seconds": solution.seconds,
        "passes": solution.trace[-1].passes if len(solution.trace) else math.nan,
    }
    facts: dict[str, Any] = {k: float(v) if math.isfinite(v) else None for k, v in numbers.items()}
    return facts | {"status": str(solution.status), "solver": solution.solver, "iterations": solution.n_iter}
