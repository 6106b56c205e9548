"""`import widemargin` is light, and every public name is there."""

import subprocess
import sys

import pytest

import widemargin

HEAVY = ("sklearn", "matplotlib", "rich", "pandas", "polars", "pyarrow")


def modules_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after a statement."""
    program = f"{statement}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import widemargin",
        "from widemargin import Problem, solve, solvers",
        "from widemargin import Problem, solve; solve(Problem([[1.0], [-1.0]], [1, 0]))",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(statement):
    loaded = modules_after(statement)
    assert "widemargin" in loaded
    assert not loaded.intersection(HEAVY)


def test_auto_loads_no_solver_that_it_does_not_choose():
    """Hinge loss and many features: dual_cd, behind it the last resort, and nobody else."""
    program = (
        "import sys; from widemargin import Problem, solve\n"
        "print(solve(Problem([[1.0] * 2000, [-1.0] * 2000], [1, 0], loss='hinge')).solver)\n"
        "others = ('sparse.multipliers', 'newton.newton_cholesky', 'newton.tron')\n"
        "print(*(name for name in others if f'widemargin.solvers.{name}' in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["dual_cd"]


def test_import_alone_loads_no_scipy():
    assert "scipy" not in modules_after("import widemargin")


@pytest.mark.parametrize("name", dir(widemargin))
def test_every_public_name_is_importable(name):
    first = getattr(widemargin, name)
    assert first is getattr(widemargin, name)
    assert name in widemargin.__all__


def test_public_names_are_documented():
    for name in dir(widemargin):
        if name != "__version__":
            assert getattr(widemargin, name).__doc__, f"{name} has no docstring"


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'LinearSVM'"):
        widemargin.LinearSVM  # noqa: B018
