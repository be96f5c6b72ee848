"""The house itself: packages listed, imports pointing one way."""

import sys
import tomllib
from pathlib import Path

from tests.support.kafka.child import run_program

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
    assert found | {"kgroups.completions"} == listed  # files alone


def test_licences_are_listed() -> None:
    """docs/licences.md has every distribution that the package requires, in its pinned version."""
    done = run_program([sys.executable, ROOT / "scripts" / "licences.py", "check"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
