"""Solvers of problems over chains."""
