"""The sequential dual method for Crammer and Singer's multi-class SVM.

Problem   min over W, b   1/2 |W|^2 + sum_i C_i max_m (z_im + 1[m != y_i] - z_iy)
Dual      min over alpha  1/2 |X^T alpha|^2 + sum_im 1[m != y_i] alpha_im
          sum_m alpha_im = 0,  alpha_im <= C_i if m = y_i, else <= 0;   W = X^T alpha

Keerthi, Sundararajan, Chang, Hsieh, Lin, "A Sequential Dual Method for Large Scale Multi-Class Linear SVMs" (2008);
LIBLINEAR paper, Appendix E. One row's k variables are solved for exactly at a time (descent/crammer_singer.hpp).
Classes that a bound holds firmly are left out row by row, and a row of which only its own class is left altogether.
Passes, weights and free intercepts: all_classes.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ... import _core
from ...data.rows import IN_ORDER, VERBS
from ...objective.crammer_singer import CrammerSingerProblem
from ..base import Run, Solver, Steps
from .all_classes import ClassDualState, descend


@dataclass(frozen=True)
class CrammerSinger(Solver):
    """Sequential dual method (Keerthi et al. 2008) for `CrammerSingerProblem`.

    Parameters
    ----------
    order : {"auto", "permuted", "cyclic", "permuted_once", "random", "adaptive"}
        Which row next; "auto" is permuted first and adaptive when the run turns out to be long.
    shrinking : bool
        Leave out classes and rows that their bounds hold firmly.

    Examples
    --------
    >>> from widemargin import CrammerSingerProblem, solve
    >>> from widemargin.solvers import CrammerSinger
    >>> problem = CrammerSingerProblem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 2, 3], intercept="free")
    >>> solve(problem, CrammerSinger(shrinking=False), tol=1e-6).converged
    True
    """

    name: ClassVar[str] = "crammer_singer"
    summary: ClassVar[str] = "sequential dual method for Crammer and Singer's SVM (Keerthi et al. 2008)"
    needs: ClassVar[frozenset[str]] = frozenset({VERBS, IN_ORDER})
    takes: ClassVar[type[Any]] = CrammerSingerProblem
    losses: ClassVar[frozenset[str]] = frozenset({"crammer_singer"})

    order: str = "auto"
    shrinking: bool = True

    def iterate(self, problem: CrammerSingerProblem, run: Run) -> Steps:
        state = ClassDualState(problem, run, _core.CrammerSinger, self.order, self.shrinking)
        yield from descend(problem, run, state, learn=self.order == "auto")
