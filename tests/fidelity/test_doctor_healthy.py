"""Over 300 healthy groups of seven client libraries: `kgroups doctor` finds nothing above info."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from tests.support.cli.runner import run
from tests.support.doctor.healthy import HealthyGroup
from tests.support.doctor.played_group import PARTITIONS, Place
from tests.support.fidelity.driven_group import all_at_once
from tests.support.fidelity.libraries import TRAITS, Library
from tests.support.kafka.workload import create_topics
from tests.support.requirements import requires

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("clients of seven libraries; quick: tests/core/doctor/test_detectors.py"),
]

NEEDS: Final = {
    "sarama": requires("Go"),
    "franz-go": requires("Go"),
    "kafkajs": requires("Node.js"),
}
EACH: Final = 44
"""Of a library: 308 of all."""
AT_ONCE: Final = 15
"""Fewer than `doctor` reads the history of by itself."""
OVER: Final = "15s"
LOOK_S: Final = 240.0


def alarms(place: Place, groups: list[HealthyGroup]) -> dict[str, list[dict[str, Any]]]:
    """What is found of groups above info, while they go through their lives."""
    names = [group.played.group for group in groups]
    create_topics(place.servers, {group.played.topic: PARTITIONS for group in groups})
    try:
        all_at_once(HealthyGroup.prepare, groups)
        with ThreadPoolExecutor(len(groups)) as threads:
            lives = [threads.submit(group.look) for group in groups]
            line = ("doctor", *names, "--over", OVER, "-b", place.servers, "--timeout", "60s")
            outcome = run(*line, "-o", "json")
            for life in lives:
                life.result(LOOK_S)
    finally:
        all_at_once(lambda group: group.played.close(), groups)
    items = outcome.document["items"]
    # Who only now joins may not be there at the first look.
    late = {group.played.group for group in groups if group.life.begins}
    assert {item["group"] for item in items} >= set(names) - late, outcome.stderr
    return {
        item["group"]: above
        for item in items
        if (above := [each for each in item["findings"] if each["level"] != "info"])
    }


@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=NEEDS.get(name, ())) for name in TRAITS]
)
def test_nothing_above_info(place: Place, library: Library) -> None:
    """Steady, idle, just started, in a deploy, scaled, with members in reserve."""
    found: dict[str, list[dict[str, Any]]] = {}
    groups = [HealthyGroup(place, library, number) for number in range(EACH)]
    for first in range(0, EACH, AT_ONCE):
        found |= alarms(place, groups[first : first + AT_ONCE])
    assert not found, json.dumps(found, indent=1)
