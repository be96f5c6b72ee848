"""Advice of `kgroups doctor` that is followed: what it foretold comes true on a real broker."""

import threading
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.support.cli.runner import run
from tests.support.doctor.faults import SESSION
from tests.support.doctor.played_group import WAIT_S, Place, PlayedGroup
from tests.support.fidelity.libraries import Library
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.waiting import wait_until
from tests.support.simulation_truth.rows import Kind, Row

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("clients of two libraries; quick: tests/core/doctor/test_proofs.py"),
]

TIMES: Final = 4
"""That a member stands still: two rebalances each, which is a storm."""


@pytest.fixture(scope="module")
def place(kafka: KafkaCluster) -> Iterator[Place]:
    """A broker, and programs for the members."""
    with Place(kafka.bootstrap) as place:
        yield place


def group_of(place: Place, library: Library, name: str, session: dict[str, int]) -> PlayedGroup:
    """Two members that are in their group and have read everything."""
    kind = Kind(name, {"gc_pause": {}}, session=False, settings=session)
    group = PlayedGroup(place, Row(kind, library), f"proof-{library}-{name}")
    group.create_topic()
    group.start(2)
    return group


def rebalances(place: Place, group: PlayedGroup) -> int:
    """So far."""
    outcome = run("history", group.group, "-b", place.servers, "-o", "json", "--timeout", "60s")
    count: int = outcome.document["summary"]["rebalances"]
    return count


def storm_of(place: Place, group: PlayedGroup) -> dict[str, Any] | None:
    """What `doctor` finds of it."""
    outcome = run("doctor", group.group, "-b", place.servers, "-o", "json", "--timeout", "60s")
    findings = outcome.document["items"][0]["findings"]
    return next((each for each in findings if each["code"] == "REBALANCE_STORM"), None)


def proved_storm(place: Place, group: PlayedGroup) -> dict[str, Any] | None:
    """The same with its proof; on a busy machine its time may be over before."""
    found = storm_of(place, group)
    return found if found is None or found["proof"] else None


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_longer_session(place: Place, library: Library) -> None:
    """A member that pauses for longer than its session; then it has the session that is advised."""
    short = group_of(place, library, "short", dict(SESSION))
    before = rebalances(place, short)
    for _ in range(TIMES):
        short.freeze("m-1")
        short.wait_members(1)
        short.go_on("m-1")
        short.wait_members(2)
    happened = rebalances(place, short) - before
    found = wait_until(lambda: proved_storm(place, short), "it is proved", timeout_s=WAIT_S)
    short.close()
    assert found is not None
    assert found["evidence"]["cause"] == "session_timeout"
    proof = found["proof"]
    assert proof["before"]["rebalances"] == happened == 2 * TIMES
    setting, _, value = proof["change"].partition("=")
    assert setting == "session.timeout.ms"

    seconds = float(proof["assumes"].rpartition(" ")[2].removesuffix("s"))
    long = group_of(place, library, "long", {**SESSION, setting: int(value)})
    before = rebalances(place, long)
    for _ in range(TIMES):
        long.freeze("m-1")
        threading.Event().wait(seconds)  # as long as it stood still before
        long.go_on("m-1")
        long.produce(1)
        long.read_all()
    assert rebalances(place, long) - before == proof["after"]["rebalances"] == 0
    assert storm_of(place, long) is None
    long.close()
