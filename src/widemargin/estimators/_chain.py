"""What the estimators over sequences share: reading sequences, fitting, labelling, scoring, files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import _core
from ..data.files import Source
from ..data.matrix import Matrix
from ..data.sequences import Attributes, Sequences, is_matrix, join_matrices, read_labels, read_matrix
from ..data.spans import SpanScore, score_spans
from ..numbers import as_whole
from ..objective.chains.problem import ChainProblem
from ..objective.class_weights import balanced_factors, given_factors
from ..objective.points import Point
from ..solvers.solve import solve
from ..vectors import Vector
from ._shared import seed_of
from ._solved import SolvedModel

Table = NDArray[np.float64]


class ChainModel(SolvedModel):
    """Labels the tokens of sequences. Subclasses hold the parameters and build the problem."""

    classes_: NDArray[Any]
    _coef: Vector  # as the problem lays it out
    _tagging: dict[str, Any] | None = None  # how `widemargin tag` reads files for it (data/tagging/formats.py)

    def _problem(self, X: Any, y: Any, lengths: Any, weight: Vector) -> ChainProblem:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, lengths: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : list of sequences, or matrix of shape (tokens, features)
            A sequence is a list of tokens, each a dict of features or a list of strings; or a matrix, a row per token.
            One matrix of all tokens is cut by `lengths`.
        y : list of lists of labels, or array of shape (tokens,)
        lengths : list of int, optional
            The tokens of each sequence, where X is one matrix; by default it is one sequence.
        sample_weight : array of shape (sequences,), optional
            Multiplies C per sequence; a weight of two counts as the sequence given twice.

        Returns
        -------
        self
        """
        last = (self.classes_, self._names(), self._coef) if self.warm_start and hasattr(self, "_coef") else None
        found = self._learnt(X, lengths)
        labels = read_labels(y, found)
        weight = self._sequence_weights(labels, found, sample_weight)
        problem = self._problem(Matrix(found.X), labels, found.lengths, weight)
        self.classes_ = problem.classes
        start = Point(last[2]) if last is not None and self._is_like(last, problem) else None
        solution = solve(
            problem,
            self.solver,
            tol=self.tol,
            max_seconds=self.max_seconds,
            seed=seed_of(None),
            n_jobs=self._threads(),
            warm_start=start,
        )
        self._coef, self._pairs = solution.coef, problem.pairs
        self.transitions_ = problem.transitions(solution.coef)
        # The dual point is as large as the data: what is kept of the run is the model and its proof.
        self._keep([replace(solution, dual=None, point=Point(solution.coef))])
        self._report_end(lambda number: problem)
        return self

    def _is_like(self, last: tuple[Any, Any, Vector], problem: ChainProblem) -> bool:
        """Whether the last model's coefficients mean the same in that problem."""
        classes, names, coef = last
        return np.array_equal(classes, problem.classes) and names == self._names() and len(coef) == problem.size

    def _names(self) -> list[str] | int:
        return self._attributes.names if self._attributes is not None else self.n_features_in_

    def _learnt(self, X: Any, lengths: Any) -> Sequences:
        """Training sequences; their attributes are learnt, those of too few tokens left out."""
        self._attributes: Attributes | None = None
        self._tagging = None
        least = as_whole("min_count", self.min_count, least=0)
        found = _from_matrices(X, lengths)
        if found is None:
            self._attributes = Attributes()
            found = self._attributes.read(_listed(X), learn=True)
            _require_sequences(found)
            if least > 1:
                found = self._attributes.pruned(found, least)
        elif least > 1:
            found = replace(found, X=_without_rare(found.X, least))
        self.n_features_in_ = int(found.X.shape[1])
        return found

    def _read(self, X: Any, lengths: Any) -> Sequences:
        """Sequences to be labelled."""
        check_is_fitted(self, "classes_")
        found = _from_matrices(X, lengths)
        if found is None:
            if self._attributes is None:
                raise TypeError("the model was fitted to matrices: give one matrix, or one for each sequence")
            return self._attributes.read(_listed(X))
        if self._attributes is not None and found.X.shape[1] != self.n_features_in_:
            raise ValueError("the model was fitted to attributes: give dicts or lists of strings")
        if found.X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {found.X.shape[1]} features, the model was fitted to {self.n_features_in_}")
        return found

    def _sequence_weights(self, labels: NDArray[Any], found: Sequences, sample_weight: Any) -> Vector:
        """sample_weight_i times the mean of class_weight over the sequence's labels."""
        n = len(found.lengths)
        weight: Vector = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != (n,):
            raise ValueError(f"sample_weight has shape {weight.shape}, expected {(n,)}: one for each sequence")
        if self.class_weight is None:
            return weight
        classes, codes = np.unique(labels, return_inverse=True)
        owner = np.repeat(np.arange(n), found.lengths)
        if isinstance(self.class_weight, str):
            if self.class_weight != "balanced":
                raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {self.class_weight!r}")
            factors = balanced_factors(codes, len(classes), weight[owner])
        else:
            factors = given_factors(classes.tolist(), self.class_weight)
        return weight * np.bincount(owner, weights=factors[codes], minlength=n) / found.lengths

    # What the model says of sequences.

    @property
    def coef_(self) -> Table:
        """The weights of features, labels x features."""
        check_is_fitted(self, "classes_")
        return np.ascontiguousarray(self._pairs.table(self._coef).T)

    def _scored(self, found: Sequences) -> tuple[_core.Chains, Vector, Vector]:
        """The sequences, the scores of their labels, and those of transitions, as native passes take them."""
        chains = _core.Chains(found.offsets, len(self.classes_))
        z = Matrix(found.X).matmat(self._pairs.table(self._coef), n_jobs=self._threads())
        return chains, z.reshape(-1), np.ascontiguousarray(self.transitions_).reshape(-1)

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """The best labeling of every sequence: lists of labels, or one array where X is one matrix."""
        return self.decode(X, lengths=lengths)

    def decode(self, X: Any, known: Any = None, lengths: Any = None) -> Any:
        """The best labeling among those that have the known labels.

        Parameters
        ----------
        X : as in `fit`
        known : like y in `fit`, None at places whose label is not known; optional
        lengths : list of int, optional
        """
        found = self._read(X, lengths)
        if len(found.lengths) == 0:
            return []
        chains, z, edge = self._scored(found)
        codes, scores = np.empty(chains.n_tokens, dtype=np.int32), np.empty(chains.n_sequences)
        none = np.empty(0, dtype=np.int32)
        fixed = none if known is None else self._known_codes(known, found)
        _core.chain_viterbi(chains, z, edge, np.empty(0), none, fixed, codes, scores, self._threads())
        return self._labelled(found, codes)

    def _labelled(self, found: Sequences, codes: NDArray[np.int32]) -> Any:
        labels = self.classes_[codes]
        return labels if found.flat else [part.tolist() for part in found.cut(labels)]

    def _known_codes(self, known: Any, found: Sequences) -> NDArray[np.int32]:
        """The numbers of known labels, -1 where none is."""
        number = {label: k for k, label in enumerate(self.classes_.tolist())}
        parts = found.cut(list(known)) if found.flat else [list(part) for part in known]
        flat = list(parts) if found.flat else [label for part in parts for label in part]
        counts = [len(flat)] if found.flat else [len(part) for part in parts]
        if counts != ([found.lengths.sum()] if found.flat else found.lengths.tolist()):
            raise ValueError("known must have one entry for each token: None where the label is not known")
        for token, label in enumerate(flat):
            if label is not None and label not in number:
                raise ValueError(f"{found.place(token)}: {label!r} is no label of the model")
        return np.array([-1 if label is None else number[label] for label in flat], dtype=np.int32)

    def predict_nbest(self, X: Any, n: int = 5, lengths: Any = None) -> list[list[tuple[list[Any], float]]]:
        """For every sequence its n best labelings, best first, each with its score; fewer where there are fewer."""
        found, n = self._read(X, lengths), as_whole("n", n, least=1)
        if len(found.lengths) == 0:
            return []
        chains, z, edge = self._scored(found)
        codes = np.zeros(n * chains.n_tokens, dtype=np.int32)
        scores, count = np.empty((chains.n_sequences, n)), np.empty(chains.n_sequences, dtype=np.int64)
        _core.chain_nbest(chains, z, edge, n, codes, scores.reshape(-1), count, self._threads())
        labels, offsets = self.classes_[codes], found.offsets
        best = []
        for i, length in enumerate(found.lengths):
            lines = labels[n * offsets[i] : n * offsets[i + 1]].reshape(n, length)
            best.append([(lines[r].tolist(), float(scores[i, r])) for r in range(count[i])])
        return best

    # Scores.

    def score(self, X: Any, y: Any, lengths: Any = None) -> float:
        """The share of tokens whose label is predicted right."""
        found = self._read(X, lengths)
        labels = read_labels(y, found)
        predicted = self.predict(X, lengths=lengths)
        flat = predicted if found.flat else [label for part in predicted for label in part]
        return float(np.mean(np.asarray(flat) == labels))

    def score_spans(self, X: Any, y: Any, lengths: Any = None) -> dict[str, SpanScore]:
        """Precision, recall and F1 of IOB spans as conlleval counts them: of each type, and under "" of all."""
        found = self._read(X, lengths)
        truth, predicted = read_labels(y, found), self.predict(X, lengths=lengths)
        cut = replace(found, flat=False).cut
        return score_spans(cut(truth), cut(np.asarray(predicted)) if found.flat else predicted)

    def top_features(self, n: int = 10) -> dict[Any, list[tuple[Any, float]]]:
        """For every label the n features of the largest weights in size, by name where they have one."""
        table = self.coef_
        names = self._attributes.names if self._attributes is not None else range(self.n_features_in_)
        best = {}
        for label, weights in zip(self.classes_.tolist(), table, strict=True):
            order = np.argsort(-np.abs(weights), kind="stable")[:n]
            best[label] = [(names[j], float(weights[j])) for j in order if weights[j] != 0]
        return best

    def save(self, target: Source) -> None:
        """Writes the model to a `.wm` file; `widemargin.load_model` reads it."""
        from ..model.chain_store import write_chain

        check_is_fitted(self, "classes_")
        write_chain(self, target)


def _from_matrices(X: Any, lengths: Any) -> Sequences | None:
    """Sequences given as one matrix, or as one each; None for tokens with attributes."""
    if is_matrix(X):
        return read_matrix(X, lengths)
    if lengths is not None:
        raise ValueError("lengths belong to one matrix of all tokens: X is a list of sequences, which have their own")
    if isinstance(X, list | tuple) and len(X) > 0 and is_matrix(X[0]):
        return join_matrices(list(X))
    return None


def _listed(X: Any) -> Any:
    if isinstance(X, str | dict) or not hasattr(X, "__iter__"):
        raise TypeError(f"X must be a list of sequences or a matrix, got {type(X).__name__}")
    return X


def _require_sequences(found: Sequences) -> None:
    if len(found.lengths) == 0:
        raise ValueError("X holds no sequence: one at least is needed")


def _without_rare(X: Any, least: int) -> Any:
    """The tokens with zeros for features of fewer tokens than that."""
    import scipy.sparse as sp

    rows = sp.csr_array(X)
    rows.eliminate_zeros()
    rare = np.bincount(rows.indices, minlength=rows.shape[1]) < least
    rows.data = np.where(rare[rows.indices], 0.0, rows.data)
    rows.eliminate_zeros()
    return rows
