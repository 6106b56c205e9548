"""What the dual methods have in common: when float32 will do, when a run is long, how far a free intercept moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...data.matrix import Matrix

# Below this tolerance float32 weights cannot be relied on.
SINGLE_TOL = 1e-5
# A run that takes more passes than this is worth some preparation: coordinate frequencies are learnt, and data that
# outgrow the cache are made compact.
SHORT_RUN = 10


def intercept_step(X: Matrix) -> float:
    """mu of the method of multipliers: a free intercept moves by mu sum v, as rows' lengths have it."""
    lengths = X.row_sqnorms[X.row_sqnorms > 0]
    return 0.1 * float(np.median(lengths)) if len(lengths) else 0.1  # one row of great length must not decide
