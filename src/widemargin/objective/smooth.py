"""A smooth problem as Newton-type methods see it: a function of one vector x, and nothing of the size of the rows.

What has the size of the rows (predictions, curvatures, probabilities) lives in the points that have been evaluated
(`At`) and in the rays along which a search goes. So one truncated Newton method, one L-BFGS and one line search serve
two classes, several classes, and whatever else can say this much of itself.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..data.rows import Table
from ..vectors import Vector
from .points import Point


class At(Protocol):
    """A point that has been evaluated."""

    @property
    def x(self) -> Vector:
        """The variables."""

    @property
    def value(self) -> float:
        """f(x)"""

    @property
    def gradient(self) -> Vector:
        """The gradient of f there."""

    @property
    def n_active(self) -> int:
        """Rows that a product with the Hessian reads."""


class Ray(Protocol):
    """f along x + t d, for t >= 0: phi(t). No trial reads the data."""

    start_value: float  # phi(0)
    start_slope: float  # phi'(0)

    def value(self, t: float) -> float:
        """phi(t)"""

    def slope(self, t: float) -> tuple[float, float]:
        """phi'(t) and phi''(t)"""

    def moved(self, t: float) -> Any:
        """The point x + t d, evaluated."""


class Smooth(Protocol):
    """f with its gradient, Hessian products and restriction to rays."""

    features: int  # of the data, without a constant one
    diagonal_share: float  # of the Hessian's diagonal in a diagonal preconditioner
    accuracy: float  # the share of the gradient to which Newton's equations are solved at first

    @property
    def size(self) -> int:
        """Number of variables."""

    @property
    def n_rows(self) -> int:
        """Rows of the data."""

    @property
    def n_blocks(self) -> int:
        """Diagonal blocks that the Hessian falls into: one per class."""

    def start(self, point: Point | None) -> Any:
        """The point evaluated, or zero; free intercepts begin at their best values where these are cheap."""

    def ray(self, at: Any, d: Vector) -> Ray:
        """The ray from `at` along d: one product with the data."""

    def hess_vec(self, at: Any, v: Vector) -> Vector:
        """The Hessian at that point times v: one pass."""

    def hess_diagonal(self, at: Any) -> Vector:
        """The Hessian's diagonal there."""

    def block_curvatures(self, at: Any) -> Table:
        """Rows x blocks: the curvatures whose sandwiches are the Hessian's diagonal blocks."""

    def gap(self, at: Any) -> float:
        """The duality gap, up to what free intercepts can still gain."""

    def point(self, at: Any) -> Point:
        """The point as the problem and the driver want it, with its predictions where they are fresh."""

    def settled(self, at: Any, certified: Point) -> Any:
        """The evaluated point, with the free intercept that the certificate has found better."""
