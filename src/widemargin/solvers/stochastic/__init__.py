"""Stochastic gradient methods."""
