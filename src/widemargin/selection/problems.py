"""What a search is about, from rows and labels: one problem, or several models whose common score counts."""

from __future__ import annotations

from typing import Any

from ..data.rows import Rows
from ..multiclass import JOINT, make_strategy
from ..multiclass.joint import Joint
from ..multiclass.labelled import Labelled
from ..objective.class_weights import weighted_by_class
from ..objective.labels import NotTwoClassesError, ordered_labels, row_weights
from ..objective.losses import LOSSES
from ..objective.problem import Problem
from ..objective.weighted_rows import as_rows
from .several import Several, Subject


def subject_of(
    X: Any,
    y: Any,
    loss: str,
    penalty: str,
    *,
    multi_class: str | None = None,
    class_weight: Any = None,
    sample_weight: Any = None,
    **settings: Any,
) -> Subject:
    """The subject of a search with those words of `find_C`; `settings` are further words of `Problem`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    >>> subject_of(X, y, "multinomial", "l2").n_classes
    3
    >>> len(subject_of(X, y, "hinge", "l2", multi_class="ovr").parts())
    3
    """
    X = as_rows(X)
    settings |= {"loss": loss, "penalty": penalty}
    several = None if multi_class is None else make_strategy(multi_class)
    if class_weight is not None or several is not None:
        _require_classes(loss)
    weights = _weights(X, y, class_weight, sample_weight)
    if loss in JOINT:
        several = make_strategy(loss)
    else:
        try:
            return Problem(X, y, sample_weight=weights, **settings)
        except NotTwoClassesError as error:
            if several is None:
                raise NotTwoClassesError(
                    f"{error}. For one C of several classes use multi_class='ovr' or 'ovo', loss='multinomial' or "
                    "'crammer_singer'; for a C of each class against the rest, LinearSVCCV, or "
                    "LogisticRegressionCV(multi_class='ovr')"
                ) from None
    if isinstance(several, Joint):
        return several.problem_of(X, y, weights, settings)
    codes, classes = ordered_labels(y, X.shape[0])
    return Several(several, Labelled(X, codes, classes, weights), settings)


def _weights(X: Rows, y: Any, class_weight: Any, sample_weight: Any) -> Any:
    if class_weight is None:
        return sample_weight
    codes, classes = ordered_labels(y, X.shape[0])
    given = row_weights(1.0, sample_weight, X.shape[0])
    return weighted_by_class(given, codes, classes.tolist(), class_weight)


def _require_classes(loss: str) -> None:
    if loss in LOSSES and not LOSSES[loss].classification:
        raise ValueError(f"loss={loss!r} is for numbers: multi_class and class_weight are for losses of classes")
