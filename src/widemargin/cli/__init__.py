"""The command line."""

from __future__ import annotations


def main() -> int:
    """Runs the command line."""
    raise NotImplementedError
