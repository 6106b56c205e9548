"""What the method asks of the rows: their dual variables v, rows x values, and how v answers a change of predictions.

    dv = pull - D dz

v is kept for itself: predictions over long features would tell it less exactly. Rows whose v is bounded have pairs,
numbers above zero whose products go to zero together (interior/pairs.py); those of a smooth loss without bounds have
none, and the steps are Newton's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...data.rows import Table
from ...vectors import Vector
from ..interior.pairs import Pair


class JointRows(Protocol):
    """The rows of a problem, at some point."""

    @property
    def v(self) -> Table:
        """The dual point, rows x values."""

    @property
    def pairs(self) -> list[Pair]:
        """Numbers above zero whose products go to zero together; none where nothing is bounded."""

    def measure(self, z: Table) -> None:
        """Takes notice of new predictions."""

    def curvature(self) -> Any:
        """D, as the equations want it."""

    def pull(self, targets: Sequence[Vector | float]) -> Table:
        """dv where z stands still and the products of the pairs go to the targets."""

    def answer(self, dz: Table, dv: Table) -> list[Vector]:
        """dy of the pairs, for the last pull and a change of the predictions and of v."""

    def moved(self, dv: Table) -> None:
        """Takes notice of a step in v, and of pairs that have moved."""

    def begin_anew(self) -> None:
        """Takes notice that v is to be that of the next predictions."""
