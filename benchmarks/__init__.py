"""Benchmarks against the peers."""
