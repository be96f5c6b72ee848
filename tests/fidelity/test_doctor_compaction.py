"""What is left when the cleaner has been there: gaps in a topic, captures instead of records."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Producer

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from tests.support.cli.runner import run
from tests.support.doctor.findings import examined, findings, of_code
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.hung_transactions import transactional
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.transactional_logs import readable
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    COMPACTED_AT_ONCE,
    commit_offsets,
    configure,
    create_topics,
    produce,
)

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "a busy cleaner; of captures without a broker: tests/core/history/test_looks.py"
    ),
]

SPEC: Final = ClusterSpec(
    properties={
        "log.cleaner.backoff.ms": "200",
        "offsets.topic.num.partitions": "1",
        "offsets.retention.minutes": "60",
    }
)
CLEANED: Final = {**COMPACTED_AT_ONCE, "delete.retention.ms": "0"}
GONE, KEPT = "gaps", "no-gaps"
COMMITTED: Final = 5

Items = list[dict[str, Any]]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A broker that cleans as soon as it may."""
    with KafkaCluster(SPEC) as cluster:
        yield cluster.bootstrap


def left(address: str, topic: str) -> list[int | None]:
    """Offsets of committed records that come after the commit."""
    return [message.offset() for message in readable(address, (topic, 0), COMMITTED)]


def fill_and_clean(address: str) -> None:
    """One key again and again, and its deletion, or a last value, and the end of a transaction."""
    create_topics(address, {GONE: 1, KEPT: 1}, config=CLEANED)
    plain = Producer({"bootstrap.servers": address, "linger.ms": 0, "log_level": 0})
    for number in range(10):
        for topic in (GONE, KEPT):
            value = None if number == 9 and topic == GONE else b"v"
            plain.produce(topic, value, key=b"k", partition=0)
        assert plain.flush(60) == 0
    commit_offsets(address, {topic: {(topic, 0): COMMITTED} for topic in (GONE, KEPT)})
    aborting = transactional(address, "aborting")

    def is_clean() -> bool:
        aborting.begin_transaction()
        for topic in (GONE, KEPT):  # a new segment: those before it can be cleaned
            aborting.produce(topic, b"v", key=b"aborted", partition=0)
        assert aborting.flush(60) == 0
        aborting.abort_transaction(60)
        return left(address, GONE) == [] and left(address, KEPT) == [9]

    wait_until(is_clean, "the records are gone", pause_s=0.5)


def test_lag_that_compaction_has_emptied(address: str) -> None:
    """Nothing is left to read between commit and end; with one value there is a record."""
    fill_and_clean(address)
    idle = {f"idle-{topic}": {(topic, 0): COMMITTED} for topic in (GONE, KEPT)}
    commit_offsets(address, idle)
    names = (GONE, KEPT, *idle)
    with ExitStack() as held:
        for name in (GONE, KEPT):
            group = LiveGroup(address, name, [MemberSpec(name, (name,))])
            held.enter_context(group).wait_stable(1)
        items = examined(address, *names, "--over", "1s")
    found = {name: item["findings"] for name, item in items.items()}
    facts = {name: item["facts"] for name, item in items.items()}
    (finding,) = of_code(found[GONE], "PHANTOM_LAG")
    assert (finding["level"], finding["where"]) == ("info", {"topic": GONE})
    assert finding["evidence"]["lag"] == facts[GONE]["lag"] >= 5
    assert of_code(found[KEPT], "PHANTOM_LAG") == []
    assert facts[KEPT]["lag"] == facts[GONE]["lag"]
    codes = {name: {each["code"] for each in found[name]} for name in idle}
    shared = {"NO_CONSUMER", "PHANTOM_LAG"}
    assert codes[f"idle-{GONE}"] & shared == {"PHANTOM_LAG"}
    assert codes[f"idle-{KEPT}"] & shared == {"NO_CONSUMER"}
    (unwatched,) = findings(address, f"idle-{GONE}").values()
    assert of_code(unwatched, "NO_CONSUMER") == []


def test_commits_that_brokers_will_delete(address: str) -> None:
    """An hour after the last member left; while there is one, they stay."""
    topic, left, stays = "expiring", "expiring-left", "expiring-stays"
    create_topics(address, {topic: 1})
    groups = {
        name: LiveGroup(address, name, [MemberSpec("app", (topic,))]) for name in (left, stays)
    }
    with ExitStack() as held:
        for group in groups.values():
            held.enter_context(group).wait_stable(1)
            group.members[0].commit({(topic, 0): 0})
        groups[left].close()
        found = findings(address, left, stays)
    assert of_code(found[stays], "OFFSETS_EXPIRING") == []
    (finding,) = of_code(found[left], "OFFSETS_EXPIRING")
    assert (finding["level"], finding["certainty"]) == ("warning", "certain")
    assert finding["evidence"]["expires_in_seconds"] <= 3_600
    assert finding["evidence"]["partitions"] == 1


def rebalances(address: str, *words: str) -> Items:
    """Of the driven group, in order."""
    outcome = run("history", "driven", *words, "-b", address, "-o", "json", "--timeout", "60s")
    items: Items = outcome.document["items"]
    return [item for item in items if item["kind"] == "rebalance"]


def clean_offsets(address: str) -> None:
    """Let the cleaner take the group's older records, as it does after a day or a week."""
    configure(address, OFFSETS_TOPIC, CLEANED)

    def is_clean() -> bool:
        commit_offsets(address, {"roller": {("driven", 0): 1}})
        return len(rebalances(address)) <= 1

    wait_until(is_clean, "the older records of the group are gone", pause_s=0.5)


def changed(item: dict[str, Any]) -> tuple[set[str], set[str], int]:
    """Who came and went, and how many are there now."""
    came, went = ({each["client_id"] for each in item[how]} for how in ("joined", "left"))
    return came, went, item["member_count"]


def test_captures_tell_what_the_members_did(address: str, tmp_path: Path) -> None:
    """The third member came, the second left, and the third stands still; the records are gone."""
    folder, fresh = str(tmp_path / "captures"), str(tmp_path / "fresh")
    create_topics(address, {"driven": 4})
    produce(address, {("driven", number): 5 for number in range(4)})

    def collect(into: str = folder) -> None:
        assert run("-b", address, "lag", "collect", into).exit_code == 0

    with LiveGroup(address, "driven", [MemberSpec(name, ("driven",)) for name in "ab"]) as group:
        group.wait_stable(4)
        collect()
        group.add(MemberSpec("c", ("driven",)))
        group.wait_stable(4)
        collect()
        (mover, leaver, _) = group.members
        group.remove(leaver)
        group.wait_stable(4)
        for member in group.members:
            member.commit(dict.fromkeys(member.assignment, 3))
        collect()
        collect(fresh)  # a look at the group since which nobody came or went
        produce(address, {("driven", number): 5 for number in range(4)})
        mover.commit(dict.fromkeys(mover.assignment, 10))
        stuck = {number for _, number in group.members[1].assignment}
        (stalled,) = findings(address, "driven", "--captures", fresh).values()
        clean_offsets(address)
        told = rebalances(address, "--captures", folder)
    assert [changed(item) for item in told] == [({"c"}, set(), 3), (set(), {"b"}, 2)]
    assert told[0]["source"] == "captures"
    assert {found["code"] for found in stalled} == {"STALLED_PARTITION"}
    assert {found["where"]["partition"] for found in stalled} == stuck
    assert {found["where"]["client_id"] for found in stalled} == {"c"}
    assert {found["evidence"]["committed_offset"] for found in stalled} == {3}
