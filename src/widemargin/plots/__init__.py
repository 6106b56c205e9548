"""Pictures (extra `plots`): matplotlib is loaded when a picture is asked for."""

from .convergence import plot_convergence

__all__ = ["plot_convergence"]
