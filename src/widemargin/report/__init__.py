"""A training run as one self-contained page."""
