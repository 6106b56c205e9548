"""Finite Newton for ordinal regression.

Problem   1/2 |w|^2 + sum_is C_i loss(sigma_is, x_i . w - b_s), see objective/ordinal.py for its dual

Keerthi and DeCoste (2005), section 7: the iteration is that of L2-SVM-MFN with the index sets of every threshold, the
least squares problem (26), and a line search over the jump points of all rows and thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...objective.losses import LossesThat
from ...objective.ordinal import OrdinalProblem
from ..base import Run, Solver, Steps
from .finite_newton import newton_settings
from .ordinal_model import OrdinalModel
from .ramps import has_ramp
from .rounds import NewtonRun


@dataclass(frozen=True)
class OrdinalNewton(Solver):
    """The modified finite Newton method for an OrdinalProblem (Keerthi and DeCoste 2005, section 7).

    Parameters
    ----------
    first_cg_limit : int
        At most so many conjugate gradient iterations at the first Newton step; 0: no limit.
    two_rounds : bool
        A crude round (eps = 1e-2) before the fine one (eps = 1e-6).
    precondition : bool
        Divide by the diagonal in conjugate gradients: needed where features differ much in scale. (Not in the paper.)
    crude_forcing : float
        Before the last round CGLS also stops at this share of the gradient; 0: only by the paper's rule (13).

    Examples
    --------
    >>> from widemargin import OrdinalProblem, solve
    >>> from widemargin.solvers import OrdinalNewton
    >>> problem = OrdinalProblem([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "c"], loss="hinge")
    >>> solve(problem, OrdinalNewton(), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "ordinal_newton"
    summary: ClassVar[str] = "finite Newton for ordinal regression (Keerthi and DeCoste 2005)"
    takes: ClassVar[type[Any]] = OrdinalProblem
    losses = LossesThat(lambda loss: has_ramp(loss) and loss.classification)
    intercepts: ClassVar[frozenset[str]] = frozenset({"free_thresholds", "regularized_thresholds"})

    first_cg_limit: int = 10
    two_rounds: bool = True
    precondition: bool = True
    crude_forcing: float = 0.1

    def iterate(self, problem: OrdinalProblem, run: Run) -> Steps:
        model = OrdinalModel.of(problem)
        beta = np.zeros(problem.size) if run.start is None else run.start.w
        rounds = newton_settings(self, seeded=run.start is not None)
        yield from NewtonRun(model, beta, rounds, run, model.point).steps()
