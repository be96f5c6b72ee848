"""All of Kafka's own tests are recreated: each number has something that is run, and runs only."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

import pytest

from tests.support.official.catalogue import CATALOGUE, MORE, SYSTEM
from tests.support.official.kind_catalogue import KIND_CATALOGUE
from tests.support.official.kind_lines import KIND_LINES
from tests.support.official.lines import LINES
from tests.support.official.scenarios import SCENARIOS

# How many tests each class has; those that are gone are not counted.
TESTS = {
    "ListConsumerGroupTest": range(1, 10),
    "DescribeConsumerGroupTest": [*range(1, 9), *range(10, 39)],
    "DeleteConsumerGroupsTest": range(1, 10),
    "DeleteOffsetsConsumerGroupCommandIntegrationTest": range(1, 10),
    "ResetConsumerGroupOffsetTest": range(1, 29),
    "ConsumerGroupServiceTest": range(1, 4),
    "ConsumerGroupCommandAuthorizationTest": range(1, 2),
    "ConsumerGroupCommandSaslAuthenticationTest": range(1, 5),
    "ConsumerGroupCommandTest": range(1, 3),
    "DeleteRecordsCommandTest": range(1, 11),
}
EVERY: dict[str, Mapping[Any, tuple[str, ...]]] = {**CATALOGUE, "system": SYSTEM, **KIND_CATALOGUE}
ROWS = [
    (suite, number, reference)
    for suite, numbers in EVERY.items()
    for number, references in numbers.items()
    for reference in references
]


def met(suite: str, reference: str) -> Iterator[str]:
    """What a reference stands for, as far as it is there."""
    if reference.startswith("> "):
        yield from (line.text for line in LINES if line.text == reference.removeprefix("> "))
    elif "::" in reference:
        module, _, name = reference.partition("::")
        path = module if module.startswith("tests.") else f"tests.official.{module}"
        if name.startswith("test_") and hasattr(import_module(path), name):
            yield name
    elif suite in KIND_CATALOGUE:
        yield from (line.name for line in KIND_LINES if fnmatchcase(line.name, reference))
    else:
        own = (scenario.what for scenario in SCENARIOS if scenario.suite == suite)
        yield from (what for what in own if fnmatchcase(what, reference))


def test_every_scenario_has_a_row() -> None:
    """112 and 132 of them, and none of the rows is empty."""
    assert {suite: list(numbers) for suite, numbers in CATALOGUE.items()} == {
        suite: list(numbers) for suite, numbers in TESTS.items()
    }
    assert sum(map(len, CATALOGUE.values())) == 112
    assert sum(map(len, KIND_CATALOGUE.values())) == 132
    assert all(references for numbers in EVERY.values() for references in numbers.values())


@pytest.mark.parametrize(
    ("suite", "number", "reference"), ROWS, ids=[f"{s} {n}: {r}" for s, n, r in ROWS]
)
def test_every_row_is_met(suite: str, number: object, reference: str) -> None:
    """A reference to nothing is a scenario that nobody runs."""
    assert list(met(suite, reference)), f"{suite} {number}"


def test_every_scenario_of_ours_is_named() -> None:
    """A scenario that no row names is a gap of the catalogue."""
    named = {(suite, what) for suite, _, reference in ROWS for what in met(suite, reference)} | {
        (suite, what)
        for suite, references in MORE.items()
        for reference in references
        for what in met(suite, reference)
    }
    assert [s for s in SCENARIOS if (s.suite, s.what) not in named] == []
    assert all(list(met(suite, each)) for suite, more in MORE.items() for each in more)
