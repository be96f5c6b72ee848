"""The files that the schedule of the tests names are there, and are those that it means."""

import re
from pathlib import Path

import pytest

from tests.schedule import FIRST, TOGETHER, unit_of

ROOT = Path(__file__).parents[2]
# Unit and the fixture, as a pattern, that the tests of its files ask for.
ASKED = {
    "the session of Spark": r"\bspark: SparkSession",
    "the world of the official tool": r"\bfull: KafkaCluster",
    "the brokers that let not everybody in": r"\b(secure|guarded)_kafka: KafkaCluster",
}


@pytest.mark.parametrize("unit", TOGETHER)
def test_who_shares_stays_together(unit: str) -> None:
    """Every file that asks for a unit's fixture is of some unit, and those of a unit ask for it."""
    files = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "tests").rglob("test_*.py")
        if re.search(ASKED[unit], file.read_text())
    }
    assert {file for file in files if unit_of(file) == file} == set()
    assert set(TOGETHER[unit]) <= files


def test_what_is_named_is_there() -> None:
    """A unit that goes first is a file, or files that stay together."""
    assert {name for name in FIRST if name not in TOGETHER and not (ROOT / name).is_file()} == set()
    assert set(TOGETHER) <= set(FIRST)
