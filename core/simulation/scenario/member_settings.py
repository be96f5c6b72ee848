"""A consumer's parameters by the names of its properties; defaults by client library.

Source: ConsumerConfig of Kafka 4.3, librdkafka's CONFIGURATION table, the other libraries' code
(`clients/libraries.py` has their releases), and the consumer settings of Kafka 0.8.2 for the
members of the ZooKeeper era.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, NamedTuple

from kgroups.core.input_files.document import Cursor, choice_of, integer_of
from kgroups.core.simulation.clients.libraries import Library as Library
from kgroups.core.simulation.clients.properties import (
    EXPECTED,
    IDENTITY,
    JAVA_NAMES,
    NOT_OF_GROUPS,
    TABLES,
    out_of_range,
    plain_value,
    unknown_property,
)
from kgroups.core.simulation.scenario.units import read_ms, read_positive_ms

# `eager` and `cooperative` are the classic protocol; `consumer` is KIP-848; `zookeeper` is how
# consumers shared partitions before there was a coordinator (Kafka 0.8).
Protocol = Literal["eager", "cooperative", "consumer", "zookeeper"]
PROTOCOLS: Final[tuple[Protocol, ...]] = ("eager", "cooperative", "consumer", "zookeeper")
PROTOCOL_WORDS: Final = ("classic", *PROTOCOLS)

OffsetReset = Literal["earliest", "latest", "none", "by_duration"]
MetadataRecovery = Literal["rebootstrap", "none"]
IsolationLevel = Literal["read_uncommitted", "read_committed"]

_RESETS: Final[Mapping[str, OffsetReset]] = {
    "earliest": "earliest",
    "latest": "latest",
    "none": "none",
    "smallest": "earliest",
    "beginning": "earliest",
    "largest": "latest",
    "end": "latest",
    "error": "none",
}
_BY_DURATION: Final = re.compile(
    r"by_duration:P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?"
)


@dataclass(frozen=True, slots=True)
class MemberSettings:
    """The configuration of a member; times in ms, names as in `SETTINGS`.

    Args:
        rebalance_timeout_ms: None: that of max.poll.interval.ms, as Java and librdkafka do.
        assignors: empty: what the group's protocol stands for.
        rebalance_backoff_ms: None: zookeeper.sync.time.ms.
        commit_each_poll: without auto-commit: whether the application commits after every poll.
        reset_age_ms: of `auto_offset_reset` by_duration: how old the first record may be.
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
    default_api_timeout_ms: int = 60_000
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
    reset_age_ms: int = 0
    fetch_min_bytes: int = 1
    fetch_max_bytes: int = 52_428_800
    max_partition_fetch_bytes: int = 1_048_576
    fetch_max_wait_ms: int = 500
    connections_max_idle_ms: int = 540_000
    isolation_level: IsolationLevel = "read_uncommitted"
    exclude_internal_topics: bool = True
    allow_auto_create_topics: bool = True
    leave_group_on_close: bool = True

    def on_other_defaults(
        self, before: "MemberSettings", after: "MemberSettings"
    ) -> "MemberSettings":
        """Defaults are those of another library; what was set otherwise stays."""
        changed: dict[str, Any] = {
            field.name: getattr(after, field.name)
            for field in fields(before)
            if getattr(self, field.name) == getattr(before, field.name)
        }
        return replace(self, **changed)


# Of libraries that ask nobody to poll.
NO_POLL_LIMIT_MS: Final = 10**12

