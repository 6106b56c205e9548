"""Coordinate descent in the dual: one row's variables at a time."""
