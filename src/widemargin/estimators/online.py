"""scikit-learn estimators that learn from a stream: `partial_fit` on batch after batch, each row seen once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite, check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..data.matrix import Matrix
from ..objective.labels import real_targets, row_weights
from ..objective.losses import LOSSES, LossesThat
from ..online.learner import OnlineLearner, OnlineSpec, Progress
from ..vectors import Vector

HEADER = (
    f"{'average':>12} {'since':>12} {'example':>12} {'example':>14} {'current':>10} {'current':>10}\n"
    f"{'loss':>12} {'last':>12} {'counter':>12} {'weight':>14} {'label':>10} {'predict':>10}"
)


class _Online(BaseEstimator):  # type: ignore[misc]
    """What the two estimators share."""

    _classification: ClassVar[bool]

    def __init__(
        self,
        loss: str,
        *,
        method: str = "adagrad",
        learning_rate: float = 0.5,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        average: bool = False,
        fit_intercept: bool = True,
        hash_bits: int | None = None,
        n_passes: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.loss = loss
        self.method = method
        self.learning_rate = learning_rate
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
        self.average = average
        self.fit_intercept = fit_intercept
        self.hash_bits = hash_bits
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # What is learned, in the words of scikit-learn.

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of shape (n_outputs, n_features); with hash_bits, one per cell of the hashed table."""
        return self._learner().weights()[0]

    @property
    def intercept_(self) -> Vector:
        """One intercept per output."""
        return self._learner().weights()[1]

    @property
    def progressive_loss_(self) -> float:
        """Mean loss of the predictions made for each row before it was learned."""
        return self._learner().progressive_loss

    @property
    def n_seen_(self) -> int:
        """Rows learned from so far."""
        return int(self._learner().totals[0])

    def _learner(self) -> OnlineLearner:
        if "learner_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has learned nothing yet: call fit or partial_fit first")
        learner: OnlineLearner = self.learner_
        return learner

    # Data in.

    def _matrix(self, X: Any, *, first: bool) -> Matrix:
        """X checked. A hashed table takes batches of any width."""
        check: dict[str, Any] = {
            "accept_sparse": "csr",
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": False,  # Matrix checks it, and names the row and the column
        }
        if self.hash_bits is not None and not first:
            return Matrix(check_array(X, **check))
        return Matrix(validate_data(self, X, reset=first, **check))

    def _begin(self, n_outputs: int) -> None:
        able = [
            name
            for name, known in LOSSES.items()
            if known.classification == self._classification and all(hasattr(self, one) for one in known.parameters)
        ]
        if self.loss not in able:
            raise ValueError(f"{type(self).__name__} takes one of the losses {', '.join(able)}; got {self.loss!r}")
        if self.hash_bits is not None and not 1 <= self.hash_bits <= 30:
            raise ValueError(f"hash_bits must be between 1 and 30, got {self.hash_bits!r}")
        if self.n_passes < 1:
            raise ValueError(f"n_passes must be at least 1, got {self.n_passes!r}")
        spec = OnlineSpec(
            loss=self.loss,
            n_outputs=n_outputs,
            width=self.n_features_in_ if self.hash_bits is None else 1 << self.hash_bits,
            hashed=self.hash_bits is not None,
            method=self.method,
            learning_rate=self.learning_rate,
            beta=self.beta,
            l1=self.l1,
            l2=self.l2,
            average=self.average,
            fit_intercept=self.fit_intercept,
            parameters={name: getattr(self, name) for name in LOSSES[self.loss].parameters},
        )
        self.learner_ = OnlineLearner(spec)

    def _learn_passes(self, X: Matrix, y: Vector) -> None:
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        report = self._reporter()
        for _ in range(self.n_passes):
            order = rng.permutation(X.shape[0]) if self.shuffle else np.arange(X.shape[0])
            self.learner_.learn(X, y, order=order.astype(np.int64), report=report)

    def _learn_batch(self, X: Matrix, y: Vector, sample_weight: Any) -> None:
        weight = None if sample_weight is None else row_weights(1.0, sample_weight, X.shape[0])
        self.learner_.learn(X, y, weight, report=self._reporter())

    def _reporter(self) -> Callable[[Progress], Any] | None:
        if not self.verbose:
            return None
        if self.learner_.totals[0] == 0:
            print(HEADER)
        return self._show

    def _show(self, progress: Progress) -> None:
        print(
            f"{progress.average_loss:12.6f} {progress.since_last:12.6f} {progress.rows:12d} "
            f"{progress.weight:14.1f} {self._named(progress.label):>10} {self._named(progress.prediction):>10}"
        )

    def _named(self, value: float) -> str:
        return f"{value:.4g}"

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.learner_.predict(self._matrix(X, first=False))

    # Saving.

    def get_state(self) -> dict[str, Any]:
        """All that is needed to continue exactly, as plain values and arrays; `set_state` takes it back."""
        check_is_fitted(self)
        kept = {name: value for name, value in vars(self).items() if name.endswith("_") and name != "learner_"}
        return {"learner": self.learner_.get_state(), "fitted": kept}

    def set_state(self, state: dict[str, Any]) -> Self:
        """Continues where `get_state` was asked, in this or another process."""
        self.learner_ = OnlineLearner.from_state(state["learner"])
        for name, value in state["fitted"].items():
            setattr(self, name, value)
        return self


