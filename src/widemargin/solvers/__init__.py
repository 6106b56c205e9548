"""How it is minimised: one file per algorithm, one driver for all.

`widemargin.solvers` is this package and, called, the table of solvers: Python binds a package's name in its parent as
soon as a file of it is loaded, so a function of the same name would come and go with the order of imports.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .registry import SolverTable


class _CallablePackage(ModuleType):
    def __call__(self) -> SolverTable:
        """The registered solvers by name, with what each solves."""
        from .registry import solvers

        return solvers()


solvers = sys.modules[__name__]
solvers.__class__ = _CallablePackage
