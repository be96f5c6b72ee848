"""A consumer's parameters by the names of its properties; defaults by client library.

Source: ConsumerConfig of Kafka 4.3, librdkafka's CONFIGURATION table, and the consumer settings
of Kafka 0.8.2 for the members of the ZooKeeper era.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, cast

from kgroups.core.input_files.document import Cursor
from kgroups.core.simulation.scenario.units import read_ms, read_positive_ms

# `eager` and `cooperative` are the classic protocol; `consumer` is KIP-848; `zookeeper` is how
# consumers shared partitions before there was a coordinator (Kafka 0.8).
Protocol = Literal["eager", "cooperative", "consumer", "zookeeper"]
PROTOCOLS: Final[tuple[Protocol, ...]] = ("eager", "cooperative", "consumer", "zookeeper")

Library = Literal["java", "librdkafka"]
OffsetReset = Literal["earliest", "latest", "none"]

MetadataRecovery = Literal["rebootstrap", "none"]

_RESETS: Final[Mapping[str, OffsetReset]] = {
    "earliest": "earliest",
    "latest": "latest",
    "none": "none",
    "smallest": "earliest",
    "beginning": "earliest",
    "largest": "latest",
    "end": "latest",
}


@dataclass(frozen=True, slots=True)
class MemberSettings:
    """What a member is configured with; times in ms, names as in `SETTINGS`.

    Args:
        rebalance_timeout_ms: None: that of max.poll.interval.ms, as Java and librdkafka do.
        assignors: empty: what the group's protocol stands for.
        rebalance_backoff_ms: None: zookeeper.sync.time.ms.
        commit_each_poll: without auto-commit: whether the application commits after every poll.
    """

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    max_poll_records: int = 500
    rebalance_timeout_ms: int | None = None
    assignors: tuple[str, ...] = ()
    auto_offset_reset: OffsetReset = "latest"
    enable_auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    commit_each_poll: bool = True
    request_timeout_ms: int = 30_000
    metadata_max_age_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    connection_setup_timeout_ms: int = 10_000
    connection_setup_timeout_max_ms: int = 30_000
    metadata_recovery: MetadataRecovery = "rebootstrap"
    remote_assignor: str | None = None
    rebalance_max_retries: int = 4
    rebalance_backoff_ms: int | None = None
    zookeeper_session_timeout_ms: int = 6_000
    zookeeper_sync_time_ms: int = 2_000

    def on_other_defaults(
        self, before: "MemberSettings", after: "MemberSettings"
    ) -> "MemberSettings":
        """Defaults are those of another library; what was set otherwise stays."""
        changed: dict[str, Any] = {
            one.name: getattr(after, one.name)
            for one in fields(before)
            if getattr(self, one.name) == getattr(before, one.name)
        }
        return replace(self, **changed)


# librdkafka hands records out one by one, so a rebalance need not wait for a batch of them.
LIBRARY_DEFAULTS: Final[Mapping[Library, MemberSettings]] = {
    "java": MemberSettings(),
    "librdkafka": MemberSettings(
        max_poll_records=1,
        request_timeout_ms=60_000,
        reconnect_backoff_ms=100,
        reconnect_backoff_max_ms=10_000,
        connection_setup_timeout_ms=30_000,
    ),
}


def _positive(cursor: Cursor) -> int:
    return cursor.integer(1)


def _count(cursor: Cursor) -> int:
    return cursor.integer(0)


def _names(cursor: Cursor) -> tuple[str, ...]:
    """Assignors: their names, or their classes as Java's property has them."""
    if isinstance(cursor.value, list):
        found = [each.text() for each in cursor.items()]
    else:
        found = [name.strip() for name in cursor.text().split(",") if name.strip()]
    if not found:
        cursor.fail("expected an assignor")
    return tuple(ASSIGNOR_CLASSES.get(name, name) for name in found)


def _reset(cursor: Cursor) -> OffsetReset:
    return _RESETS[cursor.text(tuple(_RESETS))]


def _recovery(cursor: Cursor) -> MetadataRecovery:
    return cast(MetadataRecovery, cursor.text(("rebootstrap", "none")))


