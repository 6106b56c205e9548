"""Vectors of float64, and their products on the calling thread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _core

Vector = NDArray[np.float64]


def inner(a: Vector, b: Vector) -> float:
    """a . b without BLAS: a threaded BLAS wakes its threads for ten thousand numbers, which costs more than it saves.

    Examples
    --------
    >>> import numpy as np
    >>> inner(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return _core.dot(a, b)
