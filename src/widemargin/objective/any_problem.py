"""What a problem is to the driver, to `auto`, to searches and estimators: a handful of questions that it answers.

Two-class and regression problems, several classes at once, ordered classes and the one-class SVM answer them each in
their own way, and nobody asks what they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

from ..data.kept import Owner
from ..data.rows import Rows, Table
from ..vectors import Vector
from .certificate import Certified
from .points import Dual, Point

if TYPE_CHECKING:
    from .smooth import Smooth


class Traits(NamedTuple):
    """The words by which solvers declare what they solve."""

    loss: str
    penalty: str
    intercept: str

    def __str__(self) -> str:
        return f"loss={self.loss!r}, penalty={self.penalty!r}, intercept={self.intercept!r}"


class AnyProblem(Protocol):
    """A problem over rows."""

    X: Rows
    n_jobs: int
    keeper: Owner | None  # for whom fits of this problem keep what the next one can use

    @property
    def size(self) -> int:
        """How long a coefficient vector is."""

    @property
    def work(self) -> int:
        """What a pass costs: entries of the data, times the classes that each of them meets."""

    @property
    def tells_its_dual(self) -> bool:
        """Whether the primal point alone tells a dual point that becomes as good: loss and penalty have a gradient."""

    @property
    def penalty_names(self) -> frozenset[str]:
        """The penalty's name, and what an elastic net amounts to at either end."""

    def describe(self) -> Traits:
        """Loss, penalty and intercept, in the words of solvers."""

    @property
    def at_zero(self) -> float:
        """The objective at w = 0 with its best intercept: by what is gained over it gaps are measured."""

    def zero(self) -> Certified:
        """The point w = 0 with its best intercept, and the dual point 0: no fit is worse, no bound lower."""

    def certify(self, point: Point) -> Certified:
        """The certificate of a point, and the point that it holds for: its best intercept, a feasible dual point."""

    def with_better_dual(self, certified: Certified, dual: Dual) -> Certified:
        """The certified point with that dual point, if it proves more than its own."""

    def with_jobs(self, n_jobs: int) -> Self:
        """The same problem, its passes made on up to n_jobs threads."""

    def with_C(self, C: float) -> Self:
        """The same problem at another C; the rows are shared."""

    def with_keeper(self, keeper: Owner | None) -> Self:
        """The same problem, for whose fits somebody keeps what the next one can use, or nobody."""

    def over(self, X: Rows) -> Self:
        """The same problem over other features of the same rows."""

    def decode(self, coef: Any, intercept: float = 0.0) -> tuple[Table, Vector]:
        """The coefficients as a table with one line per model, and one intercept each."""

    @property
    def has_free_intercept(self) -> bool:
        """Whether a shift of the features moves intercepts alone, which nothing penalises."""

    def after_shift(self, point: Point, shifts: Vector) -> Point:
        """The point that predicts the same where `shifts` has been taken from the features: free intercepts move."""


@runtime_checkable
class SmoothProblem(Protocol):
    """A problem that Newton-type methods can see as a smooth function of one vector."""

    def smooth(self) -> Smooth:
        """The problem as such a function."""
