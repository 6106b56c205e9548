"""Sequences of labels: the problem, its conditional random field and its structured SVM."""
