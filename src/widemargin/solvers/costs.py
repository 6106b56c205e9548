"""What work costs on a present processor: measured numbers, and the costs that follow from them."""

from __future__ import annotations

# Up to so many features the matrix of all of them is cheap to keep from step to step.
KEPT_FEATURES = 1000

# Nanoseconds per entry of the data, measured: of a pass; of a sparse outer product, for each entry of the row; of BLAS,
# for each feature.
PASS, OUTER, BLAS = 1.5, 0.3, 0.05
# The same for a Cholesky factorisation, per feature cubed.
FACTOR = 0.03


def gram_cost(rows: int, columns: int, entries: int) -> float:
    """What the matrix of all rows costs, in nanoseconds."""
    row_length = max(entries / rows, 1.0)
    return min(OUTER * row_length, BLAS * columns * columns / row_length) * entries


# Of `interior_point`: passes over the data in a step, apart from the matrix, and the order of that matrix from which on
# it works on a set of the features.
INTERIOR_STEP, INTERIOR_ORDER = 16, 1500


def system_passes(rows: int, columns: int, entries: int) -> float:
    """What building and factorising the matrix of the smaller side costs, in passes over the data."""
    build = min(gram_cost(rows, columns, entries), gram_cost(columns, rows, entries))
    return (build + FACTOR * min(rows, columns) ** 3) / (PASS * entries)


# Of `class_interior` and `ordinal_interior`: the largest order of their equations, passes over the data in a step
# beside the matrix, and steps.
JOINT_ORDER, JOINT_STEP, JOINT_STEPS = 4000, 30, 25


def joint_step_passes(rows: int, features: int, entries: int, classes: int) -> float:
    """What a step over all classes at once costs, in passes over the data, each entry for every class."""
    small, pairs = min(rows, features), classes * (classes + 1) / 2
    entries_then = entries if features <= rows else small * small
    build = pairs * gram_cost(rows, small, entries_then)
    return JOINT_STEP + (build + FACTOR * (small * classes) ** 3) / (PASS * entries * classes)
