"""The examples in the docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import widemargin


def module_names():
    """Every module of the package, by name."""
    found = {module.name for module in pkgutil.walk_packages(widemargin.__path__, "widemargin.")}
    return ["widemargin", *sorted(name for name in found if not name.endswith(("._core", ".__main__")))]


@pytest.mark.parametrize("name", module_names())
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


@pytest.mark.parametrize("name", [name for name in dir(widemargin) if name != "__version__"])
def test_every_public_name_has_an_example(name):
    if name == "solvers":  # the package, which is also the function of registry.py
        name = "solvers.registry.solvers"
        public = importlib.import_module("widemargin.solvers.registry").solvers
    else:
        public = getattr(widemargin, name)
    assert ">>>" in (public.__doc__ or ""), f"{name} has no example"
