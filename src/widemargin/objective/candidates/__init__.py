"""Choices among candidates: maximum entropy with features of the label."""
