"""Dual coordinate descent for maximum entropy.

Problem   min over W, b       1/2 |W|^2 + sum_i C_i (log sum_m exp(z_im) - z_iy)
Dual      min over alpha >= 0 1/2 |W|^2 + sum_im alpha_im log(alpha_im / C_i),     sum_m alpha_im = C_i
          W = X^T v,  v_i = C_i e_y - alpha_i;  at the optimum alpha_i = C_i softmax(z_i)

Yu, Huang, Lin, "Dual Coordinate Descent Methods for Logistic Regression and Maximum Entropy Models" (2011), section 5.
One row's k variables are solved for at a time. The paper minimises over pairs of them; here Newton's method takes all
of them together (native/core/descent/multinomial_dual_cd.hpp). Passes, weights and free intercepts: all_classes.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ... import _core
from ...data.rows import IN_ORDER, VERBS
from ...objective.maximum_entropy import MaximumEntropyProblem
from ..base import Run, Solver, Steps
from .all_classes import ClassDualState, descend


@dataclass(frozen=True)
class MultinomialDualCD(Solver):
    """Dual coordinate descent (Yu, Huang, Lin 2011) for `MaximumEntropyProblem`.

    Parameters
    ----------
    order : {"auto", "permuted", "cyclic", "permuted_once", "random", "adaptive"}
        Which row next; "auto" is permuted first and adaptive when the run turns out to be long.

    Examples
    --------
    >>> from widemargin import MaximumEntropyProblem, solve
    >>> from widemargin.solvers import MultinomialDualCD
    >>> problem = MaximumEntropyProblem([[1.0], [2.0], [4.0]], [1, 2, 3], intercept="free")
    >>> solve(problem, MultinomialDualCD(order="cyclic"), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "multinomial_dual_cd"
    summary: ClassVar[str] = "dual coordinate descent for maximum entropy (Yu, Huang, Lin 2011)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    takes: ClassVar[type[Any]] = MaximumEntropyProblem
    losses: ClassVar[frozenset[str]] = frozenset({"multinomial"})

    order: str = "auto"

    def iterate(self, problem: MaximumEntropyProblem, run: Run) -> Steps:
        state = ClassDualState(problem, run, _core.MultinomialDualCD, self.order, False)
        yield from descend(problem, run, state, learn=self.order == "auto")
