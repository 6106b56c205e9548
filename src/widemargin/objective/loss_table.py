"""The table of losses: what each is in words, its parameters by name, and the four numbers that describe it.

losses.py says what the numbers mean. It is loaded when a loss is made, not before: names and parameters are known
without NumPy, which a command line that only explains itself does without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from .loss_parameters import Parameter, checked

if TYPE_CHECKING:
    from .losses import Loss


def piecewise(name: str, *, classification: bool, **numbers: float) -> Loss:
    """The loss with those numbers: bend and zone (0 by default), lower and upper (without bounds by default)."""
    from .losses import Piecewise

    return Piecewise(name, classification, **numbers)


def hinge() -> Loss:
    """max(0, 1 - y z): the L1-loss of the SVM papers."""
    return piecewise("hinge", classification=True, lower=0.0, upper=1.0)


def squared_hinge() -> Loss:
    """max(0, 1 - y z)^2: the L2-loss of the SVM papers."""
    return piecewise("squared_hinge", classification=True, bend=0.25, lower=0.0)


def logistic() -> Loss:
    """log(1 + exp(-y z))"""
    from .losses import Logistic

    return Logistic()


def modified_huber() -> Loss:
    """max(0, 1 - m)^2 while the margin m = y z is at least -1, the line -4 m below."""
    return piecewise("modified_huber", classification=True, bend=0.25, lower=0.0, upper=4.0)


def squared() -> Loss:
    """(z - y)^2"""
    return piecewise("squared", classification=False, bend=0.25)


def epsilon_insensitive(epsilon: float) -> Loss:
    """max(0, |z - y| - epsilon)"""
    return piecewise("epsilon_insensitive", classification=False, zone=epsilon, lower=-1.0, upper=1.0)


def squared_epsilon_insensitive(epsilon: float) -> Loss:
    """max(0, |z - y| - epsilon)^2"""
    return piecewise("squared_epsilon_insensitive", classification=False, bend=0.25, zone=epsilon)


def huber(delta: float) -> Loss:
    """(z - y)^2 while |z - y| is at most delta, the line 2 delta |z - y| - delta^2 beyond."""
    return piecewise("huber", classification=False, bend=0.25, lower=-2 * delta, upper=2 * delta)


def quantile(q: float) -> Loss:
    """q (y - z) where the target is above the prediction, (1 - q) (z - y) where it is below."""
    return piecewise("quantile", classification=False, lower=q - 1, upper=q)


class Family:
    """A loss whose parameters are still to be given: what stands in `LOSSES`.

    Parameters
    ----------
    make : callable
        The loss, given every parameter by name. Its name is the loss's name.
    parameters : Parameter
        What each of them may be.

    Examples
    --------
    >>> from widemargin.objective.losses import LOSSES
    >>> LOSSES["huber"](delta=2.0).upper, list(LOSSES["huber"].parameters)
    (4.0, ['delta'])
    """

    def __init__(self, make: Callable[..., Loss], **parameters: Parameter) -> None:
        self.name, self.parameters, self._make = make.__name__, parameters, make
        self.words = (make.__doc__ or "").strip()

    def __call__(self, **given: float) -> Loss:
        """The loss with those parameters, the others at their defaults."""
        return self._make(**checked(f"loss {self.name!r}", self.parameters, given))

    @cached_property
    def usual(self) -> Loss:
        """The loss with all parameters at their defaults: what kind of loss it is."""
        return self()

    @property
    def classification(self) -> bool:
        """Whether the loss is one of labels; else of targets."""
        return self.usual.classification

    @property
    def smooth(self) -> bool:
        """Whether the loss has a derivative everywhere."""
        return self.usual.smooth


_ZONE = Parameter(0.1, "errors up to this size cost nothing", least=0)

LOSSES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(hinge),
        Family(squared_hinge),
        Family(logistic),
        Family(modified_huber),
        Family(squared),
        Family(epsilon_insensitive, epsilon=_ZONE),
        Family(squared_epsilon_insensitive, epsilon=_ZONE),
        Family(huber, delta=Parameter(1.0, "errors beyond this size cost in proportion, not squared", above=0)),
        Family(quantile, q=Parameter(0.5, "the quantile that is predicted", above=0, below=1)),
    )
}