class OnlineClassifier(ClassifierMixin, _Online):  # type: ignore[misc]
    """A linear classifier that learns row by row, from data of unknown length.

    Parameters
    ----------
    loss : {"logistic", "hinge", "squared_hinge", "modified_huber"}
    method : {"adagrad", "ftrl"}
        "adagrad": adaptive, normalized learning rates whose steps never overshoot; insensitive to the features' scale.
        "ftrl": FTRL-Proximal, for weights that are exactly zero.
    learning_rate : float
        eta of adagrad, alpha of FTRL.
    beta : float
        The other constant of FTRL's rate.
    l1, l2 : float
        Penalties, for "ftrl".
    average : bool
        Answer with the mean of the weights over all rows, for "adagrad".
    fit_intercept : bool
    hash_bits : int, optional
        Hash the columns into a table of 2**hash_bits weights: memory is bounded, and batches may differ in width.
    n_passes : int
        Passes that `fit` makes; `partial_fit` makes one.
    shuffle : bool
        Whether `fit` takes the rows in random order; `partial_fit` takes them as they come.
    random_state : int, optional
        None means 0, so that the same call gives the same model.
    verbose : bool
        Print the progressive loss whenever the number of rows seen is a power of two.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) for two classes, (n_classes, n_features) for more (one against the rest)
    intercept_ : array
    progressive_loss_ : float
        Mean loss of the predictions made for each row before it was learned: an honest estimate on unseen data.
    progressive_error_ : float
        The same for the share of wrong guesses.
    n_seen_ : int
    n_features_in_ : int

    Notes
    -----
    Weights of rows are given to `partial_fit`, where a row's place in the stream counts: a weight of two is not the
    same as the row coming by twice. So `fit` takes none.

    Examples
    --------
    >>> from widemargin import OnlineClassifier
    >>> model = OnlineClassifier()
    >>> for _ in range(20):
    ...     model = model.partial_fit([[0.0], [3.0]], ["no", "yes"], classes=["no", "yes"])
    >>> model.predict([[0.2], [2.8]]).tolist()
    ['no', 'yes']
    >>> model.n_seen_
    40
    """

    _classification = True

    def __init__(
        self,
        loss: str = "logistic",
        *,
        method: str = "adagrad",
        learning_rate: float = 0.5,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        average: bool = False,
        fit_intercept: bool = True,
        hash_bits: int | None = None,
        n_passes: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        super().__init__(
            loss,
            method=method,
            learning_rate=learning_rate,
            beta=beta,
            l1=l1,
            l2=l2,
            average=average,
            fit_intercept=fit_intercept,
            hash_bits=hash_bits,
            n_passes=n_passes,
            shuffle=shuffle,
            random_state=random_state,
            verbose=verbose,
        )

    def fit(self, X: Any, y: Any) -> Self:
        """Forgets what was learned, then makes `n_passes` passes over the rows."""
        matrix = self._matrix(X, first=True)
        labels = self._labels(y, matrix.shape[0])
        self._begin_with(np.unique(labels))
        self._learn_passes(matrix, self._codes(labels))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns from one more batch, in the order of its rows.

        Parameters
        ----------
        X : matrix of shape (rows, features)
        y : array of shape (rows,)
        classes : array, needed in the first call
            All classes that may ever come.
        sample_weight : array of shape (rows,), optional
            How much each row counts; a row of weight zero is skipped.
        """
        first = "learner_" not in vars(self)
        if first and classes is None:
            raise ValueError("the first call of partial_fit needs `classes`: all labels that may ever come")
        matrix = self._matrix(X, first=first)
        labels = self._labels(y, matrix.shape[0])
        if first:
            self._begin_with(np.unique(np.asarray(classes)))
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(f"classes are {np.unique(classes).tolist()}, in the first call {self.classes_.tolist()}")
        self._learn_batch(matrix, self._codes(labels), sample_weight)
        return self

    def _labels(self, y: Any, rows: int) -> NDArray[Any]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: a classifier learns from labels")
        labels: NDArray[Any] = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        if len(labels) != rows:
            raise ValueError(f"y has {len(labels)} entries, X has {rows} rows: they must agree")
        return labels

    def _begin_with(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise ValueError(f"there is one class only ({classes.tolist()[0]!r}): two are needed to tell them apart")
        self.classes_ = classes
        self._begin(1 if len(classes) == 2 else len(classes))

    def _codes(self, labels: NDArray[Any]) -> Vector:
        codes = np.searchsorted(self.classes_, labels)
        known = self.classes_[np.minimum(codes, len(self.classes_) - 1)] == labels
        if not np.all(known):
            stranger = labels[~known].tolist()[0]
            raise ValueError(f"y holds {stranger!r}, which is none of the classes {self.classes_.tolist()}")
        return codes.astype(np.float64)

    def _named(self, value: float) -> str:
        return str(self.classes_[int(value)])

    @property
    def progressive_error_(self) -> float:
        """Share of wrong guesses among the predictions made for each row before it was learned."""
        return self._learner().progressive_error

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed scores: of shape (rows,) for two classes, (rows, n_classes) for more."""
        z = self._predictions(X)
        return np.asarray(z[:, 0] if z.shape[1] == 1 else z)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the highest score."""
        z = self._predictions(X)
        codes = (z[:, 0] > 0).astype(np.intp) if z.shape[1] == 1 else z.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @available_if(lambda self: self.loss in LossesThat(lambda loss: loss.probabilities))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, for loss="logistic"; of more than two classes, scaled to sum to one."""
        p = np.exp(-np.logaddexp(0.0, -self._predictions(X)))
        if p.shape[1] == 1:
            return np.hstack([1 - p, p])
        return np.asarray(p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300))


