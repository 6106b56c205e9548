"""What a search is about: one problem, or those of several models, whose common score counts.

A search asks for rows, their targets and weights, the parts that are solved at each C, and the same over fewer rows.
`Problem` and the problems of all classes at once have one part; `Several` has those that a method of `multiclass` makes
of labels: one against the rest, or one against one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.rows import Rows as AnyRows
from ..multiclass import make_strategy
from ..multiclass.binary import Binary
from ..multiclass.labelled import Labelled
from ..multiclass.parts import OneSided, Part
from ..multiclass.strategy import Strategy
from ..objective.losses import Loss
from ..objective.multiclass import MulticlassProblem
from ..objective.penalties import Penalty
from ..objective.problem import Problem
from ..vectors import Vector

Rows = NDArray[np.intp]


class Several:
    """The models that a method makes of labels, as the subject of one search.

    Parameters
    ----------
    strategy : Strategy
        How several classes are told apart.
    data : Labelled
    settings : mapping
        The words of `Problem` that all models share.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import Matrix
    >>> from widemargin.multiclass import make_strategy
    >>> data = Labelled(Matrix(np.eye(3)), np.arange(3), ["a", "b", "c"])
    >>> len(Several(make_strategy("ovo"), data, {"loss": "hinge"}).parts())
    3
    """

    def __init__(self, strategy: Strategy, data: Labelled, settings: Mapping[str, Any]) -> None:
        self.strategy = strategy
        self.data = data
        self._settings = settings
        self.classes = np.asarray(data.classes)
        self.weights: Vector = np.ones(len(data.codes)) if data.common_weights is None else data.common_weights

    @property
    def X(self) -> AnyRows:
        """All rows."""
        return self.data.X

    @property
    def y(self) -> Rows:
        """The number of each row's class."""
        return self.data.codes

    @property
    def class_codes(self) -> Rows:
        """The number of each row's class."""
        return self.data.codes

    @cached_property
    def loss(self) -> Loss:
        """The loss of every model."""
        return self.leading.loss

    @cached_property
    def penalty(self) -> Penalty:
        """The penalty of every model."""
        return self.leading.penalty

    @property
    def leading(self) -> OneProblem:
        """The model whose classes have the most weight: from where on C matters to it, it matters."""
        totals = np.bincount(self.y, weights=self.weights, minlength=len(self.classes))
        return _made(max(self.parts(), key=lambda part: totals[list(part.classes)].sum()))

    def parts(self) -> Sequence[Part]:
        """The problems, at C = 1."""
        return self.strategy.parts(self.data, self._settings)

    def taken(self, rows: Rows) -> Several:
        """The models of those rows alone, which are copied."""
        return Several(self.strategy, self.data.taken(rows), self._settings)

    def restricted(self, rows: Rows) -> Several:
        """All rows, shared in memory, of which only the given ones count."""
        return Several(self.strategy, self.data.restricted(rows), self._settings)


def _made(part: Part) -> OneProblem:
    problem = part.make()
    assert not isinstance(problem, OneSided)  # there are two classes or more
    return problem


OneProblem = Problem | MulticlassProblem
Subject = Problem | MulticlassProblem | Several


def subject_of_labels(strategy: Strategy, data: Labelled, settings: Mapping[str, Any]) -> Subject:
    """What a method makes of labels, as the subject of one search."""
    several = Several(strategy, data, settings)
    parts = several.parts()
    return _made(parts[0]) if len(parts) == 1 else several


def parts_of(subject: Subject) -> Sequence[Part]:
    """The problems that are solved at each C."""
    return subject.parts() if isinstance(subject, Several) else [Part(lambda: subject)]


def leading_problem(subject: Subject) -> OneProblem:
    """The problem that tells which values of C matter."""
    return subject.leading if isinstance(subject, Several) else subject


def strategy_of(subject: Subject) -> Strategy | None:
    """What turns predictions into classes; None where they are numbers."""
    if isinstance(subject, Several):
        return subject.strategy
    if not subject.loss.classification:
        return None
    return make_strategy(subject.loss.name) if isinstance(subject, MulticlassProblem) else Binary()
