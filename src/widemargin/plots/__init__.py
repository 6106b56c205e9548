"""Pictures (extra `plots`): matplotlib is loaded when a picture is asked for."""

from .convergence import plot_convergence
from .search import plot_search

__all__ = ["plot_convergence", "plot_search"]