class OnlineRegressor(RegressorMixin, _Online):  # type: ignore[misc]
    """A linear regression that learns row by row, from data of unknown length.

    Parameters
    ----------
    loss : {"squared", "epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"}
    epsilon : float
        Width of the insensitive zone, for the two epsilon losses.
    delta : float
        Errors beyond this size cost in proportion, not squared; for the Huber loss.
    q : float
        The quantile that is predicted; for the quantile loss.
    method, learning_rate, beta, l1, l2, average, fit_intercept, hash_bits, n_passes, shuffle, random_state, verbose
        As for OnlineClassifier.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    progressive_loss_ : float
        Mean loss of the predictions made for each row before it was learned.
    n_seen_ : int
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import OnlineRegressor
    >>> x = np.linspace(-1, 1, 500)
    >>> model = OnlineRegressor().fit(x[:, None], 3 * x + 1)
    >>> model.predict([[0.5]]).round(1)
    array([2.5])
    """

    _classification = False

    def __init__(
        self,
        loss: str = "squared",
        *,
        epsilon: float = 0.1,
        delta: float = 1.0,
        q: float = 0.5,
        method: str = "adagrad",
        learning_rate: float = 0.5,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        average: bool = False,
        fit_intercept: bool = True,
        hash_bits: int | None = None,
        n_passes: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        super().__init__(
            loss,
            method=method,
            learning_rate=learning_rate,
            beta=beta,
            l1=l1,
            l2=l2,
            average=average,
            fit_intercept=fit_intercept,
            hash_bits=hash_bits,
            n_passes=n_passes,
            shuffle=shuffle,
            random_state=random_state,
            verbose=verbose,
        )
        self.epsilon = epsilon
        self.delta = delta
        self.q = q

    def fit(self, X: Any, y: Any) -> Self:
        """Forgets what was learned, then makes `n_passes` passes over the rows."""
        matrix = self._matrix(X, first=True)
        targets = self._targets(y, matrix.shape[0])
        self._begin(1)
        self._learn_passes(matrix, targets)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from one more batch, in the order of its rows; a row of weight zero is skipped."""
        first = "learner_" not in vars(self)
        matrix = self._matrix(X, first=first)
        targets = self._targets(y, matrix.shape[0])
        if first:
            self._begin(1)
        self._learn_batch(matrix, targets, sample_weight)
        return self

    def _targets(self, y: Any, rows: int) -> Vector:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: a regression learns from targets")
        return real_targets(column_or_1d(y, warn=True), rows)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of shape (n_features,); with hash_bits, one per cell of the hashed table."""
        return np.asarray(self._learner().weights()[0][0])

    @property
    def intercept_(self) -> float:  # type: ignore[override]
        """The intercept."""
        return float(self._learner().weights()[1][0])

    def predict(self, X: Any) -> Vector:
        """The predicted targets."""
        return np.asarray(self._predictions(X)[:, 0])
