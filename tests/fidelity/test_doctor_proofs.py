"""Advice of `kgroups doctor` that is followed: what it foretold comes true on a real broker."""

import threading
from typing import Any, Final

import pytest

from kgroups.core.simulation.scenario.member_settings import Protocol
from tests.support.cli.runner import run
from tests.support.doctor.faults import SESSION
from tests.support.doctor.findings import findings, of_code
from tests.support.doctor.played_group import WAIT_S, Place, PlayedGroup
from tests.support.fidelity.libraries import Library
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.waiting import wait_until
from tests.support.simulation_truth.rows import Kind, Row

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("clients of two libraries; quick: tests/core/doctor/test_proofs.py"),
]

SHORT: Final = {
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
}
TIMES: Final = 4
"""That a member stands still: two rebalances each, which is a storm."""


def group_of(
    place: Place,
    library: Library,
    name: str,
    session: dict[str, int],
    protocol: Protocol = "eager",
) -> PlayedGroup:
    """Two members that are in their group and have read everything."""
    kind = Kind(name, {"gc_pause": {}}, session=False, settings=session, protocol=protocol)
    group = PlayedGroup(place, Row(kind, library), f"proof-{library}-{name}")
    group.create_topic()
    group.start(2)
    return group


def rebalances(place: Place, group: PlayedGroup) -> int:
    """So far."""
    outcome = run("history", group.group, "-b", place.servers, "-o", "json", "--timeout", "60s")
    count: int = outcome.document["summary"]["rebalances"]
    return count


def storm_of(place: Place, group: PlayedGroup, *log: str) -> dict[str, Any] | None:
    """What `doctor` finds of it."""
    (found,) = findings(place.servers, group.group, *log).values()
    return next(iter(of_code(found, "REBALANCE_STORM")), None)


def proved_storm(place: Place, group: PlayedGroup, *log: str) -> dict[str, Any] | None:
    """The same with its proof; on a busy machine its time may be over before."""
    found = storm_of(place, group, *log)
    return found if found is None or found["proof"] else None


def stand_still(group: PlayedGroup, seconds: float = 0.0) -> None:
    """A member does, again and again: as long as its session lasts, or as it did before."""
    for _ in range(TIMES):
        group.freeze("m-1")
        if seconds:
            threading.Event().wait(seconds)
        else:
            group.wait_members(1)
        group.go_on("m-1")
        if seconds:
            group.produce(1)
            group.read_all()
        else:
            group.wait_members(2)


def test_a_longer_session_of_the_group() -> None:
    """KIP-848: the broker's log tells the cause; the advice is typed, and it ends."""
    with KafkaCluster(ClusterSpec(properties=SHORT)) as kafka, Place(kafka.bootstrap) as place:
        log = ("--log", str(kafka.log_path()))
        group = group_of(place, "java", "kip848", {}, "consumer")
        before = rebalances(place, group)
        stand_still(group)
        happened = rebalances(place, group) - before
        found = wait_until(
            lambda: proved_storm(place, group, *log), "it is proved", timeout_s=WAIT_S
        )
        assert found is not None
        assert (found["evidence"]["cause"], found["certainty"]) == ("session_timeout", "certain")
        proof = found["proof"]
        assert proof["before"]["rebalances"] == happened
        assert found["next"] == f"kgroups config {group.group} --set {proof['change']}"
        assert run(*found["next"].split()[1:], "--yes", "-b", place.servers).exit_code == 0
        group.join("m-3")  # the others have given up partitions: they have sent heartbeats since
        group.settle()
        group.wait_members(3)
        seconds = float(proof["assumes"].rpartition(" ")[2].removesuffix("s"))
        before = rebalances(place, group)
        stand_still(group, seconds)
        assert rebalances(place, group) - before == proof["after"]["rebalances"] == 0
        group.close()


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_longer_session(place: Place, library: Library) -> None:
    """A member that pauses for longer than its session; then it has the session that is advised."""
    short = group_of(place, library, "short", dict(SESSION))
    before = rebalances(place, short)
    stand_still(short)
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
    stand_still(long, seconds)
    assert rebalances(place, long) - before == proof["after"]["rebalances"] == 0
    assert storm_of(place, long) is None
    long.close()
