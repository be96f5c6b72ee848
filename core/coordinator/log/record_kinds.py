"""Kinds of records in `__consumer_offsets`: their numbers, classes and tables."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from kgroups.core.coordinator.log import records as r
from kgroups.core.protocol.forms import Aliases, Form
from kgroups.core.protocol.table import Table, parse_table
from kgroups.core.protocol.tables.group_records import RECORDS

OFFSET_VERSION: Final = 4
OFFSET_VERSION_WITH_EXPIRY: Final = 1
GROUP_VERSION: Final = 3

ALIASES: Final[Aliases] = (
    ("group", "group_id"),
    ("classic_member_metadata", "classic"),
    ("assignment_timestamp", "assignment_timestamp_ms"),
    ("commit_timestamp", "commit_timestamp_ms"),
    ("current_state_timestamp", "current_state_timestamp_ms"),
    ("expire_timestamp", "expire_timestamp_ms"),
    ("rebalance_timeout", "rebalance_timeout_ms"),
    ("session_timeout", "session_timeout_ms"),
    ("timestamp", "timestamp_ms"),
)
"""Kafka leaves the unit out of most times in records."""


class Layout(NamedTuple):
    """A key or a value: its table, and the class that it is read into."""

    table: Table
    form: Form


class Kind(NamedTuple):
    """How one kind of record is written and read.

    Args:
        version: what a value is written as.
        read: what a value is, of what was read.
    """

    number: int
    key: Layout
    value: Layout
    version: Callable[[Any], int]
    read: Callable[[Any], Any]


def _offset_version(value: r.OffsetCommitValue) -> int:
    own_expiry = value.expire_timestamp_ms != r.NO_TIMESTAMP
    return OFFSET_VERSION_WITH_EXPIRY if own_expiry else OFFSET_VERSION


def _with_rebalance_timeouts(value: r.GroupMetadataValue) -> r.GroupMetadataValue:
    """The group; a member of version 0 has its session timeout for both."""
    members = tuple(
        member._replace(rebalance_timeout_ms=member.session_timeout_ms)
        if member.rebalance_timeout_ms == -1
        else member
        for member in value.members
    )
    return replace(value, members=members)


def _kind(
    number: int,
    key: type,
    value: type,
    version: Callable[[Any], int] = lambda _: 0,
    read: Callable[[Any], Any] = lambda value: value,
) -> Kind:
    return Kind(number, _layout(key), _layout(value), version, read)


def _layout(kind: type) -> Layout:
    return Layout(parse_table(RECORDS[kind.__name__]), Form(kind, ALIASES))


KINDS: Final = (
    _kind(1, r.OffsetCommitKey, r.OffsetCommitValue, _offset_version),
    _kind(
        2,
        r.GroupMetadataKey,
        r.GroupMetadataValue,
        lambda _: GROUP_VERSION,
        _with_rebalance_timeouts,
    ),
    _kind(3, r.ConsumerGroupMetadataKey, r.ConsumerGroupMetadataValue),
    _kind(4, r.ConsumerGroupPartitionMetadataKey, r.ConsumerGroupPartitionMetadataValue),
    _kind(5, r.ConsumerGroupMemberMetadataKey, r.ConsumerGroupMemberMetadataValue),
    _kind(
        6,
        r.ConsumerGroupTargetAssignmentMetadataKey,
        r.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    _kind(7, r.ConsumerGroupTargetAssignmentMemberKey, r.ConsumerGroupTargetAssignmentMemberValue),
    _kind(
        8, r.ConsumerGroupCurrentMemberAssignmentKey, r.ConsumerGroupCurrentMemberAssignmentValue
    ),
    _kind(16, r.ConsumerGroupRegularExpressionKey, r.ConsumerGroupRegularExpressionValue),
)
BY_KEY: Final[Mapping[type, Kind]] = {kind.key.form.kind: kind for kind in KINDS}
# Kind 0 is kind 1 in logs of before Kafka 0.9.
BY_NUMBER: Final[Mapping[int, Kind]] = {0: KINDS[0], **{kind.number: kind for kind in KINDS}}
