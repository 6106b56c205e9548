"""The code in the README and in docs/ runs, and what they name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import widemargin

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_in_order(page: Path) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "solvers.md"], ids=lambda page: page.name)
def test_pages_name_every_registered_solver(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in widemargin.solvers() if f"`{name}`" not in text] == []
