"""Features far from zero: dense rows less the mean of each feature.

What varies in such features is a small part of their values, and is lost in the rounding of products with them. Sparse
rows stay as they are: less their means they would not be sparse any more.
"""

from __future__ import annotations

import numpy as np

from ..vectors import Vector
from .matrix import Matrix

# A feature is far from zero if the middle of its values is so many times as large as half their range.
FAR = 10.0
# One that hardly varies is taken for a constant, which does no harm up to this size.
ROUNDING, LARGE = 1e-9, 1e6
# So many rows tell where the values lie.
SAMPLE = 1000


def without_means(X: Matrix) -> tuple[Matrix, Vector] | None:
    """The rows less their means, and the means; None where no feature is far from zero, or the rows are sparse.

    Examples
    --------
    >>> rows, means = without_means(Matrix([[1001.0, 0.0], [1003.0, 4.0]]))
    >>> rows.to_scipy(), means
    (array([[-1., -2.],
           [ 1.,  2.]]), array([1002.,    2.]))
    >>> without_means(Matrix([[1.0, 0.0], [3.0, 4.0]])) is None
    True
    """
    if X.is_sparse or not _is_far(X):
        return None
    values = X.to_scipy().astype(np.float64)  # a copy: differences of float32 values need more digits than these have
    means = values.mean(axis=0)
    values -= means
    return Matrix(values), means


def _is_far(X: Matrix) -> bool:
    rows = X.shape[0]
    return lies_far(X.take(np.arange(0, rows, 1 + rows // SAMPLE)))


def lies_far(some: Matrix) -> bool:
    """Whether a feature of these dense rows is far from zero."""
    sample = some.to_scipy().astype(np.float64, copy=False)
    low, high = sample.min(axis=0), sample.max(axis=0)
    middle, reach = np.abs(0.5 * low + 0.5 * high), 0.5 * (high - low)
    matters = (reach > ROUNDING * middle) | (middle > LARGE)
    return bool(((middle > FAR * reach) & matters).any())
