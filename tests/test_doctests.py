"""The examples in the docstrings run and print what they say."""

import doctest
import importlib
import pkgutil
from operator import attrgetter

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


def public_names():
    """The public names: those of the package and those of its solvers."""
    top = [name for name in dir(widemargin) if name not in ("__version__", "solvers")]
    return top + [f"solvers.{name}" for name in dir(widemargin.solvers)]


@pytest.mark.parametrize("name", public_names())
def test_every_public_name_has_an_example(name):
    assert ">>>" in (attrgetter(name)(widemargin).__doc__ or ""), f"{name} has no example"
