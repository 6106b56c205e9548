"""The problem that a search is about, by the name of its loss: two classes or numbers, or all classes at once."""

from __future__ import annotations

from typing import Any, cast

from ..objective.crammer_singer import CrammerSingerProblem
from ..objective.labels import NotTwoClassesError
from ..objective.loss_parameters import checked
from ..objective.maximum_entropy import MaximumEntropyProblem
from ..objective.problem import Problem

# The losses of all classes at once.
JOINT = {"crammer_singer": CrammerSingerProblem, "multinomial": MaximumEntropyProblem}
# The settings that such problems have; they know one penalty and no insensitive zone.
SHARED = ("intercept", "intercept_scaling", "sample_weight")


def make_problem(X: Any, y: Any, loss: str, penalty: str, **settings: Any) -> Problem:
    """The problem with that loss; `settings` are further words of `Problem`.

    Examples
    --------
    >>> make_problem([[0.0], [1.0], [2.0]], ["a", "b", "c"], "multinomial", "l2").n_classes
    3
    """
    if loss not in JOINT:
        try:
            return Problem(X, y, loss, penalty, **settings)
        except NotTwoClassesError as error:
            raise NotTwoClassesError(
                f"{error}. For one C of several classes use loss='multinomial' or 'crammer_singer'; for a C of each "
                "class against the rest, LinearSVCCV, or LogisticRegressionCV(multi_class='ovr')"
            ) from None
    if penalty != "l2":
        raise ValueError(
            f"loss={loss!r} needs penalty='l2', got {penalty!r}: the CV classes take others with multi_class='ovr'"
        )
    checked(f"loss {loss!r}", {}, {name: settings[name] for name in settings.keys() - {*SHARED, "l1_ratio"}})
    shared = {name: settings[name] for name in SHARED if name in settings}
    # A MulticlassProblem offers what the search asks of a Problem.
    return cast("Problem", JOINT[loss](X, y, **shared))
