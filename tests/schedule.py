"""In which order files of tests go to the processes of a run, and which of them stay together.

pytest-xdist hands out a file at a time. Here files that ask for the same expensive fixture are one
such unit, so that one process alone makes it; and what took longest when durations were recorded
goes first, so that no process is left alone with it at the end.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

from tests.support.durations import UNKNOWN_S, Durations, file_of, kind_of

SHARED: Final[Mapping[str, str]] = {
    "spark": "the session of Spark",
    "full": "the world of the official tool",
    "guarded_kafka": "the brokers that let not everybody in",
    "secure_kafka": "the brokers that let not everybody in",
    "trio": "the three brokers",
    "kafka": "the plain broker",
    "browser": "the browser",
    "oracles": "Kafka's own coordinators",
}
"""Fixtures that take long to make, and the unit of the files whose tests ask for them."""

UNITS: Final = pytest.StashKey[Mapping[str, str]]()
"""Of a process that runs tests: the unit of each file that shares something."""


def units_of(items: Iterable[pytest.Item]) -> dict[str, str]:
    """The unit of each file with a test that asks for a shared fixture, directly or not.

    A parameter that is a mark, too, is its name for `request.getfixturevalue`: `spark`. Who asks
    for two of them is with the first in `SHARED`.
    """
    asked: dict[str, set[str]] = defaultdict(set)
    for item in items:
        names = asked[file_of(item.nodeid)]
        names.update(getattr(item, "fixturenames", ()))
        if hasattr(item, "callspec"):
            given = [value for value in item.callspec.params.values() if isinstance(value, str)]
            names.update(value for value in given if item.get_closest_marker(value))
    units: dict[str, str] = {}
    for file, names in asked.items():
        unit = next((unit for fixture, unit in SHARED.items() if fixture in names), None)
        if unit is not None:
            units[file] = unit
    return units


def in_order(
    items: Iterable[pytest.Item], units: Mapping[str, str], durations: Durations
) -> list[pytest.Item]:
    """The tests of the longest units first; those of units as long in the order that they came in.

    Args:
        units: of files that share something; each other file is one.
        durations: what was recorded of the files.
    """
    items = list(items)
    lengths: dict[str, float] = defaultdict(float)
    # Sorted, as sums of floats depend on the order, and every process must come to the same.
    for file, kind in sorted({(file_of(item.nodeid), kind_of(item)) for item in items}):
        lengths[units.get(file, file)] += seconds(durations, file, kind)
    unit_of = {file: units.get(file, file) for file in {file_of(item.nodeid) for item in items}}
    return sorted(items, key=lambda item: -lengths[unit_of[file_of(item.nodeid)]])


def seconds(durations: Durations, file: str, kind: str) -> float:
    """How long the tests of a file take; of a file with a record, kinds without one take none."""
    if file not in durations:
        return UNKNOWN_S
    return durations[file][kind].seconds if kind in durations[file] else 0.0


def send_units(units: Mapping[str, str], path: Path) -> None:
    """Leave them for the process that hands out tests: only those that run some collect them."""
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(units))
    unfinished.replace(path)


class Schedule(LoadScopeScheduling):  # type: ignore[misc]
    """xdist's schedule by files, with units instead.

    Args:
        units: where the processes that collected tests leave their units.
    """

    def __init__(self, config: pytest.Config, log: Producer | None, units: Path) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # by the number of tests
        self._path = units
        self._units: Mapping[str, str] | None = None

    def _split_scope(self, nodeid: str) -> str:
        if self._units is None:
            self._units = json.loads(self._path.read_text())
        file = file_of(nodeid)
        return self._units.get(file, file)
