"""The code in the README and in docs/ runs, and what they name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

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
    assert [name for name in widemargin.solvers.table() if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "estimators.md"], ids=lambda page: page.name)
def test_pages_name_every_estimator(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    public = {name: getattr(widemargin, name) for name in dir(widemargin)}
    estimators = [name for name, one in public.items() if isinstance(one, type) and issubclass(one, BaseEstimator)]
    assert len(estimators) == 18
    assert [name for name in estimators if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)", page.read_text(encoding="utf-8"))
    local = [target.split("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]
    assert [target for target in local if not (page.parent / target).exists()] == []
