"""The house itself: packages listed, imports pointing one way."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_pyproject_lists_every_package() -> None:
    """setuptools leaves out what `packages` does not list."""
    listed = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    )
    found = {
        "kgroups." + ".".join(init.parent.relative_to(ROOT).parts)
        for top in ("assignors", "core", "cli")
        for init in (ROOT / top).rglob("__init__.py")
    }
    assert found == listed
