"""Maps for newcomers: a short ARCHITECTURE.md, and READMEs that name every module once."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("assignors", "core", "cli")
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
GUIDES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
ARCHITECTURE_LINES = 300
CODE = ("assignors", "core", "cli", "public", "tests", "bench", "scripts")
OTHERS = {"LocalRelation", "availableNow"}  # names of other programs' parts, which no file here has
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


def _words_of_code() -> set[str]:
    """Every word of a file that is code or data, and every file's own name."""
    found: set[str] = set()
    for path in (ROOT / "pyproject.toml", *(p for top in CODE for p in (ROOT / top).rglob("*"))):
        if path.suffix in (".py", ".json", ".toml", ".java", ".js", ".go", ".sh", ".yaml"):
            found.add(path.stem)
            found |= set(re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8")))
    return found


def test_names_in_documents_are_in_the_code() -> None:
    """What a README calls by its name (`like_this`, `LikeThis`) is there: nothing stale."""
    known = _words_of_code() | OTHERS
    # Documents have in seconds what the code has in milliseconds.
    known |= {name.removesuffix("_ms") + "_seconds" for name in known if name.endswith("_ms")}
    pages = {page: page.read_text(encoding="utf-8") for page in (*PAGES, *GUIDES)}
    glossary = pages[ARCHITECTURE].partition("\n## Glossary\n")[2].partition("\n## ")[0]
    pages[ARCHITECTURE] = pages[ARCHITECTURE].replace(
        glossary, ""
    )  # names that are not to be there
    stale = {
        f"{page.relative_to(ROOT)}: {name}"
        for page, text in pages.items()
        for quoted in re.findall(r"`([^`\n]+)`", text)
        for name in re.findall(r"[A-Za-z_]\w*", quoted)
        if ("_" in name or re.search(r"[a-z][A-Z]", name)) and name not in known
    }
    assert stale == set()
