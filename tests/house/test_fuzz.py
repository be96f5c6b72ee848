"""`make fuzz`: each kind runs files that are there, and reads the count that it is given."""

from functools import cache
from pathlib import Path

import pytest

from scripts.fuzz import KINDS, commands

ROOT = Path(__file__).parents[2]


@cache
def text() -> str:
    """All tests but this one."""
    files = (ROOT / "tests").rglob("*.py")
    return "\n".join(file.read_text() for file in files if file != Path(__file__))


@pytest.mark.parametrize("what", KINDS)
def test_a_kind(what: str) -> None:
    """Its files are there; tests read the variables that it sets; the seed is the one asked for."""
    for command, environment in commands(what, 7_000, 42):
        files = [word for word in command if word.startswith("tests")]
        assert files
        assert all((ROOT / file).exists() for file in files)
        assert all(f'"{name}"' in text() for name in environment)
        assert "42" in environment.values()


def test_counts() -> None:
    """A count replaces the default."""
    ((_, few),) = commands("lag", 3, 1)
    ((_, usual),) = commands("lag", None, 1)
    assert few["KGROUPS_FUZZ_HISTORIES"] == "3"
    assert usual["KGROUPS_FUZZ_HISTORIES"] == str(KINDS["lag"].count)
