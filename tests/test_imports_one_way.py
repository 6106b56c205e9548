"""Imports go one way: a part of the package knows those below it, as CONTRIBUTING.md says, and none above."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import widemargin

PACKAGE = Path(widemargin.__file__).parent
# From the top; parts of one line may know each other. Single files of the package are tools for all of them.
LAYERS = (
    {"cli", "demo", "report"},
    {"estimators", "model"},
    {"multiclass", "selection", "online", "plots"},
    {"solvers"},
    {"objective"},
    {"data"},
)
HEIGHT = {part: -depth for depth, layer in enumerate(LAYERS) for part in layer}


def run_time_imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements, wherever they stand, but for those that type checkers alone read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        else:
            yield from run_time_imports(node)


def parts_imported(source: str, package: list[str]) -> set[str]:
    """The parts of ours that a file of `package` imports."""
    found = set()
    for node in run_time_imports(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            base = package[: len(package) + 1 - node.level] if node.level else []
            names = [".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("widemargin.")}
    return found & set(HEIGHT)


@pytest.mark.parametrize("part", sorted(HEIGHT))
def test_nothing_below_knows_what_is_above(part):
    files = sorted((PACKAGE / part).rglob("*.py"))
    assert files
    upward = [
        (str(path.relative_to(PACKAGE)), other)
        for path in files
        for other in sorted(parts_imported(path.read_text(), ["widemargin", *path.relative_to(PACKAGE).parent.parts]))
        if HEIGHT[other] > HEIGHT[part]
    ]
    assert upward == []


def test_every_part_has_its_layer():
    parts = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert parts == set(HEIGHT)


def test_late_imports_count_and_those_of_type_checkers_do_not():
    source = (
        "if TYPE_CHECKING:\n    from ..cli import x\n"
        "def f():\n    from ..model.fit import y\n"
        "import widemargin.data.files\n"
        "from .. import solvers\n"
        "from .labels import z\n"
    )
    assert parts_imported(source, ["widemargin", "objective"]) == {"model", "data", "solvers", "objective"}