_PACKAGE: Final = "org.apache.kafka.clients.consumer"
ASSIGNOR_CLASSES: Final[Mapping[str, str]] = {
    f"{_PACKAGE}.RangeAssignor": "range",
    f"{_PACKAGE}.RoundRobinAssignor": "roundrobin",
    f"{_PACKAGE}.StickyAssignor": "sticky",
    f"{_PACKAGE}.CooperativeStickyAssignor": "cooperative-sticky",
}

# Property -> protocols with which no client starts that is given it (ConsumerConfig,
# librdkafka's rd_kafka_conf_finalize).
OTHER_PROTOCOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "session.timeout.ms": ("consumer",),
    "heartbeat.interval.ms": ("consumer",),
    "partition.assignment.strategy": ("consumer",),
    "group.remote.assignor": ("eager", "cooperative"),
}
# What is to be set there in its place.
INSTEAD: Final[Mapping[str, str]] = {
    "session.timeout.ms": "the broker decides: `consumer.session.timeout.ms` in `config`",
    "heartbeat.interval.ms": "the broker decides: `consumer.heartbeat.interval.ms` in `config`",
    "partition.assignment.strategy": "the broker assigns: `group.remote.assignor`",
    "group.remote.assignor": "the members assign: `partition.assignment.strategy`",
}

# Property -> (field, how its value is read).
SETTINGS: Final[Mapping[str, tuple[str, Callable[[Cursor], object]]]] = {
    "session.timeout.ms": ("session_timeout_ms", read_ms),
    "heartbeat.interval.ms": ("heartbeat_interval_ms", read_ms),
    "max.poll.interval.ms": ("max_poll_interval_ms", read_positive_ms),
    "max.poll.records": ("max_poll_records", _positive),
    "rebalance.timeout.ms": ("rebalance_timeout_ms", read_ms),
    "partition.assignment.strategy": ("assignors", _names),
    "auto.offset.reset": ("auto_offset_reset", _reset),
    "enable.auto.commit": ("enable_auto_commit", Cursor.flag),
    "auto.commit.interval.ms": ("auto_commit_interval_ms", read_ms),
    "commit.each.poll": ("commit_each_poll", Cursor.flag),
    "request.timeout.ms": ("request_timeout_ms", read_ms),
    "metadata.max.age.ms": ("metadata_max_age_ms", read_ms),
    "retry.backoff.ms": ("retry_backoff_ms", read_ms),
    "retry.backoff.max.ms": ("retry_backoff_max_ms", read_ms),
    "reconnect.backoff.ms": ("reconnect_backoff_ms", read_ms),
    "reconnect.backoff.max.ms": ("reconnect_backoff_max_ms", read_ms),
    "socket.connection.setup.timeout.ms": ("connection_setup_timeout_ms", read_positive_ms),
    "socket.connection.setup.timeout.max.ms": ("connection_setup_timeout_max_ms", read_positive_ms),
    "metadata.recovery.strategy": ("metadata_recovery", _recovery),
    "group.remote.assignor": ("remote_assignor", Cursor.text),
    "rebalance.max.retries": ("rebalance_max_retries", _count),
    "rebalance.backoff.ms": ("rebalance_backoff_ms", read_ms),
    "zookeeper.session.timeout.ms": ("zookeeper_session_timeout_ms", read_ms),
    "zookeeper.sync.time.ms": ("zookeeper_sync_time_ms", read_ms),
}

assert {field for field, _ in SETTINGS.values()} == {f.name for f in fields(MemberSettings)}


def read_settings(cursor: Cursor, base: MemberSettings) -> MemberSettings:
    """The settings of a mapping of properties, on top of `base`.

    Raises:
        UsageError: a property is not known or its value is wrong; names file and line.
    """
    return replace(base, **read_values(cursor))


def read_values(cursor: Cursor) -> dict[str, Any]:
    """Field of `MemberSettings` -> value, of a mapping of properties.

    Raises:
        UsageError: a property is not known or its value is wrong; names file and line.
    """
    given = cursor.fields((), tuple(SETTINGS))
    found: dict[str, Any] = {}
    for name in given.values:
        field, read = SETTINGS[name]
        found[field] = read(given[name])
    return found
