"""Maps for newcomers: a short ARCHITECTURE.md, and READMEs that name every module once."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("assignors", "core", "cli")
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
ARCHITECTURE_LINES = 300
READMES = sorted(page for top in PRODUCT for page in (ROOT / top).rglob("README.md"))
PAGES = [
    ARCHITECTURE,
    ROOT / "CONTRIBUTING.md",
    ROOT / "tests/support/README.md",
    *READMES,
]


def test_architecture_stays_short() -> None:
    """Details of a package belong into its README."""
    assert len(ARCHITECTURE.read_text(encoding="utf-8").splitlines()) <= ARCHITECTURE_LINES


def test_every_module_is_named_once() -> None:
    """Each module of the product has one row in one table of modules, with what it holds."""
    named: Counter[Path] = Counter()
    for page in READMES:
        table = page.read_text(encoding="utf-8").split("<!-- modules:begin -->")[1]
        for path, text in re.findall(r"^\| `([^`]+\.py)` \| (.*) \|$", table, re.MULTILINE):
            named[page.parent / path] += 1
            assert text.strip(), f"{path} has no docstring"
    modules = {
        path for top in PRODUCT for path in (ROOT / top).rglob("*.py") if path.name != "__init__.py"
    }
    assert set(named) == modules
    assert max(named.values()) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link names a file that exists, each anchor a heading."""
    text = page.read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
        for line in text.splitlines()
        if line.startswith("#")
    }
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    files = [link for link in links if not link.startswith("#")]
    assert [link for link in files if not (page.parent / link.split("#")[0]).exists()] == []
    assert [link for link in links if link.startswith("#") and link[1:] not in headings] == []


def test_every_package_is_on_the_map() -> None:
    """ARCHITECTURE.md links each README of a package."""
    links = set(re.findall(r"\]\(([^)\s]+)\)", ARCHITECTURE.read_text(encoding="utf-8")))
    assert {str(page.relative_to(ROOT)) for page in READMES} <= links


def test_recipes_name_files_that_exist() -> None:
    """A recipe that leads nowhere is worse than none."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipes = text.split("## Recipes")[1].split("\n## ")[0]
    files = re.findall(r"`((?:assignors|cli|core|docs|tests)/[\w./-]+)`", recipes)
    assert len(files) >= 30
    assert [name for name in files if not (ROOT / name).exists()] == []
