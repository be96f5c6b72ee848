"""Faults of groups of real clients: a table of what causes them, and of what is to be found."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kgroups.core.simulation.scenario.member_settings import Protocol
from tests.support.doctor.played_group import PARTITIONS, RECORDS, Place, PlayedGroup
from tests.support.fidelity.libraries import Library
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics, delete_topics, end_offsets, expire_records
from tests.support.simulation_truth.rows import Kind, Row

RETENTION_MS: Final = 7 * 24 * 3_600_000
"""Of all topics."""
LONG_S: Final = 600.0
SESSION: Final = {"session.timeout.ms": 6_000, "heartbeat.interval.ms": 1_000}
POLL: Final = {**SESSION, "max.poll.interval.ms": 6_000}
AGAIN: Final = 5
"""Times that a member is lost and comes back: more rebalances than a storm needs."""
REST_S: Final = 32.0
"""After a rebalance commits may go backwards by themselves."""


@dataclass(frozen=True, eq=False)
class Cause:
    """What is done to a group, and what is found then.

    Args:
        code: of the finding.
        level: of the finding.
        do: brings the fault about, up to the moment when one looks.
        libraries: with which.
        where: part of the finding; `{topic}` is the group's, `{other}` its second one.
        evidence: part of the finding's.
        least: figures of the finding's evidence that are at least so large.
        beside: codes above info that belong to the same fault.
        kip848: of the libraries, those whose members speak KIP-848.
        kind: what members are, beside the default.
    """

    name: str
    code: str
    level: str
    do: Callable[[PlayedGroup], None]
    libraries: tuple[Library, ...]
    where: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()
    kip848: tuple[Library, ...] = ()
    kind: Mapping[str, Any] = field(default_factory=dict)


def other_of(topic: str) -> str:
    """A second topic of a group."""
    return f"{topic}-other"


def _record_that_never_ends(group: PlayedGroup) -> None:
    group.start(2)
    group.slow("m-1", LONG_S)
    group.produce(RECORDS)


def _paused(group: PlayedGroup) -> None:
    group.start(2)
    group.wish("m-1", "pause")
    threading.Event().wait(2.0)  # it is granted before the next poll
    group.produce(RECORDS)


def _nobody(group: PlayedGroup) -> None:
    group.start(1)
    group.leave("m-1")
    group.wait_members(0)
    group.place.producer.begin(group.topic, PARTITIONS, 12)


def _seek(group: PlayedGroup) -> None:
    group.start(2)
    threading.Event().wait(REST_S)
    group.wish("m-1", "seek")
    wait_until(lambda: group.committed() < group.end(), f"{group.group} reads again")


def _crash_loop(group: PlayedGroup) -> None:
    group.start(2)
    for _ in range(AGAIN):
        group.crash("m-1")
        group.wait_members(1)
        group.join("m-1")
        group.wait_members(2)


def _too_long_between_polls(group: PlayedGroup) -> None:
    group.start(2)
    group.place.producer.begin(group.topic, PARTITIONS, 12)
    for _ in range(AGAIN):
        group.slow("m-1", 12.0)
        group.wait_members(1)
        group.wait_members(2)


def _reserve(group: PlayedGroup) -> None:
    group.start(PARTITIONS + 2)


def _slower_than_producers(group: PlayedGroup) -> None:
    group.start(2)
    group.place.producer.begin(group.topic, PARTITIONS, 120)
    wait_until(lambda: group.end() > 4_000, "records come in", pause_s=0.5)


def _one_key(group: PlayedGroup) -> None:
    group.start(2)
    group.place.producer.begin(group.topic, PARTITIONS, 300, keys={"count": 1})
    wait_until(lambda: group.end() > 2_500, "records come in", pause_s=0.5)


def _two_applications(group: PlayedGroup) -> None:
    other = other_of(group.topic)
    create_topics(group.place.servers, {other: PARTITIONS})
    group.join("m-1")
    group.join("m-2", topic=other)
    group.wait_members(2)


def _retention(group: PlayedGroup) -> None:
    group.start(1)
    group.leave("m-1")
    group.produce(RECORDS)
    ends = end_offsets(group.place.servers, [(group.topic, at) for at in range(PARTITIONS)])
    expire_records(group.place.servers, {at: end - 10 for at, end in ends.items()})


def _topic_deleted(group: PlayedGroup) -> None:
    group.start(2)
    delete_topics(group.place.servers, [group.topic])


def _another_topic(group: PlayedGroup) -> None:
    other = other_of(group.topic)
    create_topics(group.place.servers, {other: PARTITIONS})
    group.start(2)
    for name in group.members:
        group.wish(name, "subscribe", topics=[other])
    group.settle(other)
    group.produce(RECORDS)


CAUSES: Final = (
    Cause(
        "a record that never ends",
        "STALLED_PARTITION",
        "error",
        _record_that_never_ends,
        ("java", "librdkafka", "kafka-python", "aiokafka"),
        where={"topic": "{topic}", "client_id": "m-1"},
    ),
    Cause(
        "partitions paused and forgotten",
        "STALLED_PARTITION",
        "error",
        _paused,
        ("java", "franz-go", "sarama", "kafkajs"),
        where={"topic": "{topic}", "client_id": "m-1"},
        kip848=("java",),
    ),
    Cause(
        "consumers stopped while producers go on",
        "NO_CONSUMER",
        "error",
        _nobody,
        ("java", "franz-go", "sarama", "kafkajs"),
    ),
    Cause(
        "an application that seeks",
        "COMMIT_BACKWARDS",
        "warning",
        _seek,
        ("java", "kafka-python", "aiokafka", "franz-go"),  # librdkafka commits nothing lower
        where={"topic": "{topic}"},
        kind={"room": 5, "record_ms": 50, "settings": {"enable.auto.commit": False}},
    ),
    Cause(
        "a member that crashes again and again",
        "REBALANCE_STORM",
        "error",
        _crash_loop,
        ("java", "librdkafka", "franz-go", "sarama"),
        where={"client_id": "m-1"},
        kind={"settings": SESSION},
    ),
    Cause(
        "more time for records than max.poll.interval.ms",
        "REBALANCE_STORM",
        "error",
        _too_long_between_polls,
        ("java", "librdkafka"),
        where={"client_id": "m-1"},
        evidence={"cause": "poll_timeout"},
        kind={"settings": POLL},
    ),
    Cause(
        "more members than partitions",
        "IDLE_MEMBERS",
        "info",
        _reserve,
        ("java", "librdkafka", "sarama", "kafkajs"),
        kip848=("librdkafka",),
    ),
    Cause(
        "consumers slower than producers",
        "FALLING_BEHIND",
        "warning",
        _slower_than_producers,
        ("java", "librdkafka", "sarama", "aiokafka"),
        least={"retention_seconds_left": RETENTION_MS / 1_000 - 600},
        kind={"room": 5, "record_ms": 50},
    ),
    Cause(
        "all records with one key",
        "HOT_PARTITION",
        "warning",
        _one_key,
        ("java", "librdkafka"),
        where={"topic": "{topic}"},
        beside=frozenset({"FALLING_BEHIND"}),
        kind={"room": 5, "record_ms": 50},
    ),
    Cause(
        "two applications under one name",
        "MIXED_APPLICATIONS",
        "warning",
        _two_applications,
        ("librdkafka", "aiokafka"),
    ),
    Cause(
        "retention passed the commits",
        "DATA_LOST",
        "error",
        _retention,
        ("kafka-python", "franz-go"),
        where={"topic": "{topic}"},
    ),
    Cause(
        "the topic was deleted",
        "TOPIC_MISSING",
        "error",
        _topic_deleted,
        ("java", "kafka-python"),
        where={"topic": "{topic}"},
    ),
    Cause(
        "members read another topic now",
        "STALE_COMMITS",
        "info",
        _another_topic,
        ("java", "librdkafka", "kafka-python"),
        where={"topic": "{topic}"},
    ),
)


@dataclass(frozen=True, eq=False)
class Fault:
    """A cause with a library."""

    cause: Cause
    library: Library

    @property
    def group(self) -> str:
        """Its group's name."""
        return f"fault-{self.cause.name.replace(' ', '-')}-{self.library}"

    def play(self, place: Place) -> PlayedGroup:
        """Its group, before anything has happened to it."""
        cause = self.cause
        protocol: Protocol = "consumer" if self.library in cause.kip848 else "eager"
        given = {"protocol": protocol, "session": False, **cause.kind}
        kind = Kind(cause.name, {"rolling_restart": {}}, **given)
        return PlayedGroup(place, Row(kind, self.library), self.group)

    def misses(self, group: PlayedGroup, findings: list[dict[str, Any]]) -> str:
        """What of the findings is not what is to be found; empty: nothing."""
        cause = self.cause
        ours = [each for each in findings if each["code"] == cause.code]
        names = {"topic": group.topic, "other": other_of(group.topic)}
        where = {key: value.format(**names) for key, value in cause.where.items()}
        if not ours:
            return f"no {cause.code}"
        for each in ours:
            if each["level"] != cause.level or not where.items() <= each["where"].items():
                return f"{each['level']} {each['where']}, not {cause.level} {where}"
            if not cause.evidence.items() <= each["evidence"].items():
                return f"evidence {each['evidence']}"
            if any(
                (each["evidence"].get(name) or 0) < least for name, least in cause.least.items()
            ):
                return f"evidence {each['evidence']}, not at least {dict(cause.least)}"
        above = {each["code"] for each in findings if each["level"] != "info"}
        also = above - {cause.code} - cause.beside
        return f"also {sorted(also)}" if also else ""


def faults() -> Iterator[Fault]:
    """All of them."""
    for cause in CAUSES:
        yield from (Fault(cause, library) for library in cause.libraries)
