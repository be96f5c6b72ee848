"""When groups committed what they hold, and how long brokers keep it.

The times are in `__consumer_offsets` alone, in the newest record of each commit; the retention is
what the coordinator's broker is set to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kgroups.core.coordinator.log.record_codec import decode_record, encode_key
from kgroups.core.coordinator.log.records import (
    NO_TIMESTAMP,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.broker_settings import broker_settings
from kgroups.core.kafka.lookups.newest_records import FAR, newest_records
from kgroups.core.offsets.expiry import CommitTimes, GroupLog
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.snapshot import Group, TopicPartition

RETENTION = "offsets.retention.minutes"


@dataclass(frozen=True, slots=True)
class CommitLogs:
    """Commit times that were found.

    Args:
        failures: Kafka's error name by partition of `__consumer_offsets` that could not be read.
        unread: partitions of which more would have to be read.
        hidden: Kafka's error name by broker that does not tell its retention.
    """

    groups: Mapping[str, GroupLog] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)
    unread: Mapping[int, int] = field(default_factory=dict)
    hidden: Mapping[int, str] = field(default_factory=dict)


def commit_logs(
    admin: ClusterAdmin, groups: Iterable[Group], *, retention: bool = True
) -> CommitLogs:
    """When these groups committed; takes READ on `__consumer_offsets`.

    Args:
        groups: with coordinator, partition and commits; others are left out.
        retention: ask brokers how long they keep commits; takes DESCRIBE_CONFIGS on the cluster.
    """
    placed = [g for g in groups if g.coordinator is not None and g.offsets_partition is not None]
    wanted: dict[tuple[int, int], list[bytes]] = {}
    for group in placed:
        at = (group.coordinator or 0, group.offsets_partition or 0)
        keys = wanted.setdefault(at, [])
        keys += map(encode_key, _keys(group))
    newest = newest_records(admin, wanted, FAR)
    brokers = {broker for broker, _ in wanted}
    settings = broker_settings(admin, brokers, [RETENTION]) if retention and brokers else {}
    kept_ms = {
        broker: int(answer.values[RETENTION]) * 60_000
        for broker, answer in settings.items()
        if answer.values.get(RETENTION, "").isdecimal()
    }
    unsearched = newest.failures.keys() | newest.unread.keys()
    return CommitLogs(
        {
            group.group: _log_of(
                group,
                newest.found,
                kept_ms.get(group.coordinator or 0),
                whole=group.offsets_partition not in unsearched,
            )
            for group in placed
        },
        newest.failures,
        newest.unread,
        {broker: a.failure for broker, a in settings.items() if a.failure is not None},
    )


def _keys(group: Group) -> Iterable[OffsetCommitKey | GroupMetadataKey]:
    if group.type == "classic":
        yield GroupMetadataKey(group.group)
    for at, _ in group.commits():
        yield OffsetCommitKey(group.group, *at)


def _log_of(
    group: Group, values: Mapping[bytes, bytes | None], retention_ms: int | None, *, whole: bool
) -> GroupLog:
    commits: dict[TopicPartition, CommitTimes] = {}
    since_ms: int | None = None
    has_record = whole
    for key in _keys(group):
        raw = encode_key(key)
        if raw not in values:
            continue
        try:
            record = decode_record(raw, values[raw])
        except DecodeError:
            continue
        value = None if record is None else record.value
        if isinstance(key, GroupMetadataKey):
            has_record = True
            if isinstance(value, GroupMetadataValue):
                has_time = value.current_state_timestamp_ms != NO_TIMESTAMP
                since_ms = value.current_state_timestamp_ms if has_time else None
        elif isinstance(value, OffsetCommitValue):
            own = value.expire_timestamp_ms
            commits[key.topic, key.partition] = CommitTimes(
                value.offset, value.commit_timestamp_ms, None if own == NO_TIMESTAMP else own
            )
    return GroupLog(commits, since_ms, has_record, retention_ms)
