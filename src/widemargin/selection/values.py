"""Which values of C a search tries when none are given.

Below the first value the model's direction no longer depends on C (l2), or there is no model at all (l1):

l2            w = C g + O(C^2) as C -> 0, where g = - X^T loss'(z) at w = 0; the first C is where the predictions C X g
              reach the size of the targets. (LIBLINEAR's -C starts from a bound on the same quantity.)
l1            w = 0 exactly while C |g_j| <= rho for all j; the first C is where that ends.
all classes   as l2, with v_i = C_i (e_y - p) at W = 0: p the classes' shares if intercepts are free, else equal.

Each further value doubles the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .several import leading_problem

if TYPE_CHECKING:
    from .several import Subject

DOUBLINGS = 30


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