# All but the Java client and kafka-python hand records out one by one, so a rebalance need not
# wait for a batch of them. kafkajs commits what it has processed of each fetch.
LIBRARY_DEFAULTS: Final[Mapping[Library, MemberSettings]] = {
    "java": MemberSettings(),
    "librdkafka": MemberSettings(
        max_poll_records=1,
        request_timeout_ms=60_000,
        reconnect_backoff_ms=100,
        reconnect_backoff_max_ms=10_000,
        connection_setup_timeout_ms=30_000,
        connections_max_idle_ms=0,
        isolation_level="read_committed",
        exclude_internal_topics=False,
        allow_auto_create_topics=False,
    ),
    "sarama": MemberSettings(
        max_poll_records=1,
        session_timeout_ms=10_000,
        max_poll_interval_ms=NO_POLL_LIMIT_MS,
        rebalance_timeout_ms=60_000,
        auto_commit_interval_ms=1_000,
        metadata_max_age_ms=600_000,
        retry_backoff_ms=250,
        retry_backoff_max_ms=250,
        connection_setup_timeout_ms=30_000,
        connections_max_idle_ms=0,
    ),
    "franz-go": MemberSettings(
        max_poll_records=1,
        max_poll_interval_ms=NO_POLL_LIMIT_MS,
        rebalance_timeout_ms=60_000,
        request_timeout_ms=10_000,
        retry_backoff_ms=250,
        retry_backoff_max_ms=5_000,
        connections_max_idle_ms=30_000,
        fetch_max_wait_ms=5_000,
        auto_offset_reset="earliest",
        allow_auto_create_topics=False,
    ),
    "kafka-python": MemberSettings(reconnect_backoff_max_ms=30_000),
    "aiokafka": MemberSettings(
        max_poll_records=1,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        request_timeout_ms=40_000,
        retry_backoff_max_ms=100,
    ),
    "kafkajs": MemberSettings(
        max_poll_records=1,
        session_timeout_ms=30_000,
        max_poll_interval_ms=NO_POLL_LIMIT_MS,
        rebalance_timeout_ms=60_000,
        enable_auto_commit=False,
        retry_backoff_ms=300,
        retry_backoff_max_ms=30_000,
        connection_setup_timeout_ms=1_000,
        connections_max_idle_ms=0,
        fetch_max_bytes=10_485_760,
        fetch_max_wait_ms=5_000,
        isolation_level="read_committed",
    ),
}


_COUNT: Final = integer_of(0)


def _names(cursor: Cursor) -> tuple[str, ...]:
    """Assignors: their names, or their classes as Java's property has them."""
    if isinstance(cursor.value, list):
        names = [item.text() for item in cursor.items()]
    else:
        names = [name.strip() for name in cursor.text().split(",") if name.strip()]
    if not names:
        cursor.fail("expected an assignor")
    return tuple(ASSIGNOR_CLASSES.get(name, name) for name in names)


def _reset(cursor: Cursor) -> Mapping[str, object]:
    """Where to begin without a commit; `by_duration:PT1H` (KIP-1106) is an age of the records."""
    match = _BY_DURATION.fullmatch(cursor.text())
    if match is None:
        return {"auto_offset_reset": _RESETS[cursor.text(tuple(_RESETS))]}
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    age_ms = round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000)
    return {"auto_offset_reset": "by_duration", "reset_age_ms": age_ms}


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

# Property -> (field, how its value is read); no field: the value is a mapping of fields.
SETTINGS: Final[Mapping[str, tuple[str, Callable[[Cursor], object]]]] = {
    "session.timeout.ms": ("session_timeout_ms", read_ms),
    "heartbeat.interval.ms": ("heartbeat_interval_ms", read_ms),
    "max.poll.interval.ms": ("max_poll_interval_ms", read_positive_ms),
    "max.poll.records": ("max_poll_records", integer_of(1)),
    "rebalance.timeout.ms": ("rebalance_timeout_ms", read_ms),
    "partition.assignment.strategy": ("assignors", _names),
    "auto.offset.reset": ("", _reset),
    "enable.auto.commit": ("enable_auto_commit", Cursor.flag),
    "auto.commit.interval.ms": ("auto_commit_interval_ms", read_ms),
    "commit.each.poll": ("commit_each_poll", Cursor.flag),
    "request.timeout.ms": ("request_timeout_ms", read_ms),
    "default.api.timeout.ms": ("default_api_timeout_ms", read_positive_ms),
    "metadata.max.age.ms": ("metadata_max_age_ms", read_ms),
    "retry.backoff.ms": ("retry_backoff_ms", read_ms),
    "retry.backoff.max.ms": ("retry_backoff_max_ms", read_ms),
    "reconnect.backoff.ms": ("reconnect_backoff_ms", read_ms),
    "reconnect.backoff.max.ms": ("reconnect_backoff_max_ms", read_ms),
    "socket.connection.setup.timeout.ms": ("connection_setup_timeout_ms", read_positive_ms),
    "socket.connection.setup.timeout.max.ms": ("connection_setup_timeout_max_ms", read_positive_ms),
    "metadata.recovery.strategy": ("metadata_recovery", choice_of(("rebootstrap", "none"))),
    "group.remote.assignor": ("remote_assignor", Cursor.text),
    "rebalance.max.retries": ("rebalance_max_retries", _COUNT),
    "rebalance.backoff.ms": ("rebalance_backoff_ms", read_ms),
    "zookeeper.session.timeout.ms": ("zookeeper_session_timeout_ms", read_ms),
    "zookeeper.sync.time.ms": ("zookeeper_sync_time_ms", read_ms),
    "fetch.min.bytes": ("fetch_min_bytes", _COUNT),
    "fetch.max.bytes": ("fetch_max_bytes", _COUNT),
    "max.partition.fetch.bytes": ("max_partition_fetch_bytes", _COUNT),
    "fetch.max.wait.ms": ("fetch_max_wait_ms", read_ms),
    "connections.max.idle.ms": ("connections_max_idle_ms", read_ms),
    "isolation.level": ("isolation_level", choice_of(("read_uncommitted", "read_committed"))),
    "exclude.internal.topics": ("exclude_internal_topics", Cursor.flag),
    "allow.auto.create.topics": ("allow_auto_create_topics", Cursor.flag),
    "internal.leave.group.on.close": ("leave_group_on_close", Cursor.flag),
}

