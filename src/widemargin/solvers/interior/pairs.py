"""What the conditions of an optimum say of two numbers: neither is below zero, and one of them is zero."""

from __future__ import annotations

import numpy as np

from ...vectors import Vector


class Pair:
    """Vectors x, y > 0 whose products x_j y_j go to zero together; x moves with the model, y with the dual point."""

    def __init__(self, x: Vector, y: Vector) -> None:
        self.x, self.y = x, y

    @property
    def product(self) -> float:
        return float(np.sum(self.x * self.y))

    def pull(self, target: Vector | float) -> Vector:
        """What x would gain if y stood still and x y became the target."""
        return target / self.y - self.x

    def answer(self, target: Vector | float, dy: Vector) -> Vector:
        """dx for which, to first order, (x + dx) (y + dy) is the target."""
        return (target - self.x * dy) / self.y - self.x
