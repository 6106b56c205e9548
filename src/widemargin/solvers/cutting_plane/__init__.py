"""Cutting-plane methods."""