_RESET_FIELDS: Final = frozenset({"auto_offset_reset", "reset_age_ms"})
assert {name for name, _ in SETTINGS.values() if name} | _RESET_FIELDS == {
    field.name for field in fields(MemberSettings)
}


class Given(NamedTuple):
    """The settings given for a member so far.

    Args:
        identity: `client.id` and the like, by property.
        idle: names that were accepted and have no effect in a simulation.
    """

    settings: MemberSettings
    identity: Mapping[str, str] = {}
    idle: frozenset[str] = frozenset()


def read_setting(name: str, cursor: Cursor) -> dict[str, Any]:
    """The fields of `MemberSettings` that one property sets."""
    field_name, read = SETTINGS[name]
    parsed: Any = read(cursor)
    return dict(parsed) if not field_name else {field_name: parsed}


def read_settings(cursor: Cursor, base: Given, library: Library = "java") -> Given:
    """The properties of a mapping, on top of `base`.

    Raises:
        UsageError: a property is not known or its value is wrong; names file and line.
    """
    accepted = {*SETTINGS, *IDENTITY, *TABLES.get(library, {})}
    given = {name: (value, JAVA_NAMES.get(name, name)) for name, value in cursor.entries()}
    return _laid_over(cursor, given, base, library, accepted)


def read_properties(root: Cursor, base: Given, library: Library) -> Given:
    """The same of a client's own `.properties` file, in the library's own words.

    Raises:
        UsageError: as above, or the library is not configured by such a file.
    """
    table = TABLES.get(library)
    if table is None:
        root.fail(f"{library} reads no properties", hint="write `settings` in the scenario")
    given: dict[str, tuple[Cursor, str]] = {}
    for name, cursor in root.entries():
        if name not in table:
            continue
        kind = table[name][0]
        value = plain_value(kind, cursor.text())
        if value is None:
            cursor.fail(f"expected {EXPECTED[kind]}, found `{cursor.text()[:60]}`")
        ignored = name in NOT_OF_GROUPS[library]
        given[name] = root.child(name, value), "" if ignored else JAVA_NAMES.get(name, name)
    return _laid_over(root, given, base, library, set(table))


def _laid_over(
    cursor: Cursor,
    given: Mapping[str, tuple[Cursor, str]],
    base: Given,
    library: Library,
    accepted: set[str],
) -> Given:
    """The settings given by name as (value, setting), on top of `base`."""
    for name, _ in cursor.entries():
        if name not in accepted:
            what, hint = unknown_property(name, library, accepted)
            cursor.child(name, None).fail(what, hint=hint, key=True)
    settings: dict[str, Any] = {}
    identity, idle = dict(base.identity), set(base.idle)
    for name, (value, setting) in given.items():
        if setting in SETTINGS:
            settings |= read_setting(setting, value)
        elif setting in IDENTITY:
            identity[setting] = value.text()
        else:
            wrong = out_of_range(name, value.plain) if library == "java" else None
            if wrong is not None:
                value.fail(wrong)
            idle.add(name)
    return Given(replace(base.settings, **settings), identity, frozenset(idle))


def read_values(cursor: Cursor) -> dict[str, Any]:
    """Field of `MemberSettings` -> value, of a mapping of properties; any library's are accepted.

    Raises:
        UsageError: a property is not known or its value is wrong; names file and line.
    """
    accepted = {*SETTINGS, *(name for table in TABLES.values() for name in table)} - {*IDENTITY}
    settings: dict[str, Any] = {}
    for name, value in cursor.entries():
        setting = JAVA_NAMES.get(name, name)
        if setting in SETTINGS:
            settings |= read_setting(setting, value)
        elif name not in accepted:
            what, hint = unknown_property(name, "java", accepted)
            cursor.child(name, None).fail(what, hint=hint, key=True)
    return settings
