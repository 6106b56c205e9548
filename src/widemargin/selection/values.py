"""Which values of C a search tries when none are given.

Below the first value the model's direction no longer depends on C (l2), or there is no model at all (l1):

l2            w = C g + O(C^2) as C -> 0, where g = - X^T loss'(z) at w = 0; the first C is where the predictions C X g
              reach the size of the targets. (LIBLINEAR's -C starts from a bound on the same quantity.)
l1            w = 0 exactly while C |g_j| <= rho for all j; the first C is where that ends.
all classes   as l2, with v_i = C_i (e_y - p) at W = 0: p the classes' shares if intercepts are free, else equal.

Each further value doubles the last. The range is wide enough for features of one scale; where the best value lies at
its end it is widened, up or down (climb.py). With l1 there is nothing below the first value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from .several import leading_problem

if TYPE_CHECKING:
    from .several import Subject

DOUBLINGS = 30
# How far a range may be widened: features of a billion beside features of a millionth want C over thirty decades.
MOST_DOUBLINGS = 120
# Weights of rows times C must stay far from the end of floats.
LARGEST = 1e100


@dataclass
class Values:
    """The values of a search, ascending: those that were given, or a range of its own, which may be widened."""

    listed: list[float]
    own: bool = False
    reach_down: bool = False  # whether models below the first value may differ from those at it

    @classmethod
    def given(cls, Cs: Sequence[float]) -> Self:
        """Those values alone."""
        return cls(sorted(set(Cs)))

    @classmethod
    def doubling(cls, subject: Subject) -> Self:
        """The range from the first value that matters."""
        return cls(list(doubling_Cs(subject)), own=True, reach_down=subject.penalty.rho == 0)

    def widen(self) -> None:
        """Adds a value above the others, if the range may still be wider."""
        if len(self.listed) <= MOST_DOUBLINGS and self.listed[-1] < LARGEST:
            self.listed.append(2 * self.listed[-1])

    def below(self) -> Iterator[float]:
        """The halves of the first value."""
        return (self.listed[0] * 0.5**k for k in range(1, DOUBLINGS + 1))


def doubling_Cs(subject: Subject) -> Iterator[float]:
    """Powers of two from `first_C` on, a billion times as far at most."""
    first = first_C(subject)
    for k in range(DOUBLINGS + 1):
        yield first * 2.0**k


def first_C(subject: Subject) -> float:
    """The power of two from which on C matters; of several models, to the one whose classes have the most weight."""
    problem = leading_problem(subject)
    slope, reach = problem.scale_of_C()
    if not (slope > 0 and reach > 0):
        return 1.0  # no feature says anything at w = 0
    return float(2.0 ** math.floor(math.log2(reach / slope)))
