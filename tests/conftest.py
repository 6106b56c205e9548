"""Settings of the property tests: no example may fail by the clock, and every run tries the same ones."""

from hypothesis import settings

settings.register_profile("widemargin", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("widemargin")
