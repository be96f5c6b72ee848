"""Faults that clients of seven libraries cause on a real broker, and what `kgroups doctor` finds.

`KGROUPS_DOCTOR_TRUTH=1` writes what came of it to tests/data/doctor_truth.json, for docs/doctor.md;
`KGROUPS_DOCTOR_FAULTS=crash` takes only what has this in its name.
"""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.doctor.faults import RETENTION_MS, Fault, faults
from tests.support.doctor.findings import findings
from tests.support.doctor.played_group import PARTITIONS, Place, PlayedGroup
from tests.support.fidelity.driven_group import all_at_once
from tests.support.kafka.workload import create_topics
from tests.support.requirements import requires

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("clients of seven libraries; quick: tests/core/doctor/test_detectors.py"),
    requires("Go"),
    requires("Node.js"),
]

AT_ONCE: Final = 14
"""Fewer than `doctor` reads the history of by itself."""
TRUTH: Final = Path(__file__).parents[1] / "data" / "doctor_truth.json"
OVER: Final = "20s"
WANTED: Final = os.environ.get("KGROUPS_DOCTOR_FAULTS", "")
SHARE: Final = 0.95
"""Of the faults: found with the right code, level and object, and nothing else above info."""


def missed(place: Place, some: list[Fault]) -> dict[str, str]:
    """The faults that were not found as they are, with what was wrong."""
    groups = {fault: fault.play(place) for fault in some}
    topics = {group.topic: PARTITIONS for group in groups.values()}
    create_topics(place.servers, topics, config={"retention.ms": str(RETENTION_MS)})
    try:
        all_at_once(lambda fault: fault.cause.do(groups[fault]), some)
        names = [fault.group for fault in some]
        found = findings(place.servers, *names, "--over", OVER)
    finally:
        all_at_once(PlayedGroup.close, list(groups.values()))
    return {
        fault.group: miss
        for fault, group in groups.items()
        if (miss := fault.misses(group, found.get(fault.group, [])))
    }


def write(every: list[Fault], misses: dict[str, str]) -> None:
    """What docs/doctor.md says of it."""
    rows: dict[str, dict[str, Any]] = {}
    for fault in every:
        code, cause = fault.cause.code, fault.cause.name
        row = rows.setdefault(cause, {"code": code, "libraries": [], "found": 0})
        row["libraries"].append(fault.library)
        row["found"] += fault.group not in misses
    TRUTH.write_text(json.dumps(rows, indent=1) + "\n")


@pytest.mark.timeout(1_800)  # five minutes alone: clients wait for their timeouts
def test_faults_are_found(place: Place) -> None:
    """By code, level and object; nothing else is said above info. Every cause of some library."""
    every = [each for each in faults() if WANTED in each.group]
    misses: dict[str, str] = {}
    for first in range(0, len(every), AT_ONCE):
        misses |= missed(place, every[first : first + AT_ONCE])
    if os.environ.get("KGROUPS_DOCTOR_TRUTH"):
        write(every, misses)
    told = json.dumps(misses, indent=1)
    assert len(misses) <= (1 - SHARE) * len(every), told
    found = {each.cause for each in every if each.group not in misses}
    assert found == {each.cause for each in every}, told
