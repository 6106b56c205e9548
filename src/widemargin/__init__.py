"""Large-scale linear classification with a proof of accuracy for every fit."""

__version__ = "0.1.0"
